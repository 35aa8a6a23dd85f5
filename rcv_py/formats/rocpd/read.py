"""Recognize and read the profiles of a run."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import is_inside
from rcv_py.formats.input.run_places import DOCUMENT, is_profile
from rcv_py.formats.rocpd.database import read_database
from rcv_py.formats.rocpd.document import read_document
from rcv_py.formats.rocpd.guarded import Guarded, guarded
from rcv_py.formats.rocpd.parts import is_raw_name
from rcv_py.formats.sqtt.decode import format_of
from rcv_py.model.profile import KernelSymbol, Launches, Profile

_BULK = re.compile(
    r"rocpd_(arg|event|region|kernel_dispatch|memory_copy|memory_allocate|sample|pmc_event|timestamp|track)_?.*"
)
_ELF = b"\x7fELF"
_AMDGPU = 224  # machine of a code object
_HEAD = 20  # bytes that identify a blob
_PARTS = 4096
_SE = re.compile(r"shader_engine_(\d{1,4})(?:_(\d{1,9}))?|se(\d{1,4})")
_NUMBER = re.compile(r"_(\d{1,9})$")


def read_profile(path: Path) -> Profile:
    """Read rocprofv3's profile of a run; raise a TraceError if it is no such file, or cannot be read."""
    if not is_profile(path):
        raise NotATrace(path, "it is no database or document of rocprofv3")
    try:
        about = path.stat()
    except OSError:
        return _read(path)  # its error is a sentence
    return _kept(path, about.st_mtime_ns, about.st_size)


def _read(path: Path) -> Profile:
    return read_document(path) if DOCUMENT.fullmatch(path.name) else read_database(path)


@lru_cache(maxsize=1)
def _kept(path: Path, *_: int) -> Profile:
    """The last profile, as long as its file does not change: a command asks for its launches, too."""
    return _read(path)


class RawPart(NamedTuple):
    """A raw trace or a code object that a profile holds or names; -1: unknown number."""

    is_code: bool  # else a trace of a shader engine
    name: str  # for display
    se: int = -1
    dispatch: int = -1
    id: int = -1  # of a code object
    path: Path | None = None  # a file next to the profile
    blob: tuple[str, str, int] | None = None  # table, column, row


def raw_parts(path: Path) -> tuple[RawPart, ...]:
    """Return the raw traces and code objects of a profile: blobs, and files next to it that it names.

    Raise a TraceError if it cannot be read; an unreadable table is skipped.
    """
    if DOCUMENT.fullmatch(path.name):
        names = read_document(path).files
        return tuple(part for name in names for part in _file(path, name))
    with guarded(path) as database:
        found: list[RawPart] = []
        for table in database.tables:
            if not _BULK.fullmatch(table) and len(found) < _PARTS:
                with suppress(TraceError):
                    found += _of_table(database, table)
        return tuple(dict.fromkeys(found))[:_PARTS]


def read_part(path: Path, part: RawPart, most: int = 1 << 30) -> bytes:
    """Return at most `most` bytes of a blob of a profile, or of a file that it names."""
    if part.path is not None:
        with part.path.open("rb") as stream:
            return stream.read(most)
    if part.blob is None:
        return b""
    with guarded(path) as database:
        return database.part(*part.blob, most)


def _of_table(database: Guarded, table: str) -> Iterator[RawPart]:
    columns = database.columns(table)
    numbers = {name: name.lower() for name in columns}
    for column in columns:
        for row, _, head in database.blobs(table, column, _HEAD):
            is_code = head[:4] == _ELF and int.from_bytes(head[18:20], "little") == _AMDGPU
            if is_code or format_of(np.frombuffer(head, dtype=np.uint8))[0]:
                part = RawPart(is_code, f"{table}.{column} {row}", blob=(table, column, row))
                yield _numbered(database, table, numbers, part)
    texts = [column for column in columns if column not in ("id", "guid")]
    for values in database.rows(table, texts):
        for name in values:
            if is_raw_name(name):
                yield from _file(database.path, name)


