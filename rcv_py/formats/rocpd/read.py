"""Recognize and read the profiles of a run."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import is_inside, mark_of
from rcv_py.formats.input.run_places import DOCUMENT, is_profile
from rcv_py.formats.rocpd.database import read_database
from rcv_py.formats.rocpd.document import read_document
from rcv_py.formats.rocpd.guarded import Guarded, guarded
from rcv_py.formats.rocpd.parts import is_raw_name
from rcv_py.formats.sqtt.decode import format_of
from rcv_py.model.profile import Launches, Profile

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
    """Read rocprofv3's profile of a run; raise a TraceError if it is not such a file, or cannot be read."""
    if not is_profile(path):
        raise NotATrace(path, "it is not a database or document of rocprofv3")
    return _read(path, *mark_of(path))


@lru_cache(maxsize=1)
def _read(path: Path, *_: int) -> Profile:
    """The last profile, as long as its file does not change: a command asks for its launches, too."""
    return read_document(path) if DOCUMENT.fullmatch(path.name) else read_database(path)


class RawPart(Value):
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
    for column in columns:
        for row, _, head in database.blobs(table, column, _HEAD):
            is_code = head[:4] == _ELF and int.from_bytes(head[18:20], "little") == _AMDGPU
            if is_code or format_of(np.frombuffer(head, dtype=np.uint8))[0]:
                part = RawPart(is_code, f"{table}.{column} {row}", blob=(table, column, row))
                yield _numbered(database, table, columns, part)
    texts = [column for column in columns if column not in ("id", "guid")]
    for values in database.rows(table, texts):
        for name in values:
            if is_raw_name(name):
                yield from _file(database.path, name)


def _numbered(database: Guarded, table: str, columns: Sequence[str], part: RawPart) -> RawPart:
    """The part with the numbers in integer columns of its row."""
    assert part.blob is not None
    found = {"se": -1, "dispatch": -1, "id": -1}
    for values in database.rows(table, columns, f'WHERE "rowid" = {part.blob[2]}'):
        for known, value in zip(map(str.lower, columns), values, strict=True):
            if type(value) is not int or not 0 <= value < 1 << 31:
                continue
            if known.startswith(("se", "shader_engine")):
                found["se"] = value
            elif known.startswith("dispatch"):
                found["dispatch"] = value
            elif known == "code_object_id" or (known == "id" and found["id"] < 0):
                found["id"] = value
    return replace(part, se=found["se"], dispatch=found["dispatch"], id=found["id"])


def _file(profile: Path, name: str) -> Iterator[RawPart]:
    """A file that a profile names, if it is next to or below it."""
    path, home = profile.parent / name, profile.parent.resolve()
    try:
        if not (is_inside(name) and path.is_file() and path.resolve().is_relative_to(home)):
            return
    except (OSError, ValueError):
        return
    is_code = path.suffix != ".att"
    number, place = _NUMBER.search(path.stem), _SE.search(path.stem)
    se, dispatch = (place[1] or place[3], place[2]) if place else (None, None)
    id = int(number[1]) if number and is_code else -1
    yield RawPart(is_code, name, int(se or -1), dispatch=int(dispatch or -1), id=id, path=path)


def trace_inside(profile: Profile) -> str:
    """Return a sentence on whether raw thread traces belong to a profile."""
    traces = sum(not part.is_code for part in raw_parts(profile.path))
    if traces:
        return Message("It holds or names {0}: open it as any capture.", plural(traces, "raw trace"))
    if not profile.files:
        return "None is inside."
    text = "None is inside; it names {0} of raw traces and code objects, and no trace is beside it."
    return Message(text, plural(len(profile.files), "file"))


Table = tuple[tuple[str, ...], Iterator[tuple[object, ...]]]

_LAUNCH = (
    "kernel_name", "vgpr_count", "accum_vgpr_count", "sgpr_count",
    "dispatch_id", "start_timestamp", "end_timestamp", "lds_block_size", "scratch_size",
)  # fmt: skip
_SIZES = tuple(f"{what}_size_{axis}" for what in ("workgroup", "grid") for axis in "xyz")
_AGENT = {
    "name": "name", "max_waves_per_simd": "waves_per_simd", "simd_per_cu": "simds_per_cu",
    "wave_front_size": "wave_size", "cu_count": "cus", "num_shader_banks": "engines",
    "product_name": "product",
}  # fmt: skip


def launch_table(path: Path) -> Table:
    """Return the launches of a profile; if it has none, the loaded kernels."""
    profile = read_profile(path)
    return (*_LAUNCH, *_SIZES), _launched(profile, profile.launches)


def agent_table(path: Path) -> Table:
    """Return the devices of a profile."""
    rows = (
        ("GPU" if one.is_gpu else "CPU", one.lds // 1024, *(getattr(one, name) for name in _AGENT.values()))
        for one in read_profile(path).agents
    )
    return ("agent_type", "lds_size_in_kb", *_AGENT), rows


def _launched(profile: Profile, launches: Launches) -> Iterator[tuple[object, ...]]:
    registers = [(one.name, one.vgprs, one.accum_vgprs, one.sgprs) for one in profile.kernels]
    if not len(launches):
        for known, kernel in zip(registers, profile.kernels, strict=True):
            yield (*known, -1, -1, -1, kernel.lds, kernel.scratch)
    columns = (launches.dispatch, launches.begin, launches.end, launches.lds, launches.scratch)
    for at, row in enumerate(launches.kernel.tolist()):
        if row >= 0:
            own = (int(column[at]) for column in columns)
            sizes = (*launches.workgroup[at].tolist(), *launches.grid[at].tolist())
            yield (*registers[row], *own, *sizes)
