"""Read the wave files of a capture on request, in any process, and combine them as columns.

The text of a file is parsed by a fast path, or exactly with orjson; both agree.  simdjson copies a nested
array of integers into one flat buffer without making Python objects, some ten times faster than orjson, but
loses the nesting: a row of four next to a row of six would silently become two rows of five.  So the commas
and brackets of the text are compared with the expected ones; any deviation from the writers' format is left
to orjson.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import simdjson

from rcv_py.base.errors import BrokenFile, TraceError
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, borders
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import (
    LIMIT,
    bounds,
    fit,
    frozen,
    holds,
    int_column,
    int_table,
    number_column,
    tight,
)
from rcv_py.formats.input.files import BOM, read_bytes
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import WaveBatch, WaveColumns, WaveIndex, facts_of
from rcv_py.tuning import memory

TOKEN_WIDTH = 5  # time, category, stall, duration, line
STATE_WIDTH = 2  # state, duration
PLAIN_FACTS = {  # names of facts of waves by key; -1 without the key
    "workgroup_id": "workgroup",
    "cluster_id": "cluster",
    "me_id": "me",
    "pipe_id": "pipe",
}
FACTS = ("begin", "end", "cu", "dispatcher", *PLAIN_FACTS)

_TABLES = ("instructions", "timeline", "waitcnt")
_WIDTHS = {"instructions": TOKEN_WIDTH, "timeline": STATE_WIDTH}
_KEYS = {name.encode() for name in _TABLES}
_NO_NUMBERS = np.zeros(0, dtype=np.int64)
_WAIT_SHAPES = [b"[,[" + b",".join([b"[,]"] * count) + b"]]" for count in range(128)]
_DIGITS = b"0123456789- \t\r\n"
_SATURATED = 0xFFFFFF  # simdjson's len() stops counting here
_KEEP = 1 << 23  # bytes: a parser that read more is dropped, since it would keep ten times as much memory
_parsers: list[simdjson.Parser] = []  # each holds ten times the bytes of its longest text
memory.is_spare(_parsers.clear)


class _Unusual(Exception):
    """The fast path cannot guarantee a correct result for this text."""


class RawWaits(Record):
    """The waits of a file: entry i is `line[i]` with the next `count[i]` numbers of `depends_on`."""

    line: np.ndarray  # int64 [n], LineNumber of the wait
    count: np.ndarray  # int64 [n]
    depends_on: np.ndarray  # int64, LineNumbers


class RawWave(Value):
    """The contents of a wave file, in its own numbering."""

    facts: dict[str, Any]  # the present FACTS, unchecked
    tokens: np.ndarray  # int32 or int64 [n, 5]; its columns are contiguous
    timeline: np.ndarray  # int32 or int64 [n, 2]
    waits: RawWaits | None  # None: absent or unusable
    doubts: tuple[str, ...] = ()  # left out parts, each fit for the end of a sentence


def parse(data: bytes) -> RawWave:
    """Parse the text of a wave file; ValueError, fit for a sentence, if it is none."""
    data = data.removeprefix(BOM)
    try:
        return parse_quickly(data)
    except (_Unusual, LookupError, TypeError, ValueError, AttributeError, RuntimeError, MemoryError):
        return parse_exactly(data)


def parse_quickly(data: bytes) -> RawWave:
    """Parse with simdjson; raise any of half a dozen exceptions in case of doubt."""
    parser = _parsers.pop() if _parsers else simdjson.Parser()
    raw = _document(parser.parse(data), data)
    if len(data) <= _KEEP:
        _parsers.append(parser)  # all proxies are gone: simdjson allows the next parse
    return raw


def _document(document: Any, data: bytes) -> RawWave:
    wave = document["wave"]
    if not isinstance(wave, simdjson.Object):
        raise _Unusual
    keys = list(wave)
    if len({*keys}) != len(keys) or [*document].count("wave") != 1:
        raise _Unusual  # simdjson takes the first of equal keys, orjson the last
    facts = {name: wave[name] for name in keys if name in FACTS}
    if any(isinstance(value, simdjson.Array | simdjson.Object) for value in facts.values()):
        raise _Unusual
    tables = {name: wave[name] for name in _TABLES if name in keys}
    if not all(table is None or isinstance(table, simdjson.Array) for table in tables.values()):
        raise _Unusual  # an empty text has a length, too
    shapes = _shapes(data)
    parts = (_rows(tables.get(name), width, shapes.get(name, b"")) for name, width in _WIDTHS.items())
    tokens, timeline = parts
    return RawWave(facts, tokens, timeline, _waits(tables.get("waitcnt"), shapes.get("waitcnt", b"")))


def _shapes(data: bytes) -> dict[str, bytes]:
    """The text of each table without digits, and without the text after it: `[[,,,,],[,,,,]]`."""
    if b"\\" in data:
        raise _Unusual
    texts = data.translate(None, _DIGITS).split(b'"')  # without escapes every second quote ends a string
    if any(texts.count(name) > 1 for name in _KEYS):  # also if names differ only in digits
        raise _Unusual
    said = {name: text for name, text in zip(texts[1::2], texts[2::2], strict=True) if name in _KEYS}
    return {name.decode(): text.rstrip(b"},").removeprefix(b":") for name, text in said.items()}


def _rows(array: Any, width: int, shape: bytes) -> np.ndarray:
    if array is None or not len(array):
        return np.zeros((0, width), dtype=np.int64)
    count = len(array)
    row = b"[" + b"," * (width - 1) + b"],"
    if count >= _SATURATED or shape != b"[" + row * (count - 1) + row[:-1] + b"]":
        raise _Unusual
    numbers = np.frombuffer(array.as_buffer(of_type="i"), dtype=np.int64)
    low, high = bounds(numbers)
    if len(numbers) != count * width or low <= -LIMIT or high >= LIMIT:
        raise _Unusual
    if holds(np.int32, low, high):  # narrowed first: the strided copy after it dominates the cost
        numbers = numbers.astype(np.int32)
    return np.ascontiguousarray(numbers.reshape(count, width).T).T


def _waits(array: Any, shape: bytes) -> RawWaits | None:
    """The waits `[line, [[producer, 0], …]]`, flat: line, producer, 0, producer, 0, …"""
    if array is None:
        return None
    if not len(array):
        return RawWaits(_NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS)
    places = _last_places[-1]
    if places.shape != shape:
        places = _last_places[-1] = _WaitPlaces.of(shape)
    numbers = np.frombuffer(array.as_buffer(of_type="i"), dtype=np.int64)
    low, high = bounds(numbers)
    if places.numbers != len(numbers) or low <= -LIMIT or high >= LIMIT:
        raise _Unusual  # without digits, `[4,[1]]` looks like `[4,[]]`
    return RawWaits(numbers[places.line], places.count, numbers[places.depends_on])


class _WaitPlaces(Record):
    """Positions in the numbers of waits; most waves of a program wait at the same places."""

    shape: bytes  # the text without digits
    numbers: int
    count: np.ndarray  # int64 [waits], producers of each
    line: np.ndarray  # int64 [waits], places of the LineNumbers of waits
    depends_on: np.ndarray  # int64, places of the LineNumbers of producers

    @classmethod
    def of(cls, shape: bytes) -> _WaitPlaces:
        """Positions of numbers in a text of that shape."""
        # After `[,[` come 4 bytes per producer but 3 for the last, `]]`, and a comma or bracket.
        count = (np.array([*map(len, shape.split(b"[,[")[1:])], dtype=np.int64) - 2) // 4
        if shape != b"[" + b",".join([_WAIT_SHAPES[producers] for producers in count.tolist()]) + b"]":
            raise _Unusual
        first = borders(1 + 2 * count)
        is_line = np.zeros(first[-1], dtype=bool)
        is_line[first[:-1]] = True
        return cls(shape, len(is_line), count, first[:-1], np.flatnonzero(~is_line)[::2])


_last_places = [_WaitPlaces(b"", 0, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS)]


def parse_exactly(data: bytes) -> RawWave:
    """Parse with orjson; ValueError, fit for a sentence, if it is not a wave with instructions."""
    if not (data := data.removeprefix(BOM)).strip():
        raise ValueError("it is empty")
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        why = Message("it is not JSON, or cut off (line {0}, column {1})", error.lineno, error.colno)
        raise ValueError(why) from error
    wave = document.get("wave") if isinstance(document, dict) else None
    if not isinstance(wave, dict):
        raise ValueError("it does not describe a wave")
    tables = {name: wave.get(name) for name in _TABLES}
    doubts: list[str] = []
    try:
        timeline = _table(tables, "timeline", STATE_WIDTH)
    except ValueError as error:
        timeline = np.zeros((0, STATE_WIDTH), dtype=np.int64)
        doubts.append(Message("{0}: the wave has no states", error))
    try:
        waits = _exact_waits(tables["waitcnt"])
    except ValueError as error:
        waits = None
        doubts.append(Message("{0}: what it waited for is worked out instead", error))
    tokens = _table(tables, "instructions", TOKEN_WIDTH)
    facts = {name: wave[name] for name in FACTS if name in wave}
    return RawWave(facts, tokens, timeline, waits, tuple(doubts))


def _table(tables: dict[str, Any], name: str, width: int) -> np.ndarray:
    try:
        return int_table(tables[name], width)
    except ValueError as error:
        why = Message("the rows of its {0} are not {1} whole numbers each ({2})", name, width, error)
        raise ValueError(why) from error


def _exact_waits(entries: object) -> RawWaits | None:
    if entries is None:
        return None
    try:
        if not isinstance(entries, list):
            raise TypeError
        lines = int_column([line for line, _ in entries])
        pairs = [int_table(depends, 2)[:, 0] for _, depends in entries]
    except (TypeError, ValueError) as error:
        raise ValueError("its waitcnt is not a list of waits and producers") from error
    counts = np.array([len(pair) for pair in pairs], dtype=np.int64)
    return RawWaits(lines, counts, np.concatenate([*pairs, np.zeros(0, dtype=np.int64)]))


NEGATIVE = "has negative durations; they count as 0"
BACKWARD = "lets its wave end before it begins; the times that filenames.json lists count"
OVERLONG = "has instructions that stall for longer than they last; all of their time counts as stall"
_ABSENT = -(1 << 62)  # smaller than any number of a file
Columns = dict[str, np.ndarray]
Notes = list[tuple[int, str]]


class LineNumbers(Record):
    """The file's LineNumbers as rows of the code table."""

    row: np.ndarray  # int16 or int32 by LineNumber; the last one, -1, is for all others
    is_matrix: np.ndarray  # bool by LineNumber

    @classmethod
    def of(cls, row_of_number: np.ndarray, matrix: np.ndarray, labels: np.ndarray) -> LineNumbers:
        """Copy `CodeTable.row_of_number`; labels, and rows that the code table lacks, are unresolved."""
        rows = np.append(row_of_number.astype(np.int64), -1)
        rows[(rows < 0) | (rows >= len(labels))] = -1
        rows[np.append(labels, False)[rows]] = -1
        is_matrix = np.append(matrix, False)[rows]
        return cls(fit(rows, np.int16 if len(labels) < 1 << 15 else np.int32), is_matrix)

    def index(self, numbers: np.ndarray) -> np.ndarray:
        """Positions in `row` and `is_matrix` of any int32 or int64 numbers."""
        unsigned = np.uint32 if numbers.dtype == np.int32 else np.uint64
        last = unsigned(len(self.row) - 1)
        return np.minimum(numbers.view(unsigned), last).view(numbers.dtype)  # a negative one is huge unsigned


