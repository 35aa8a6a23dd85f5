"""Read filenames.json: the traced waves, their times and files."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile, TraceError
from rcv_py.base.problems import Problems
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, is_in
from rcv_py.base.text import Message, elide_right, plural
from rcv_py.formats.input.columns import frozen, list_of, number_key, report_skipped, text_of, whole_number
from rcv_py.formats.input.files import is_inside, read_bytes, read_json, read_start
from rcv_py.formats.input.limits import FILES_LISTED, TIMES_LISTED
from rcv_py.formats.uiout.folder import INDEX, WAVE_NAME, FolderFiles
from rcv_py.model.device import WaveEvents
from rcv_py.model.waves import WaveIndex

_BEGIN_END = {key: re.compile(rb'"%b"\s*:\s*(-?\d{1,18})\b' % key) for key in (b"begin", b"end")}
_PEEK_BYTES = 2048
_FAMILIES = {"vega": 9, "navi": 10}
_NO_TIME = -(1 << 62)
_KEY_LIMITS = (1 << 15, 1 << 15, 1 << 15, 1 << 31)  # exclusive limits of the index columns


class ChunkFile(Value):
    """A file with a stretch of records of one shader engine."""

    se: int
    file: str
    begin: int
    end: int


_Entry = tuple[int, int, int, int, str, int, int]  # shader engine, SIMD, slot, wave, file, begin, end


class Index(Value):
    """The contents of filenames.json.  Times are not aligned yet, and compute units are unknown."""

    waves: WaveIndex
    version: str = ""
    gfxip: int = 0  # 0: unknown
    has_thread_trace: bool = True
    has_pc_samples: bool = False
    counter_names: tuple[str, ...] = ()
    other_simd: tuple[ChunkFile, ...] = ()
    shader_data: tuple[ChunkFile, ...] = ()


def read_index(files: FolderFiles, problems: Problems) -> Index:
    """Read the index; raise MissingFile or BrokenFile if there is no usable one."""
    table = read_json(files.path, INDEX, problems)
    if not isinstance(table, dict):
        raise BrokenFile(INDEX, "it is not an index of waves")
    scan = _Scan(files)
    waves = wave_index(list(scan.waves(table.get("wave_filenames"))), files)
    other = tuple(scan.chunks(table.get("other_simd_filenames")))
    shader = tuple(scan.chunks(table.get("shaderdata_filenames")))
    scan.report_problems(problems)
    gfxip = whole_number(table.get("gfxip"), 0)
    return Index(
        waves=waves,
        version=text_of(table.get("version")),
        gfxip=gfxip if 0 < gfxip < 100 else _FAMILIES.get(text_of(table.get("gfxv")), 0),
        has_thread_trace=table.get("thread_trace") is not False,
        has_pc_samples=table.get("pc_sampling") is True,
        counter_names=tuple(map(str, list_of(table.get("counter_names")))),
        other_simd=other,
        shader_data=shader,
    )


def rescued_index(files: FolderFiles, problems: Problems) -> Index:
    """Make an index from the names of the wave files, because filenames.json is missing or damaged."""
    scan = _Scan(files)
    entries = []
    for match in files.matching(WAVE_NAME):
        keys = tuple(map(int, match.groups()))
        if all(key < limit for key, limit in zip(keys, _KEY_LIMITS, strict=True)):
            entries += scan.entry(keys, match.group())
    scan.report_problems(problems)
    return Index(wave_index(entries, files))


def wave_index(entries: list[_Entry], files: FolderFiles) -> WaveIndex:
    """Return the entries as a table sorted by (se, simd, slot, wid); the first of two equal keys is kept."""
    unique = sorted({entry[:4]: entry for entry in reversed(entries)}.values())
    numbers = np.array([(*e[:4], *e[5:]) for e in unique], dtype=np.int64).reshape(len(unique), 6)
    *place, wid, begin, end = numbers.T
    se, simd, slot = (frozen(column.astype(np.int16)) for column in place)
    unknown, names = np.full(len(unique), -1), tuple(entry[4] for entry in unique)
    return WaveIndex(
        se,
        simd,
        slot,
        wid=frozen(wid.astype(np.int32)),
        begin=frozen(begin.copy()),
        end=frozen(np.maximum(begin, end)),
        cu=frozen(unknown.astype(np.int16)),
        sa=frozen(unknown.astype(np.int16)),
        kernel=frozen(unknown.astype(np.int32)),
        size=frozen(np.array([files.size.get(name, 0) for name in names], dtype=np.int64)),
        file=names,
    )


class _Scan:
    """Walks through the hierarchy and records unusable entries."""

    def __init__(self, files: FolderFiles) -> None:
        self._files = files
        self._outside: list[str] = []
        self._bad: list[object] = []
        self._no_times: list[str] = []
        self._again: list[str] = []  # files that are listed for a second wave, or too many of a kind
        self._times: Counter[str] = Counter()

    def waves(self, tree: object) -> Iterator[_Entry]:
        for keys, value in self._leaves(tree, (), _KEY_LIMITS):
            yield from self.entry(keys, value)

    def entry(self, keys: tuple[int, ...], value: object) -> list[_Entry]:
        """The wave of one leaf, `[file, begin, end]` or a bare file name: one entry, or none."""
        se, simd, slot, wid = keys
        for file, times in self._listed(value):
            begin, end, *_ = *(whole_number(time, _NO_TIME) for time in times[:2]), _NO_TIME, _NO_TIME
            span = (begin, end) if min(begin, end) > _NO_TIME else wave_span(self._files.path, file)
            if span:
                return [(se, simd, slot, wid, file, *span)]
            self._no_times.append(file)
        return []

    def _listed(self, entry: object) -> Iterator[tuple[str, list[object]]]:
        """The file of `[file, time, …]` or of a bare name and its times, if it may be used."""
        name, *times = entry if isinstance(entry, list) and entry else [entry]
        if not isinstance(name, str) or not name:
            self._bad.append(name)
        elif not is_inside(name):
            self._outside.append(name)
        else:
            self._times[name] += 1
            if self._times[name] <= TIMES_LISTED:  # it holds one wave, or some records
                yield name, times
            else:
                self._again.append(name)

    def chunks(self, tree: object) -> Iterator[ChunkFile]:
        """The files of one kind of records, at most FILES_LISTED."""
        found = (
            ChunkFile(se, file, *([whole_number(time, 0) for time in times] + [0, 0])[:2])
            for (se,), rows in self._leaves(tree, (), _KEY_LIMITS[:1])
            for row in (rows if isinstance(rows, list) else [rows])
            for file, times in self._listed(row)
        )
        yield from islice(found, FILES_LISTED)
        self._again += [chunk.file for chunk in islice(found, 1)]

    def _leaves(
        self, tree: object, keys: tuple[int, ...], limits: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], object]]:
        if not isinstance(tree, dict | None):
            self._bad.append(tree)
        for text, value in tree.items() if isinstance(tree, dict) else ():
            key = number_key(text, limits[0])
            if key is None:
                self._bad.append(text)
            elif len(limits) == 1:
                yield (*keys, key), value
            else:
                yield from self._leaves(value, (*keys, key), limits[1:])

    def report_problems(self, problems: Problems) -> None:
        """Add at most one Problem for each kind of unusable entry."""
        report_skipped(problems, INDEX, len(self._bad), "entry", next(iter(self._bad), None))
        careful = "Be careful with this capture if you do not know where it comes from."
        if self._outside:
            template = "{0} names {1} outside the capture folder, such as {2!r}; they are not opened."
            outside = Message(template, INDEX, plural(len(self._outside), "file"), self._outside[0])
            problems.warn(INDEX, outside, careful)
        if self._again:
            again = Message(
                "{0} lists files more than {1} times, or more than {2:,} of a kind, such as {3}; "
                "the rest of them is left out ({4}).",
                INDEX,
                TIMES_LISTED,
                FILES_LISTED,
                elide_right(self._again[0], 60),
                plural(len(self._again), "entry"),
            )
            problems.warn(INDEX, again, careful)
        if self._no_times:
            name, waves = self._no_times[0], plural(len(self._no_times), "wave")
            late = Message("{0} could not be placed in time, such as {1}; the others are shown.", waves, name)
            problems.warn(name, late, "Copy the capture folder again.")


def wave_span(folder: Path, file: str) -> tuple[int, int] | None:
    """Return begin and end of a wave from its file, usually from its first bytes; None if it has none."""
    try:
        start = read_start(folder, file, _PEEK_BYTES)
        begin, end = (pattern.search(start) for pattern in _BEGIN_END.values())
        if begin and end:
            return int(begin[1]), int(end[1])
        wave = orjson.loads(read_bytes(folder, file))["wave"]
        span = whole_number(wave["begin"], _NO_TIME), whole_number(wave["end"], _NO_TIME)
    except (ValueError, LookupError, TypeError, TraceError):
        return None
    return None if _NO_TIME in span else span


def times_of(index: WaveIndex) -> list[tuple[int, np.ndarray]]:
    """Return begins and ends of the waves of each shader engine, int64 [n, 2]."""
    times = np.column_stack([index.begin, index.end])
    return [(se, times[index.se == se]) for se in ascending(index.se).tolist()]


def aligned(index: WaveIndex, offsets: Mapping[int, int]) -> WaveIndex:
    """Return the index with every time moved by the offset of its shader engine."""
    if not offsets or not len(index):
        return index
    shift = np.array([offsets.get(se, 0) for se in range(int(index.se.max()) + 1)], dtype=np.int64)[index.se]
    return replace(index, begin=frozen(index.begin + shift), end=frozen(index.end + shift))


def placed(index: WaveIndex, events: WaveEvents) -> WaveIndex:
    """Return the index with compute unit, shader array and kernel of the matching occupancy pairs.

    A wave matches a pair of the same shader engine, SIMD, slot, begin and end; without a match it keeps -1.
    If several compute units match, the one that matches most waves of the shader engine is taken.
    """
    if not len(index) or not len(events):
        return index
    start, end = _pairs(events, index.begin)
    # A decoder may end a wave of gfx9 one issue, 4 cycles, after its occupancy; exact ends are last and win.
    start, ends = np.tile(start, 2), np.concatenate([events.time[end] + 4, events.time[end]])
    pairs = (events.se[start], events.simd[start], events.slot[start], events.time[start], ends)
    waves = (index.se, index.simd, index.slot, index.begin, index.end)
    both = np.concatenate([np.column_stack(waves), np.column_stack(pairs)])
    key = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    wave_key, pair_key = key[: len(index)], key[len(index) :]
    fits = np.isin(pair_key, wave_key)
    start, pair_key = start[fits], pair_key[fits]
    unit = events.se[start].astype(np.int64) << 32 | events.sa[start] << 16 | events.cu[start]
    _, which, often = np.unique(unit, return_inverse=True, return_counts=True)
    order = np.argsort(often[which], kind="stable")
    pair_of = np.full(len(key), -1)
    pair_of[pair_key[order]] = start[order]  # the last of equal keys stays
    pair = pair_of[wave_key]

    found: dict[str, Any] = {}
    for name in ("cu", "sa", "kernel"):
        found[name] = frozen(np.where(pair >= 0, getattr(events, name)[pair], getattr(index, name)))
    return replace(index, **found)


def _pairs(events: WaveEvents, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of starts and of the ends that follow them in the same slot; starts at `begins` only."""
    places = (events.slot, events.simd, events.cu, events.sa, events.se)
    order = np.lexsort((events.is_start, events.time, *places))
    first, second = order[:-1], order[1:]
    fits = events.is_start[first] & ~events.is_start[second]
    fits &= is_in(events.time[first], begins)
    for column in places:
        fits &= column[first] == column[second]
    return first[fits], second[fits]