def _numbered(database: Guarded, table: str, columns: dict[str, str], part: RawPart) -> RawPart:
    """The part with the numbers in integer columns of its row."""
    assert part.blob is not None
    found = {"se": -1, "dispatch": -1, "id": -1}
    names = list(columns)
    for values in database.rows(table, names, f'WHERE "rowid" = {part.blob[2]}'):
        for name, value in zip(names, values, strict=True):
            known = columns[name]
            if type(value) is not int or not 0 <= value < 1 << 31:
                continue
            if known.startswith(("se", "shader_engine")):
                found["se"] = value
            elif known.startswith("dispatch"):
                found["dispatch"] = value
            elif known == "code_object_id" or (known == "id" and found["id"] < 0):
                found["id"] = value
    return part._replace(se=found["se"], dispatch=found["dispatch"], id=found["id"])


def _file(profile: Path, name: str) -> Iterator[RawPart]:
    """A file that a profile names, if it is next to or below it."""
    path = profile.parent / name
    try:
        is_there = (
            is_inside(name) and path.is_file() and path.resolve().is_relative_to(profile.parent.resolve())
        )
    except (OSError, ValueError):
        return
    if not is_there:
        return
    is_code = path.suffix != ".att"
    number, place = _NUMBER.search(path.stem), _SE.search(path.stem)
    se, dispatch = (place[1] or place[3], place[2]) if place else (None, None)
    yield RawPart(
        is_code=is_code,
        name=name,
        se=int(se) if se else -1,
        dispatch=int(dispatch) if dispatch else -1,
        id=int(number[1]) if number and is_code else -1,
        path=path,
    )


def trace_inside(profile: Profile) -> str:
    """Return a sentence on whether raw thread traces belong to a profile."""
    traces = [part for part in raw_parts(profile.path) if not part.is_code]
    if traces:
        return Message("It holds or names {0}: open it as any capture.", plural(len(traces), "raw trace"))
    if profile.files:
        files = plural(len(profile.files), "file")
        return Message(
            "None is inside; it names {0} of raw traces and code objects, and no trace is beside it.", files
        )
    return "None is inside."


Table = tuple[tuple[str, ...], Iterator[tuple[object, ...]]]

_LAUNCH = (
    "kernel_name", "vgpr_count", "accum_vgpr_count", "sgpr_count",
    "dispatch_id", "start_timestamp", "end_timestamp", "lds_block_size", "scratch_size",
)  # fmt: skip
_SIZES = tuple(f"{what}_size_{axis}" for what in ("workgroup", "grid") for axis in "xyz")
_AGENT = {
    "name": "name",
    "max_waves_per_simd": "waves_per_simd",
    "simd_per_cu": "simds_per_cu",
    "wave_front_size": "wave_size",
    "cu_count": "cus",
    "num_shader_banks": "engines",
    "product_name": "product",
}


def launch_table(path: Path) -> Table:
    """Return the launches of a profile; if it has none, the loaded kernels."""
    profile = read_profile(path)
    rows: Iterator[tuple[object, ...]] = (
        (*_registers(kernel), -1, -1, -1, kernel.lds, kernel.scratch) for kernel in profile.kernels
    )
    return (*_LAUNCH, *_SIZES), _launched(profile, profile.launches) if len(profile.launches) else rows


def agent_table(path: Path) -> Table:
    """Return the devices of a profile."""
    agents = read_profile(path).agents
    rows = (
        (
            "GPU" if agent.is_gpu else "CPU",
            agent.lds // 1024,
            *(getattr(agent, name) for name in _AGENT.values()),
        )
        for agent in agents
    )
    return ("agent_type", "lds_size_in_kb", *_AGENT), rows


def _launched(profile: Profile, launches: Launches) -> Iterator[tuple[object, ...]]:
    columns = (launches.dispatch, launches.begin, launches.end, launches.lds, launches.scratch)
    for at, row in enumerate(launches.kernel.tolist()):
        if row >= 0:
            own = (int(column[at]) for column in columns)
            sizes = (*launches.workgroup[at].tolist(), *launches.grid[at].tolist())
            yield (*_registers(profile.kernels[row]), *own, *sizes)


def _registers(kernel: KernelSymbol) -> tuple[object, ...]:
    return kernel.name, kernel.vgprs, kernel.accum_vgprs, kernel.sgprs
