"""AMD's own decoder, if the user has installed it: where it is, the process that it works in, and its calls.

This program ships no part of it.  Its output becomes the same records that our decoder makes, so that both
can be compared.  The process decodes one shader engine after the other, because it takes longer to start and
to read code objects than to decode; a crash ends only that process, and one shader engine is missing.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from ctypes import POINTER, c_char_p, c_int, c_uint64, c_void_p
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any
from weakref import finalize

import numpy as np

from rcv_py.base.errors import BrokenFile, RcvError
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.text import Message
from rcv_py.formats.input.files import mark_of, read_bytes
from rcv_py.formats.isa.processes import BEAT
from rcv_py.formats.raw.files import RawCapture, StreamFile
from rcv_py.formats.raw.objects import AddressMap, objects_of
from rcv_py.formats.raw.official_records import LibraryRecords, Official
from rcv_py.formats.raw.options import OfficialMissing

LIBRARY = {"darwin": "librocprof-trace-decoder.dylib", "win32": "rocprof-trace-decoder.dll"}.get(
    sys.platform, "librocprof-trace-decoder.so"
)
VARIABLES = ("ROCPROF_TRACE_DECODER_LIB", "ROCPROF_ATT_LIBRARY_PATH")  # a file, or a folder that holds it
WHEELS = ("_rocm_sdk_core", "_rocm_sdk_devel", "_rocm_profiler")  # packages with a folder `lib`
SECONDS = 1800.0  # for one shader engine; plain decoding takes some
LATEST = 1 << 40  # cycles: a later time comes of tokens that the library does not know
PREFIX = "rocprof_trace_decoder_"
DONE, ERROR, NO_ROOM, NO_ARGUMENT = 0, 1, 2, 3  # return values of functions and callbacks
HIDDEN_LATENCY = 1  # of the analyses that the library makes if it is asked to


def library_path(given: str = "") -> str:
    """Return the path of the library or a name for the system loader; raise OfficialMissing without one."""
    if given:
        path = Path(given)
        found = path / LIBRARY if path.is_dir() else path
        if not found.is_file():
            hint = Message("Name the file {0}.", LIBRARY)
            raise OfficialMissing(Message("{0} is not a decoder library.", given), hint=hint)
        return str(found)
    for place in _places():
        for name in (LIBRARY, f"{LIBRARY}.*") if sys.platform == "linux" else (LIBRARY,):
            if found_here := sorted(place.glob(name)):
                return str(found_here[-1])
        if place.is_file():
            return str(place)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise OfficialMissing(
            "AMD's trace decoder is not installed.",
            Message("Install it, name {0} in {1}, or leave out --decoder official.", LIBRARY, VARIABLES[0]),
            repr(error),
        ) from error
    return LIBRARY


def _places() -> Iterator[Path]:
    """Files and folders where it may be, in the search order of AMD's tools."""
    yield from (Path(os.environ[name]) for name in VARIABLES if os.environ.get(name))
    yield from map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)))
    yield from (Path(os.environ[name]) / "lib" for name in ("ROCM_HOME", "ROCM_PATH") if os.environ.get(name))
    for wheel in WHEELS:
        if spec := find_spec(wheel):
            yield from (Path(place) / "lib" for place in spec.submodule_search_locations or ())
    yield Path("/opt/rocm/lib")


def official(job: OfficialJob) -> Official:
    """Have the library decode a shader engine in another process; raise TraceError if it does not."""
    if getattr(sys, "frozen", False) or not sys.executable:
        raise OfficialMissing("The official decoder needs a Python to run in.", hint="Install rcv with pip.")
    answer = _process_of(job).answer(job)
    if isinstance(answer, RcvError):
        raise answer
    assert isinstance(answer, Official)
    return answer


class _LibraryProcess:
    """A process that decodes shader engines with the library, until this process ends."""

    def __init__(self) -> None:
        paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}"
        command = [sys.executable, "-c", f"{paths}; from {__name__} import serve; serve()"]
        self._said = TemporaryFile()  # noqa: SIM115 - as long as the process
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._said)
        self._threads = ThreadPoolExecutor(1)
        self.close = finalize(self, _close, os.getpid(), self.process, self._said, self._threads)

    def answer(self, job: OfficialJob) -> object:
        """Return its answer; raise BrokenFile if it ends instead, Cancelled if the work is cancelled."""
        asked = self._threads.submit(self._ask, job)
        end = monotonic() + SECONDS
        try:
            while not wait([asked], BEAT).done and monotonic() < end:
                checkpoint()
        finally:
            if not asked.done():
                self.process.kill()
        try:
            return asked.result()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            code = self.process.wait()
            ending = Message("signal {0}", -code) if code < 0 else Message("status {0}", code)
            self._said.seek(0)
            raise BrokenFile(
                job.stream.name,
                Message("the official decoder ended while it read it ({0})", ending),
                self._said.read(4000).decode("utf-8", "replace"),
            ) from error

    def _ask(self, job: OfficialJob) -> object:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump(job, self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)


def _close(
    owner: int, process: subprocess.Popen[bytes], said: IO[bytes], threads: ThreadPoolExecutor
) -> None:
    if owner != os.getpid():  # a copy of the process that started it
        return
    process.kill()
    threads.shutdown()
    for pipe in (process.stdin, process.stdout, said):
        assert pipe is not None
        with suppress(OSError):  # what was not sent
            pipe.close()
    process.wait()


_processes: dict[object, _LibraryProcess] = {}  # the last one


def _process_of(job: OfficialJob) -> _LibraryProcess:
    """The process for this library and environment, a new one if it ended."""
    mark = mark_of(Path(job.library))  # none of a name for the system loader
    key = os.getpid(), job.library, mark, tuple(sorted(os.environ.items()))
    found = _processes.get(key)
    if found is None or found.process.poll() is not None:
        for old in _processes.values():
            old.close()
        _processes.clear()
        found = _processes[key] = _LibraryProcess()
    return found


