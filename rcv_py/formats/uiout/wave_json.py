"""Parse the text of one wave file: by a fast path, or exactly with orjson; both agree.

simdjson copies a nested array of integers into one flat buffer without making Python objects, some ten times
faster than orjson, but loses the nesting: a row of four next to a row of six would silently become two rows
of five.  So the commas and brackets of the text are compared with the expected ones; any deviation from the
writers' format is left to orjson.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson
import simdjson

from rcv_py.base.runs import borders
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import LIMIT, bounds, holds, int_column, int_table
from rcv_py.formats.input.files import BOM
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


@dataclass(frozen=True, slots=True, eq=False)
class RawWaits:
    """The waits of a file: entry i is `line[i]` with the next `count[i]` numbers of `depends_on`."""

    line: np.ndarray  # int64 [n], LineNumber of the wait
    count: np.ndarray  # int64 [n]
    depends_on: np.ndarray  # int64, LineNumbers


class RawWave(NamedTuple):
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


@dataclass(frozen=True, slots=True, eq=False)
class _WaitPlaces:
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
