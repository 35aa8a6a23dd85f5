"""A whole capture as one file: write it piece by piece, and open it.

Memory depends on a piece, not on the capture: waves are unpacked or mapped on request, a few pieces at a
time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile, NotATrace, TraceError
from rcv_py.base.record import Record
from rcv_py.base.runs import borders
from rcv_py.base.text import Message, json_bytes
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.input.columns import LIMIT, bounds, list_of, tight, whole_number
from rcv_py.formats.input.files import is_inside, parse_json
from rcv_py.formats.packed import records
from rcv_py.formats.packed.archive import NOTES, Archive, Unreadable, Writer, packed_arrays, unpacked_arrays
from rcv_py.formats.packed.pieces import COLUMNS, TYPES, PackedPiece, cut, packed_piece, unpacked_piece
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import UNKNOWN, Origin, Trace
from rcv_py.model.waves import WaveBatch, WaveColumns, WaveIndex, facts_of

FORMAT = 1
MANIFEST = "manifest.json"
TRACE, TABLES = "trace.json", "tables.columns"
INDEX = "pieces.columns"  # int32 [waves]: the piece of each wave, and its place in it; -1 if it has none
JSON_BYTES = 128 << 20
JSON_RECORDS = 4 << 20  # records and lists in it, which take far more memory than their text
KEPT_BYTES = 48 << 20  # of unpacked pieces, in each process
Notes = tuple[tuple[int, str], ...]


def open_packed(path: Path) -> Trace:
    """Open a packed capture; raise a TraceError, one sentence, if it is none or is damaged."""
    archive = Archive(path)
    if MANIFEST not in archive.members:
        raise NotATrace(path, "it is an archive, but not one that `rcv pack` wrote; unpack it first")
    try:
        return _trace(archive, _json(archive, MANIFEST))
    except ValueError as error:
        raise archive.broken(str(error)) from error


def is_packed_archive(path: Path) -> bool:
    """Whether an archive is a packed capture, by its contents."""
    try:
        return MANIFEST in Archive(path).members
    except TraceError:
        return False


def origin_of(path: Path) -> Origin:
    """Return the origin of a packed capture; raise a TraceError if it is none or is damaged."""
    archive = Archive(path)
    try:
        said = _json(archive, MANIFEST).get("origin")
        origin: Origin = UNKNOWN if said is None else records.read(Origin, said, ())
        if max(origin.agent, origin.dispatch, origin.recorded) >= LIMIT:
            raise Unreadable("it names a launch of a number that is too large")
        return origin
    except ValueError as error:
        raise archive.broken(str(error)) from error


def _json(archive: Archive, name: str) -> dict[str, Any]:
    text = bytes(archive.read(name))
    if len(text) > JSON_BYTES or text.count(b"{") + text.count(b"[") > JSON_RECORDS:
        raise Unreadable(Message("its {0} is larger than in any capture", name))
    data = parse_json(text, name)
    if not isinstance(data, dict):
        raise Unreadable(Message("its {0} is not a table", name))
    return data


def _trace(archive: Archive, manifest: dict[str, Any]) -> Trace:
    version = whole_number(manifest.get("format"), 0)
    if version != FORMAT:
        why = "its format is {0}, and this program reads {1}; open it with a newer one"
        raise NotATrace(archive.path, Message(why, version, FORMAT))
    columns = unpacked_arrays(archive.read(TABLES), max(0, whole_number(manifest.get("columns"), 0)))
    said, facts = _json(archive, TRACE), manifest.get("facts")
    facts = None if facts is None else records.read(RunFacts, facts, ())
    # The reader is set later, once the size of the code is known.
    trace: Trace = records.read(Trace, said, columns, path=archive.path, reader=None, facts=facts)
    _check_waves(trace.waves)
    _check_code(trace.code, len(trace.sources))
    for events in (trace.occupancy, trace.events):
        if events is not None and np.any(events.time[1:] < events.time[:-1]):
            raise Unreadable("its events are not in order")
    reader = StoredWaves(
        archive.path,
        base_clock=trace.architecture.base_clock,
        lines=len(trace.code),
        is_narrow=manifest.get("is_narrow") is True,
        missing=_notes(manifest.get("missing")),
        notes=_notes(manifest.get("notes")),
    )
    return replace(trace, reader=reader)


def _notes(rows: object) -> Notes:
    pairs = [row for row in list_of(rows) if isinstance(row, list) and len(row) == 2]
    return tuple((row, text) for row, text in pairs if type(row) is int and isinstance(text, str))


def _check_waves(index: WaveIndex) -> None:
    """Raise Unreadable unless wave ids are unique and ascend, and no wave ends before it begins."""
    key = np.column_stack([index.se, index.simd, index.slot, index.wid]).astype(np.int64)
    steps = np.diff(key, axis=0)
    heads = steps[np.arange(len(steps)), (steps != 0).argmax(axis=1)] if len(steps) else steps
    if np.any(heads <= 0) or bounds(key.reshape(-1))[0] < 0 or np.any(index.end < index.begin):
        raise Unreadable("its waves are not in order")
    if len(index.file) != len(index) or bounds(index.size)[0] < 0:
        raise Unreadable("its waves are not described")
    if not all(map(is_inside, set(index.file))):
        raise Unreadable("it names files outside of itself")


def _check_code(code: CodeTable, sources: int) -> None:
    """Raise Unreadable if lines refer to missing rows."""
    rows, links = len(code), len(code.chain_file)
    if len(code.number) != rows or len(code.chain_line) != links or len(code.chain_first) != rows + 1:
        raise Unreadable("its instructions differ in number")
    first = code.chain_first
    if first[0] != 0 or first[-1] != links or np.any(np.diff(first) < 0):
        raise Unreadable("its source places are of other instructions")
    for column, low, stop in (
        (code.chain_file, 0, sources),
        (code.chain_line, 0, 1 << 31),
        (code.kernel, -1, len(code.kernels)),
        *((column, 0, 1 << 60) for column in (code.hits, code.latency, code.stall, code.idle)),
    ):
        least, most = bounds(column)
        if len(column) and (least < low or most >= stop):
            raise Unreadable("its instructions name something that is not there")
    if any(not 0 <= kernel.first <= kernel.stop <= rows for kernel in code.kernels):
        raise Unreadable("a kernel has instructions that are not there")


def piece_name(number: int) -> str:
    """The member that holds a piece."""
    return f"waves/{number}.columns"


class StoredWaves(Record):
    """Reads waves of a packed capture.  It pickles as its fields alone: any process opens the file anew."""

    path: Path
    base_clock: int  # smallest step of time; tokens may overlap by this and still share a lane
    lines: int  # rows of the code table
    is_narrow: bool  # whether pieces are compressed
    missing: Notes  # waves that could not be read when the capture was packed, and why
    notes: Notes  # doubts about waves

    def read(self, rows: list[int]) -> WaveBatch:
        """Read the waves at these rows of the index; unreadable waves are listed in the batch."""
        return self.columns(rows).batch()

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone."""
        parts: list[dict[str, np.ndarray]] = [_NOTHING]
        missing: list[tuple[int, str]] = []
        wanted = set(rows)
        said = {row: text for row, text in self.missing if row in wanted}
        for number, first, stop, some in self._runs(rows):
            try:
                if number < 0:
                    raise BrokenFile(self.path.name, "it lacks a wave that it lists")
                piece = self._kept.get(number) or self._kept.put(number, self._unpacked(number))
                parts.append(piece.waves(first, stop))
            except TraceError as error:
                missing += [(row, said.get(row, str(error))) for row in some]
        lost = {row for row, _ in missing}
        notes = tuple((row, text) for row, text in self.notes if row in wanted and row not in lost)
        return _joined(parts, tuple(missing), notes)

    def _runs(self, rows: list[int]) -> Iterator[tuple[int, int, int, list[int]]]:
        """Consecutive waves of a piece: its number, their positions, and their rows."""
        piece, place = self._places
        chosen = [(int(piece[row]), int(place[row]), row) for row in rows]
        for (number, _), group in groupby(enumerate(chosen), lambda one: (one[1][0], one[1][1] - one[0])):
            some = [one for _, one in group]
            yield number, some[0][1], some[-1][1] + 1, [row for _, _, row in some]

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.path)

    @cached_property
    def _kept(self) -> _Kept:
        return _Kept()

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        try:
            piece, place = unpacked_arrays(self._archive.read(INDEX), 2)
        except Unreadable as error:
            raise BrokenFile(self.path.name, str(error)) from error
        return piece, place

    def _unpacked(self, number: int) -> PackedPiece:
        name = piece_name(number)
        shown = Message("{0} of {1}", name, self.path.name)
        try:
            piece = unpacked_piece(self._archive.read(name), is_narrow=self.is_narrow, lines=self.lines)
        except ValueError as error:
            raise BrokenFile(shown, str(error)) from error
        rows, (listed, place) = piece.rows, self._places
        is_known = bool(len(rows)) and bool(((rows >= 0) & (rows < len(listed))).all())
        if not is_known or np.any(listed[rows] != number) or np.any(place[rows] != np.arange(len(rows))):
            raise BrokenFile(shown, "it has other waves than are listed")
        return piece