class WaveFiles(Record):
    """Reads waves of one capture.  Picklable and immutable except for caches."""

    folder: Path
    index: WaveIndex  # aligned
    offset_of_se: Mapping[int, int]  # cycles added to the times of a shader engine; absent means 0
    row_of_number: np.ndarray  # int32, CodeTable.row_of_number
    matrix: np.ndarray  # bool per code row: VALU tokens of these rows become MFMA
    labels: np.ndarray  # bool per code row: it cannot have a token
    base_clock: int = 4  # smallest step of time; tokens may overlap by this and still share a lane

    def read(self, rows: list[int]) -> WaveBatch:
        """Read the waves at these rows of the index; unreadable waves are listed in the batch."""
        return self.columns(rows).batch()

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone."""
        raws: dict[int, RawWave] = {}
        missing: Notes = []
        for row in rows:
            try:
                raws[row] = self._raw(row)
            except TraceError as error:
                missing.append((row, str(error)))
        return self._joined(list(raws), list(raws.values()), missing)

    @cached_property
    def numbers(self) -> LineNumbers:
        """LineNumbers as rows of the code table."""
        return LineNumbers.of(self.row_of_number, self.matrix, self.labels)

    def _raw(self, row: int) -> RawWave:
        name = self.index.file[row]
        try:
            raw = parse(read_bytes(self.folder, name))
        except ValueError as error:
            raise BrokenFile(name, str(error)) from error
        durations = raw.timeline[:, 1]
        if durations.dtype != np.int32 and np.abs(durations).sum(dtype=np.float64) >= LIMIT:
            raise BrokenFile(name, "its timeline is longer than any trace")
        return raw

    def _joined(self, rows: list[int], raws: list[RawWave], missing: Notes) -> WaveColumns:
        tokens, bases, negative, overlong = _token_columns(raws, self.numbers)
        states, lengths, negative_states = _state_columns(raws)
        waits = _wait_columns([raw.waits for raw in raws if raw.waits is not None], self.numbers)
        facts, shift, early = self._facts(rows, [raw.facts for raw in raws])
        facts["base"] = np.where(np.diff(tokens["token_first"]) > 0, bases + shift, facts["begin"])
        facts["length"] = lengths
        facts["waits"] = [-1 if raw.waits is None else len(raw.waits.line) for raw in raws]
        notes: Notes = []
        for row, raw, life in zip(rows, raws, facts[["begin", "end"]].tolist(), strict=True):
            notes += [(row, note) for note in self._life_notes(row, *life)]
            name = self.index.file[row]
            notes += [(row, Message("{0} is damaged: {1}.", name, doubt)) for doubt in raw.doubts]
        negative = sorted({*negative, *negative_states})
        for why, waves in ((NEGATIVE, negative), (OVERLONG, overlong), (BACKWARD, early.tolist())):
            notes += [(rows[i], f"{self.index.file[rows[i]]} {why}.") for i in waves]
        columns = tokens | states | waits
        return WaveColumns(facts=facts, **columns, lod=None, missing=tuple(missing), notes=tuple(notes))

    def _facts(self, rows: list[int], said: list[dict[str, Any]]) -> tuple[np.ndarray, ...]:
        """The facts of waves but those about their columns; cycles that align each; who ends too early."""
        index, at = self.index, np.array(rows, dtype=np.int64)

        def given(key: str, otherwise: np.ndarray | int = -1) -> np.ndarray:
            column = number_column([facts.get(key) for facts in said], _ABSENT)
            return np.where(column == _ABSENT, otherwise, column)

        shift = np.array([self.offset_of_se.get(se, 0) for se in index.se[at].tolist()], dtype=np.int64)
        begin = given("begin", index.begin[at] - shift) + shift
        end = given("end", index.end[at] - shift) + shift
        early = np.flatnonzero(end < begin)
        begin[early] = index.begin[at[early]]
        end[early] = np.maximum(begin, index.end[at])[early]
        cu, dispatcher = given("cu"), given("dispatcher")
        found = {name: getattr(index, name)[at] for name in ("se", "simd", "slot", "wid")}
        found |= {name: given(key) for key, name in PLAIN_FACTS.items()}
        found |= {"row": at, "begin": begin, "end": end, "state_base": begin}
        found["cu"] = np.where(cu >= 0, cu & 0x7F, index.cu[at])
        found["me"] = np.where(dispatcher >= 0, dispatcher >> 4 & 7, found["me"])
        found["pipe"] = np.where(dispatcher >= 0, dispatcher & 15, found["pipe"])
        return facts_of(len(rows), **found), shift, early

    def _life_notes(self, row: int, begin: int, end: int) -> Iterator[str]:
        first, last = int(self.index.begin[row]), int(self.index.end[row])
        if (begin, end) != (first, last):
            shift = int(self.offset_of_se.get(int(self.index.se[row]), 0))
            life = Message("{0:,} to {1:,}", begin - shift, end - shift)
            listed = f"filenames.json lists {first - shift:,} to {last - shift:,}"
            name = self.index.file[row]
            yield f"{name} holds a wave that ran from cycle {life}, but {listed}; the wave file is right."


def _token_columns(
    raws: list[RawWave], numbers: LineNumbers
) -> tuple[Columns, list[int], list[int], list[int]]:
    """The token columns of `WaveColumns`; the first start of each wave; waves with negative durations.

    Last: waves with a stall that is longer than its instruction.
    """
    first = borders([len(raw.tokens) for raw in raws])
    columns = [_column([raw.tokens for raw in raws], place) for place in range(TOKEN_WIDTH)]
    time = columns[0]
    parts = np.split(time, first[1:-1]) if raws else []
    bases = [int(part.min()) if len(part) else 0 for part in parts]
    time -= np.repeat(np.array(bases, dtype=time.dtype), np.diff(first))
    is_back = time[1:] < time[:-1]
    is_back[first[(first > 0) & (first < len(time))] - 1] = False  # the next wave begins
    if is_back.any():
        order = np.lexsort((time, np.repeat(np.arange(len(raws)), np.diff(first))))
        columns = [column[order] for column in columns]
    offset, kind, stall, duration, number = columns
    negative = [*_clamp(stall, first), *_clamp(duration, first)]
    stall, duration = tight(stall), tight(duration)
    overlong = _owners(np.flatnonzero(stall > duration), first)
    busy = np.maximum(duration, stall)
    busy -= stall
    index = numbers.index(number)
    kinds = _bytes(kind)
    if numbers.is_matrix.any():
        kinds[(kinds == TokenKind.VALU) & numbers.is_matrix[index]] = TokenKind.MATRIX
    found = {"token_first": first, "offset": tight(offset), "stall": stall, "busy": frozen(busy)}
    return found | {"kind": frozen(kinds), "line": frozen(numbers.row[index])}, bases, negative, overlong


def _state_columns(raws: list[RawWave]) -> tuple[Columns, list[int], list[int]]:
    """The state columns of `WaveColumns`; cycles of each timeline; waves with negative durations.

    A segment begins at the end of the previous durations.
    """
    first = borders([len(raw.timeline) for raw in raws])
    state, duration = (_column([raw.timeline for raw in raws], place) for place in range(STATE_WIDTH))
    negative = _clamp(duration, first)
    total = borders(duration)  # it may wrap around over many waves, differences within a wave do not
    offset = total[:-1] - np.repeat(total[first[:-1]], np.diff(first))
    columns = {"state_first": first, "state_offset": tight(offset), "state": frozen(_bytes(state))}
    return columns, np.diff(total[first]).tolist(), negative


def _wait_columns(waits: list[RawWaits], numbers: LineNumbers) -> Columns:
    """The wait columns of `WaveColumns`: lines, concatenated borders of each wave, producers."""
    nothing = np.zeros(0, dtype=np.int64)
    lines = np.concatenate([nothing, *(wait.line for wait in waits)])
    firsts = np.concatenate([nothing, *(borders(wait.count) for wait in waits)])
    producers = np.concatenate([nothing, *(wait.depends_on for wait in waits)])
    line, producer = (numbers.row[numbers.index(column)].astype(np.int32) for column in (lines, producers))
    return {"wait_line": frozen(line), "wait_first": fit(firsts, np.int32), "depends_on": frozen(producer)}


def _column(tables: list[np.ndarray], place: int) -> np.ndarray:
    """One column of several tables as a new array: a view would keep all other columns alive."""
    return np.concatenate([table[:, place] for table in tables] or [np.zeros(0, dtype=np.int32)])


def _clamp(column: np.ndarray, first: np.ndarray) -> list[int]:
    """Set negative numbers to 0; return the waves that had some."""
    if bounds(column)[0] >= 0:
        return []
    rows = np.flatnonzero(column < 0)
    column[rows] = 0
    return _owners(rows, first)


def _owners(rows: np.ndarray, first: np.ndarray) -> list[int]:
    """The waves of some tokens or states, given where each wave begins."""
    return ascending(np.searchsorted(first, rows, side="right") - 1).tolist()


def _bytes(column: np.ndarray) -> np.ndarray:
    """Numbers as uint8; 0 for those outside 0…255."""
    return np.where((column >= 0) & (column <= 255), column, 0).astype(np.uint8)
