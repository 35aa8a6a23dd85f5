"""Calls of AMD's decoder by its C interface, in a process of its own: the jobs come on standard input."""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_uint64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.errors import BrokenFile, RcvError
from rcv_py.base.text import Message
from rcv_py.formats.raw.addresses import AddressMap
from rcv_py.formats.raw.files import CodeFile, StreamFile
from rcv_py.formats.raw.official_records import LibraryRecords, Official
from rcv_py.formats.raw.options import OfficialMissing

LIBRARY = {"darwin": "librocprof-trace-decoder.dylib", "win32": "rocprof-trace-decoder.dll"}.get(
    sys.platform, "librocprof-trace-decoder.so"
)
VARIABLES = ("ROCPROF_TRACE_DECODER_LIB", "ROCPROF_ATT_LIBRARY_PATH")  # a file, or a folder that holds it
PREFIX = "rocprof_trace_decoder_"
DONE, ERROR, NO_ROOM, NO_ARGUMENT = 0, 1, 2, 3  # return values of functions and callbacks
HIDDEN_LATENCY = 1  # of the analyses that the library makes if it is asked to


class OfficialJob(NamedTuple):
    """Input of the library's process."""

    folder: Path
    stream: StreamFile
    codes: tuple[CodeFile, ...]
    sidecars: frozenset[str]
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
        if hasattr(library, f"{PREFIX}set_analysis"):  # one that does not know it leaves these records out
            function("set_analysis", Handle, c_uint64)(handle, HIDDEN_LATENCY)
        parse = function("parse", Handle, c_char_p, c_uint64, TRACE, c_void_p)
        return int(parse(handle, data, len(data), trace, None))
    finally:
        function("destroy_handle", Handle)(handle)