class _Kept:
    """The most recently used pieces of this process; threads share them."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[int, PackedPiece] = OrderedDict()
        self._nbytes = 0
        self._lock = Lock()

    def get(self, number: int) -> PackedPiece | None:
        """Return a piece, if it is cached."""
        with self._lock:
            if number in self._pieces:
                self._pieces.move_to_end(number)
            return self._pieces.get(number)

    def put(self, number: int, piece: PackedPiece) -> PackedPiece:
        """Cache a piece and return it; evict the least recently used."""
        with self._lock:
            if number in self._pieces:  # another thread was faster
                return self._pieces[number]
            self._pieces[number] = piece
            self._nbytes += piece.nbytes
            while len(self._pieces) > 1 and self._nbytes > KEPT_BYTES:
                self._nbytes -= self._pieces.popitem(last=False)[1].nbytes
        return piece


_NOTHING = {name: np.zeros(0, dtype=types.split()[0]) for name, types in TYPES.items()}
_NOTHING |= {"facts": facts_of(0), "line": np.zeros(0, dtype=np.int16)}


def _joined(parts: list[dict[str, np.ndarray]], missing: Notes, notes: Notes) -> WaveColumns:
    """The columns of several runs of waves as one, with the types of a reader of files."""
    if len(parts) == 2:
        parts = parts[1:]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS if len(parts) > 1}
    joined = joined or dict(parts[0])
    for name in ("token_first", "state_first"):
        joined[name] = borders(joined[name])
    for name in ("offset", "stall", "state_offset"):
        joined[name] = tight(joined[name])
    is_long = joined["stall"].dtype == np.int64 or (
        joined["busy"].dtype == np.int64 and bounds(joined["busy"] + joined["stall"])[1] >= 1 << 31
    )
    joined["busy"] = joined["busy"].astype(np.int64 if is_long else np.int32, copy=False)
    return WaveColumns(**joined, lod=None, missing=missing, notes=notes)


ELSEWHERE = ("path", "reader", "facts")  # of a trace: not in the file, or with its waves
PIECE_TOKENS = 1 << 16  # about half a megabyte to unpack for one wave
NO_SOURCE = "The source was left out when the capture was packed."


def write_packed(
    path: Path,
    trace: Trace,
    columns: Iterable[WaveColumns],
    *,
    program: str = "",
    facts: RunFacts | None = None,
    origin: Origin = UNKNOWN,
    is_compressed: bool = True,
    has_sources: bool = True,
    notes: bytes = b"",
) -> None:
    """Write a capture: its tables, and the columns of all its waves; raise ExportError on failure.

    Each wave comes once, in any order; `row` is its place in the trace's wave index, whose reader is not
    used.  `program` is the writing program, `facts` come from tables of the run, `origin` from names and
    dates of its files; `notes` is a file of notes about it, which is not part of the fingerprint.  The file
    exists once all is written, or not at all.

    An uncompressed file is far larger, and its columns are mapped instead of unpacked: right for a file that
    processes of this machine read once and at once.
    """
    if not has_sources:
        trace = replace(trace, sources=tuple(SourceFile(one.path, None, NO_SOURCE) for one in trace.sources))
    digest = sha256()
    pieces: list[np.ndarray] = []  # rows of the waves in each
    missing: list[tuple[int, str]] = []
    doubts: list[tuple[int, str]] = []
    with whole_file(path) as stream, Writer(stream, is_compressed=is_compressed) as archive:

        def put(name: str, data: bytes) -> None:
            if is_compressed:  # the fingerprint; a file that is never passed on needs none
                digest.update(data)
            archive.add(name, data)

        for some in columns:
            missing += some.missing
            doubts += some.notes
            for part in _pieces(some):
                put(piece_name(len(pieces)), packed_piece(part, is_narrow=is_compressed))
                pieces.append(part.facts["row"])
        place = np.full((2, len(trace.waves)), -1, dtype=np.int32)
        for number, rows in enumerate(pieces):
            place[:, rows] = np.full(len(rows), number), np.arange(len(rows))
        arrays: list[np.ndarray] = []
        tables = records.written(trace, arrays, ELSEWHERE)
        put(INDEX, packed_arrays([*place]))
        put(TABLES, packed_arrays(arrays))
        put(TRACE, json_bytes(tables))
        said = facts if facts is not None else trace.facts
        manifest = {
            "format": FORMAT,
            "program": program,
            "fingerprint": digest.hexdigest() if is_compressed else "",
            "pieces": len(pieces),
            "columns": len(arrays),
            "is_narrow": is_compressed,
            "missing": missing,
            "notes": doubts,
            "facts": None if said is None else records.written(said, []),
            "origin": records.written(origin, []),
        }
        archive.add(MANIFEST, json_bytes(manifest, orjson.OPT_INDENT_2))
        if notes:
            archive.add(NOTES, notes)


def _pieces(columns: WaveColumns) -> Iterator[WaveColumns]:
    """The columns as pieces of about PIECE_TOKENS; a wave is in one."""
    weight = np.diff(columns.token_first) + np.diff(columns.state_first)
    which = borders(weight)[:-1] // PIECE_TOKENS
    edges = [*np.flatnonzero(np.diff(which, prepend=-1)).tolist(), len(weight)]
    yield from (cut(columns, first, stop) for first, stop in pairwise(edges))
