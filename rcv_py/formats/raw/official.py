"""AMD's own decoder, if the user has installed it: its C interface by ctypes, in a separate process.

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
from typing import IO, Any, NamedTuple
from weakref import finalize

import numpy as np

from rcv_py.base.errors import BrokenFile, RcvError
from rcv_py.base.progress import checkpoint
from rcv_py.base.runs import borders
from rcv_py.base.text import Message
from rcv_py.formats.isa.processes import BEAT
from rcv_py.formats.raw.addresses import UNKNOWN, AddressMap, Places
from rcv_py.formats.raw.files import CodeFile, StreamFile
from rcv_py.formats.raw.options import OfficialMissing
from rcv_py.formats.sqtt.records import DecodedStream, DispatchRecord, OccupancyRecords, WaveRecords
from rcv_py.model.kinds import TokenKind

LIBRARY = {"darwin": "librocprof-trace-decoder.dylib", "win32": "rocprof-trace-decoder.dll"}.get(
    sys.platform, "librocprof-trace-decoder.so"
)
VARIABLES = ("ROCPROF_TRACE_DECODER_LIB", "ROCPROF_ATT_LIBRARY_PATH")  # a file, or a folder that holds it
WHEELS = ("_rocm_sdk_core", "_rocm_sdk_devel", "_rocm_profiler")  # packages with a folder `lib`
PREFIX = "rocprof_trace_decoder_"
SECONDS = 1800.0  # for one shader engine; plain decoding takes some
DONE, ERROR, NO_ROOM, NO_ARGUMENT = 0, 1, 2, 3  # return values of functions and callbacks
GFXIP, OCCUPANCY, COUNTERS, WAVE, INFO, EVENT, SHADER_DATA, REALTIME, FREQUENCY, OTHER_SIMD = range(10)
DISPATCH, MARKER = 10, 11  # 12 is what other waves hide, which we compute for both decoders
LATEST = 1 << 40  # cycles: a later time comes of tokens that the library does not know
LOST, UNSTITCHED, UNFINISHED = 1, 2, 3  # values of INFO records
MAX_WAVE_ROWS = 1 << 32
MAX_RECORD = 1 << 12  # bytes

PC = np.dtype([("address", "<u8"), ("id", "<u8")])


def _layout(text: str) -> np.dtype[Any]:
    """A record of consecutive fields `name:type`."""
    named = (field.split(":") for field in text.split())
    return np.dtype([(name, PC if kind == "pc" else kind) for name, kind in named])


LAYOUT = {  # of the records, by kind; `size` as the library reports it
    OCCUPANCY: _layout("pc:pc time:<u8 _:u1 cu:u1 simd:u1 slot:u1 bits:<u4"),
    COUNTERS: _layout("time:<i8 value:4<u2 cu:u1 bank:u1 _:V6"),
    WAVE: _layout(
        "cu:u1 simd:u1 slot:u1 contexts:u1 dispatcher:u1 workgroup:u1 cluster:u1 _:u1 size:<u8 begin:<i8"
        " end:<i8 states:<u8 tokens:<u8 state_at:<u8 token_at:<u8"
    ),
    EVENT: _layout("size:<u8 time:<i8 kind:<i4 me:u1 pipe:u1 flags:<u2 payload:<u8 offset:<u8"),
    SHADER_DATA: _layout("time:<i8 value:<u8 cu:u1 simd:u1 slot:u1 flags:u1 _:V4"),
    REALTIME: _layout("shader:<i8 realtime:<u8 _:<u8"),
    OTHER_SIMD: _layout("size:<u8 time:<i8 cycles:<u2 wgp:u1 kind:u1 _:V4"),
    DISPATCH: _layout(
        "size:<u8 time:<i8 me:u1 pipe:u1 user_sgprs:<u2 flags:<i4 vgprs:<u4 sgprs:<u4 lds:<u4 dim:3<u4"
        " packet:<u8 offset:<u8 pc:pc"
    ),
}
VALUE = LAYOUT[SHADER_DATA]
MARKER_HEAD = np.dtype([("size", "<u8"), ("value", VALUE)])  # later fields may grow
STATE = np.dtype([("state", "<i4"), ("duration", "<i4")])
# A word has 8 bits of kind, 24 of stall.
TOKEN = np.dtype([("word", "<u4"), ("duration", "<i4"), ("time", "<i8"), ("pc", PC)])


def library_path(given: str = "") -> str:
    """Return the path of the library or a name for the system loader; raise OfficialMissing without one."""
    if given:
        path = Path(given)
        found = path / LIBRARY if path.is_dir() else path
        if not found.is_file():
            raise OfficialMissing(
                Message("{0} is no decoder library.", given), hint=Message("Name the file {0}.", LIBRARY)
            )
        return str(found)
    for place in _places():
        names = (LIBRARY, f"{LIBRARY}.*") if sys.platform == "linux" else (LIBRARY,)
        for name in names:
            found_here = sorted(place.glob(name)) if place.is_dir() else []
            if found_here:
                return str(found_here[-1])
        if place.is_file():
            return str(place)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise OfficialMissing(
            "AMD's trace decoder is not installed.",
            hint=Message(
                "Install it, name {0} in {1}, or leave out --decoder official.", LIBRARY, VARIABLES[0]
            ),
            detail=repr(error),
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


# -- in our process -------------------------------------------------------------------------------------


class PcTable(Places):
    """Places in the code that a stream of this library names by a number, 0: none."""

    def find(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return code object and address of each number."""
        rows = numbers.astype(np.int64)
        return self.codeobj[rows], self.address[rows]