class OfficialJob(Value):
    """Input of the library's process."""

    capture: RawCapture
    stream: StreamFile
    library: str
    loads: AddressMap


class Handle(ctypes.Structure):
    """A decoder handle of the second interface."""

    _fields_ = (("value", c_uint64),)


class Pc(ctypes.Structure):
    """A place in the code."""

    _fields_ = (("address", c_uint64), ("id", c_uint64))


ISA = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_uint64), POINTER(c_uint64), Pc, c_void_p)
TRACE = ctypes.CFUNCTYPE(c_int, c_int, c_void_p, c_uint64, c_void_p)
DATA = ctypes.CFUNCTYPE(c_uint64, POINTER(c_void_p), POINTER(c_uint64), c_void_p)
Instruction = Callable[[int, int], tuple[bytes, int] | None]  # text and size at (code object, address)


def serve() -> None:
    """Decode the jobs on standard input and write the results to standard output, until there is no more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the library may print
    with suppress(EOFError):
        while True:
            job = pickle.load(sys.stdin.buffer)
            try:
                pickle.dump(_decoded(job), out)
            except RcvError as error:
                pickle.dump(error, out)
            out.flush()
    os._exit(0)  # skip the library's exit handlers


def _decoded(job: OfficialJob) -> Official:
    data = read_bytes(job.capture.folder, job.stream.name)
    objects = objects_of(job.capture.folder, job.capture.codes, job.capture.sidecars)

    def place(pc: int, id: int) -> tuple[int, int]:
        if id or not job.loads.is_guessed:
            return (id, pc)
        ids, addresses = job.loads.find(np.array([pc], dtype=np.uint64))
        return int(ids[0]), int(addresses[0])

    def instruction(pc: int, id: int) -> tuple[bytes, int] | None:
        codeobj, address = place(pc, id)
        program = objects.program(codeobj, address)
        row = -1 if program is None else program.row(address)
        return None if program is None or row < 0 else (program.text[row].encode(), int(program.size[row]))

    records = LibraryRecords()
    try:
        library = ctypes.CDLL(job.library)
    except OSError as error:
        raise OfficialMissing(
            Message("{0} cannot be loaded as AMD's trace decoder.", job.library),
            Message("Install it again, or name another {0} in {1}.", LIBRARY, VARIABLES[0]),
            repr(error),
        ) from error
    call(library, data, instruction, records)
    return records.official(place)


def call(library: Any, data: bytes, instruction: Instruction, records: LibraryRecords) -> None:
    """Decode by whichever interface the library has; raise BrokenFile if it refuses."""
    failed: list[BaseException] = []

    def isa(out: int, memory: Any, length: Any, pc: Pc, _: int) -> int:
        found = instruction(pc.address, pc.id)
        if found is None:
            return NO_ARGUMENT
        text, size = found
        room, length[0] = length[0], len(text)
        if len(text) > room:
            return NO_ROOM
        ctypes.memmove(out, text, len(text))
        memory[0] = 0 if is_first and text.startswith(b"s_endpgm") else size
        return DONE

    def trace(kind: int, at: int | None, count: int, _: int) -> int:
        records.take(kind, at or 0, count)
        return DONE

    is_first = not hasattr(library, f"{PREFIX}create_handle")
    callbacks = ISA(_guarded(isa, failed)), TRACE(_guarded(trace, failed))
    status = _first(library, data, *callbacks) if is_first else _second(library, data, *callbacks)
    if failed:
        why = "the official decoder gave what cannot be"
        raise BrokenFile("The trace", why, repr(failed[0])) from failed[0]
    if status != DONE:
        text = library[f"{PREFIX}get_status_string"]
        text.restype = c_char_p
        why = (text(c_int(status)) or b"").decode("utf-8", "replace") or Message("status {0}", status)
        raise BrokenFile("The trace", Message("the official decoder refuses it ({0})", why))


def _guarded(answer: Callable[..., int], failed: list[BaseException]) -> Callable[..., int]:
    """Callbacks for C: an exception cannot pass through C, so it is stored and raised after the call."""

    def call_back(*values: Any) -> int:
        try:
            return answer(*values)
        except BaseException as error:
            failed.append(error)
            return ERROR

    return call_back


def _first(library: Any, data: bytes, isa: Any, trace: Any) -> int:
    buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
    left = [len(data)]

    def give(at: Any, size: Any, _: int) -> int:
        at[0], size[0] = ctypes.addressof(buffer), left[0]
        given, left[0] = left[0], 0
        return given

    parse = library[f"{PREFIX}parse_data"]
    parse.argtypes, parse.restype = (DATA, TRACE, ISA, c_void_p), c_int
    return int(parse(DATA(give), trace, isa, None))


def _second(library: Any, data: bytes, isa: Any, trace: Any) -> int:
    def function(name: str, *types: Any) -> Any:
        found = library[PREFIX + name]
        found.argtypes, found.restype = types, c_int
        return found

    handle = Handle()
    if status := int(function("create_handle", POINTER(Handle))(ctypes.byref(handle))):
        return status
    try:
        if status := int(function("set_isa_callback", Handle, ISA, c_void_p)(handle, isa, None)):
            return status
        if hasattr(library, f"{PREFIX}set_analysis"):  # one that does not know it leaves these records out
            function("set_analysis", Handle, c_uint64)(handle, HIDDEN_LATENCY)
        parse = function("parse", Handle, c_char_p, c_uint64, TRACE, c_void_p)
        return int(parse(handle, data, len(data), trace, None))
    finally:
        function("destroy_handle", Handle)(handle)