class OfficialJob(NamedTuple):
    """Input of the library's process."""

    folder: Path
    stream: StreamFile
    codes: tuple[CodeFile, ...]
    sidecars: frozenset[str]
    library: str
    loads: AddressMap


class Official(NamedTuple):
    """The library's output for one shader engine."""

    stream: DecodedStream
    row: np.ndarray  # int64, of `pcs` for each token, -1 if none is known there
    pcs: PcTable
    notes: tuple[int, ...]  # LOST, UNSTITCHED, UNFINISHED, each as often as reported


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
        program = f"from {__name__} import serve; serve()"
        paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}; "
        self._said = TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", paths + program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        self._threads = ThreadPoolExecutor(1)
        self.close = finalize(self, _close, os.getpid(), self._process, self._said, self._threads)

    @property
    def is_there(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def answer(self, job: OfficialJob) -> object:
        """Return its answer; raise BrokenFile if it ends instead, Cancelled if the work is cancelled."""
        asked = self._threads.submit(self._ask, job)
        end = monotonic() + SECONDS
        try:
            while not wait([asked], BEAT).done and monotonic() < end:
                checkpoint()
        finally:
            if not asked.done():
                self._process.kill()
        try:
            return asked.result()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            code = self._process.wait()
            ending = Message("signal {0}", -code) if code < 0 else Message("status {0}", code)
            self._said.seek(0)
            raise BrokenFile(
                job.stream.name,
                Message("the official decoder ended while it read it ({0})", ending),
                self._said.read(4000).decode("utf-8", "replace"),
            ) from error

    def _ask(self, job: OfficialJob) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)


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
    try:
        about = Path(job.library).stat()
    except OSError:  # a name for the system loader
        about = None
    mark = about and (about.st_size, about.st_mtime_ns)
    key = os.getpid(), job.library, mark, tuple(sorted(os.environ.items()))
    found = _processes.get(key)
    if found is None or not found.is_there:
        for old in _processes.values():
            old.close()
        _processes.clear()
        found = _processes[key] = _LibraryProcess()
    return found


# -- in the process of the library ----------------------------------------------------------------------


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
    while True:
        try:
            job = pickle.load(sys.stdin.buffer)
        except EOFError:
            os._exit(0)  # skip the library's exit handlers
        try:
            answer: object = _decoded(job)
        except RcvError as error:
            answer = error
        pickle.dump(answer, out)
        out.flush()


def _decoded(job: OfficialJob) -> Official:
    from rcv_py.formats.input.files import read_bytes  # noqa: PLC0415 - of this process alone
    from rcv_py.formats.raw.objects import objects_of  # noqa: PLC0415 - as above

    data = read_bytes(job.folder, job.stream.name)
    objects = objects_of(job.folder, job.codes, job.sidecars)

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
        raise BrokenFile(
            "The trace", "the official decoder gave what cannot be", repr(failed[0])
        ) from failed[0]
    _check(library, status)


def _guarded(answer: Callable[..., int], failed: list[BaseException]) -> Callable[..., int]:
    """Callbacks for C: an exception cannot pass through C, so it is stored and raised after the call."""

    def call_back(*values: Any) -> int:
        try:
            return answer(*values)
        except BaseException as error:
            failed.append(error)
            return ERROR

    return call_back


def _check(library: Any, status: int) -> None:
    if status != DONE:
        text = library[f"{PREFIX}get_status_string"]
        text.restype = c_char_p
        why = (text(c_int(status)) or b"").decode("utf-8", "replace") or Message("status {0}", status)
        raise BrokenFile("The trace", Message("the official decoder refuses it ({0})", why))


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
    status = int(function("create_handle", POINTER(Handle))(ctypes.byref(handle)))
    if status != DONE:
        return status
    try:
        status = int(function("set_isa_callback", Handle, ISA, c_void_p)(handle, isa, None))
        if status != DONE:
            return status
        parse = function("parse", Handle, c_char_p, c_uint64, TRACE, c_void_p)
        return int(parse(handle, data, len(data), trace, None))
    finally:
        function("destroy_handle", Handle)(handle)


class LibraryRecords:
    """Copies the library's records, since its memory is valid only during each call."""

    def __init__(self) -> None:
        self.gfxip = 9
        self.frequency = 0
        self.notes: list[int] = []
        self.tables: dict[int, list[np.ndarray]] = {kind: [] for kind in LAYOUT}
        self.tokens: list[np.ndarray] = []
        self.states: list[np.ndarray] = []
        self.markers: list[np.ndarray] = []

    def take(self, kind: int, at: int, count: int) -> None:
        """Take `count` records of a kind at an address; skip unknown kinds."""
        if kind == GFXIP:
            self.gfxip = at
        elif kind == FREQUENCY and at:
            self.frequency = int(ctypes.c_uint64.from_address(at).value)
        elif kind == INFO and at:
            self.notes += np.frombuffer(ctypes.string_at(at, 4 * count), dtype="<i4").tolist()
        elif kind == MARKER and at and 0 < count < MAX_WAVE_ROWS:
            self._take_markers(at, count)
        elif kind in LAYOUT and at and count:
            table = _copied(at, count, LAYOUT[kind])
            if "size" in (table.dtype.names or ()):
                table = table[
                    (table["size"] == table.dtype.itemsize) | ((kind == WAVE) & (table["size"] == 0))
                ]
            self.tables[kind].append(table)
            for wave in table if kind == WAVE else ():
                self.states.append(_copied(int(wave["state_at"]), int(wave["states"]), STATE))
                self.tokens.append(_copied(int(wave["token_at"]), int(wave["tokens"]), TOKEN))

    def _take_markers(self, at: int, count: int) -> None:
        """Take the values of markers, of which each record states its size."""
        size = int(ctypes.c_uint64.from_address(at).value)
        if not MARKER_HEAD.itemsize <= size <= MAX_RECORD:
            return
        row = np.dtype({"names": ["value"], "formats": [VALUE], "offsets": [8], "itemsize": size})
        self.markers.append(_copied(at, count, row)["value"].copy())

    def _values(self) -> np.ndarray:
        """Shader data; of markers if the library sends these instead."""
        values = self._table(SHADER_DATA)
        return values if len(values) else np.concatenate([values, *self.markers])

    def _table(self, kind: int) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype=LAYOUT[kind]), *self.tables[kind]])

    def official(self, place: Callable[[int, int], tuple[int, int]]) -> Official:
        """The copied data as our records; `place` maps a PC of the library to code object and address."""
        waves, occupancy, dispatches, counters = map(self._table, (WAVE, OCCUPANCY, DISPATCH, COUNTERS))
        tokens = np.concatenate([np.zeros(0, dtype=TOKEN), *self.tokens])
        counts = np.array([len(one) for one in self.tokens], dtype=np.int64)
        kind = tokens["word"] & 0xFF
        kept = kind < TokenKind.MATRIX  # bytes after the end leak from inside the library
        first = np.append(0, np.cumsum(kept))[borders(counts)]
        tokens, kind = tokens[kept], kind[kept]
        states = np.concatenate([np.zeros(0, dtype=STATE), *self.states])
        entry = _entries(waves, occupancy, tokens["pc"], first)
        pcs = np.concatenate([np.zeros(1, dtype=PC), tokens["pc"], occupancy["pc"], dispatches["pc"], entry])
        known, number = np.unique(pcs, return_inverse=True)
        found = [place(pc, id) if pc else (UNKNOWN, 0) for pc, id in known.tolist()]
        table = PcTable(
            np.array([one for one, _ in found], dtype=np.int64),
            np.array([at for _, at in found], dtype=np.uint64),
        )
        ends = np.cumsum([1, len(tokens), len(occupancy), len(dispatches)])
        _, of_tokens, of_occupancy, of_dispatches, of_waves = np.split(number.astype(np.uint64), ends)
        duration = tokens["duration"].astype(np.int64)
        stall = (tokens["word"] >> 8).astype(np.int64)
        records = _waves(waves, of_waves, first, borders([len(one) for one in self.states]))
        stream = DecodedStream(
            gfxip=self.gfxip,
            version=0,
            se=-1,
            cu=int(waves["cu"][0]) if len(waves) else -1,
            simds=15,
            waves=WaveRecords(
                **records,
                time=tokens["time"].astype(np.int64),
                kind=kind.astype(np.uint8),
                stall=stall,
                duration=duration,
                flags=np.zeros(len(tokens), dtype=np.uint8),
                state=states["state"].astype(np.uint8),
                state_duration=states["duration"].astype(np.int64),
                break_token=np.zeros(0, dtype=np.int64),
                break_address=np.zeros(0, dtype=np.uint64),
            ),
            occupancy=_occupancy(occupancy, of_occupancy),
            realtime=_columns(self._table(REALTIME), "shader", "realtime"),
            frequency=self.frequency,
            dispatches=tuple(
                _dispatch(row, int(entry), self.gfxip)
                for row, entry in zip(dispatches, of_dispatches, strict=True)
            ),
            events=_columns(self._table(EVENT), "time", "kind", "me", "pipe", "flags"),
            counters=np.column_stack(
                [
                    _columns(counters, "time"),
                    counters["value"].astype(np.int64).reshape(-1, 4),
                    _columns(counters, "cu", "bank"),
                ]
            ),
            shader_data=_columns(self._values(), "time", "value", "cu", "simd", "slot", "flags"),
            other_simd=_columns(self._table(OTHER_SIMD), "time", "cycles", "kind"),
            has_lost_data=LOST in self.notes,
        )
        row = np.where(table.codeobj[of_tokens] == UNKNOWN, -1, of_tokens.astype(np.int64))
        return Official(stream, row, table, tuple(self.notes))


def _copied(at: int, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    if not at or not 0 < count < MAX_WAVE_ROWS:
        return np.zeros(0, dtype=dtype)
    return np.frombuffer(ctypes.string_at(at, count * dtype.itemsize), dtype=dtype).copy()


def _columns(table: np.ndarray, *names: str) -> np.ndarray:
    return np.stack([table[name].astype(np.int64) for name in names], axis=1)


def _entries(waves: np.ndarray, occupancy: np.ndarray, pcs: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Where each wave began: as the residents state, else its first instruction."""
    starts = occupancy[(occupancy["bits"] & 1) != 0]
    keys = zip(*(starts[name].tolist() for name in ("cu", "simd", "slot", "time")), strict=True)
    known = dict(zip(keys, starts["pc"].tolist(), strict=True))
    found = np.zeros(len(waves), dtype=PC)
    places = zip(*(waves[name].tolist() for name in ("cu", "simd", "slot", "begin")), strict=True)
    for row, key in enumerate(places):
        if key in known:
            found[row] = known[key]
        elif first[row] < first[row + 1]:
            found[row] = pcs[first[row]]
    return found


def _waves(
    waves: np.ndarray, entry: np.ndarray, token_first: np.ndarray, state_first: np.ndarray
) -> dict[str, Any]:
    def column(name: str) -> np.ndarray:
        return waves[name].astype(np.int16)

    is_known = waves["size"] > 0  # the first interface has no such bytes
    return {
        **{name: column(name) for name in ("simd", "slot", "cu", "contexts")},
        "begin": waves["begin"].astype(np.int64),
        "end": waves["end"].astype(np.int64),
        "is_complete": np.ones(len(waves), dtype=bool),
        "entry": entry,
        "workgroup": np.where(is_known, column("workgroup"), -1).astype(np.int16),
        "cluster": np.where(is_known, column("cluster"), -1).astype(np.int16),
        "me": np.where(is_known, column("dispatcher") >> 4 & 7, -1).astype(np.int16),
        "pipe": np.where(is_known, column("dispatcher") & 15, -1).astype(np.int16),
        "token_first": token_first,
        "state_first": state_first,
        "break_first": np.zeros(len(waves) + 1, dtype=np.int64),
    }


def _occupancy(table: np.ndarray, entry: np.ndarray) -> OccupancyRecords:
    bits = table["bits"].astype(np.int64)
    is_ext = bits >> 8 & 1 > 0
    return OccupancyRecords(
        time=table["time"].astype(np.int64),
        is_start=bits & 1 > 0,
        cu=table["cu"].astype(np.int16),
        simd=table["simd"].astype(np.int16),
        slot=table["slot"].astype(np.int16),
        me=np.where(is_ext, bits >> 1 & 7, -1).astype(np.int16),
        pipe=np.where(is_ext, bits >> 4 & 15, -1).astype(np.int16),
        entry=entry,
        workgroup=np.where(is_ext, bits >> 9 & 127, -1).astype(np.int16),
        cluster=np.where(is_ext, bits >> 16 & 31, -1).astype(np.int16),
    )


def _dispatch(row: np.void, entry: int, gfxip: int) -> DispatchRecord:
    x, y, z = map(int, row["dim"])
    # It takes every gfx9 for gfx950, which allocates 1,280 bytes where the others allocate 512.
    lds = int(row["lds"]) * 4 // 10 if gfxip == 9 else int(row["lds"])
    return DispatchRecord(
        time=int(row["time"]),
        me=int(row["me"]),
        pipe=int(row["pipe"]),
        entry=entry,
        vgprs=int(row["vgprs"]),
        sgprs=int(row["sgprs"]),
        user_sgprs=int(row["user_sgprs"]),
        lds_size=lds,
        workgroup_size=(x, y, z),
        packet=int(row["packet"]),
        flags=int(row["flags"]),
    )
