"""The text of one wave file as numbers: quickly with simdjson, or exactly with orjson; both agree.

simdjson copies a nested array of integers into one flat buffer without making Python objects, some ten
times faster than orjson.  It does not say how the numbers were nested, though: a row of four next to a row of
six would silently become two rows of five.  So the places of commas and brackets in the text are checked;
whatever differs in the least from what the writers write is left to orjson.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import simdjson

from rcv_py.base.runs import borders
from rcv_py.formats.input.columns import LIMIT, int_column, int_table

BOM = b"\xef\xbb\xbf"
TOKEN_WIDTH = 5  # time, category, stall, duration, line
STATE_WIDTH = 2  # state, duration
FACTS = (
    "begin", "end", "cu", "workgroup_id", "cluster_id", "dispatcher", "me_id", "pipe_id",
)  # fmt: skip

_TABLES = ("instructions", "timeline", "waitcnt")
_TABLE_OF = {name.encode(): name for name in _TABLES}
_NO_NUMBERS = np.zeros(0, dtype=np.int64)
_NO_TEXT = np.zeros(0, dtype=np.uint8)
_WAIT_TEXTS = [b"[,[" + b",".join([b"[,]"] * count) + b"]]" for count in range(128)]
_DIGITS = b"0123456789- \t\r\n"
_DIGIT_COUNT = np.repeat(np.array([1, 2, 3, 4], dtype=np.uint8), [10, 90, 900, 9000])  # of 0 to 9,999
MANY = 2000  # rows; the check with more, but cheaper, steps pays from here on
_SATURATED = 0xFFFFFF  # simdjson's len() stops counting here
_KEEP = 1 << 26  # bytes: a parser that read more is dropped, it would keep ten times as much memory
_parsers: list[simdjson.Parser] = []


class _Unusual(Exception):
    """The quick path does not vouch for this text."""


@dataclass(frozen=True, slots=True, eq=False)
class RawWaits:
    """The waits of a file: entry i is `line[i]` with the next `count[i]` numbers of `depends_on`."""

    line: np.ndarray  # int64 [n], LineNumber of the wait
    count: np.ndarray  # int64 [n]
    depends_on: np.ndarray  # int64, LineNumbers


@dataclass(frozen=True, slots=True, eq=False)
class RawWave:
    """What a wave file says, in its own numbers."""

    facts: dict[str, Any]  # FACTS that are there, unchecked
    tokens: np.ndarray  # int32 or int64 [n, 5]; its columns are contiguous
    timeline: np.ndarray  # int32 or int64 [n, 2]
    waits: RawWaits | None  # None: the file says nothing, or nothing that can be used
    doubts: tuple[str, ...] = ()  # what was left out, each fit for the end of a sentence


def parse(data: bytes) -> RawWave:
    """Return what the text of a wave file says; ValueError, fit for a sentence, if it is not one."""
    data = data.removeprefix(BOM)
    try:
        return parse_quickly(data)
    except (_Unusual, LookupError, TypeError, ValueError, AttributeError, RuntimeError, MemoryError):
        return parse_exactly(data)


# -- the quick path -----------------------------------------------------------------------------------


def parse_quickly(data: bytes) -> RawWave:
    """Return what simdjson reads; any of half a dozen exceptions if it is not entirely sure."""
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
    texts = _texts(data)
    tokens = _rows(tables.get("instructions"), TOKEN_WIDTH, texts.get("instructions", _NO_TEXT))
    timeline = _rows(tables.get("timeline"), STATE_WIDTH, texts.get("timeline", _NO_TEXT))
    return RawWave(facts, tokens, timeline, _waits(tables.get("waitcnt"), texts.get("waitcnt", _NO_TEXT)))


def _texts(data: bytes) -> dict[str, np.ndarray]:
    """The letters between each table's key and the next quote: `:[[4,6,0,4,1],[8,6,0,4,2]],`."""
    if b"\\" in data:
        raise _Unusual  # without escapes every second quote ends a string
    letters = np.frombuffer(data, dtype=np.uint8)
    texts: dict[str, np.ndarray] = {}
    for begin, end, stop in _strings(data):
        name = _TABLE_OF.get(data[begin:end])
        if name in texts:
            raise _Unusual
        if name is not None:
            texts[name] = letters[end + 1 : stop]
    return texts


def _strings(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(begin, end, next quote) of every string in a text without escapes."""
    quote = data.find(b'"')
    while quote >= 0:
        end = data.find(b'"', quote + 1)
        following = data.find(b'"', end + 1)
        yield quote + 1, end, following if following >= 0 else len(data)
        quote = following


def _rows(array: Any, width: int, letters: np.ndarray) -> np.ndarray:
    if array is None or not len(array):
        return np.zeros((0, width), dtype=np.int64)
    count = len(array)
    flat = np.frombuffer(array.as_buffer(of_type="i"), dtype=np.int64)
    if (
        count >= _SATURATED
        or len(flat) != count * width
        or np.count_nonzero(letters == ord("[")) != count + 1
    ):
        raise _Unusual
    if count > MANY and int(flat.max()) < 1 << 31:
        # Copied to half the size first: the strided copy after it is what costs.
        columns = np.ascontiguousarray(flat.astype(np.int32).reshape(count, width).T)
        if _is_compact(letters, columns):
            return columns.T
    if not _is_regular(_without_spaces(letters), count, width):
        raise _Unusual
    return np.ascontiguousarray(_limited(flat).reshape(count, width).T).T


def _is_compact(letters: np.ndarray, columns: np.ndarray) -> bool:
    """Whether each row ends where a row of these numbers ends in a text without spaces.

    With as many brackets as rows, that leaves no room for a row of another length, nor for a number that
    is negative or was too long for 32 bits: its text is longer than the digits counted here.
    """
    width, count = columns.shape
    length = np.full(count, width + 2, dtype=np.uint8)  # brackets and commas
    for column in columns:
        length += np.take(_DIGIT_COUNT, column, mode="clip")
        power, high = len(_DIGIT_COUNT), int(column.max())
        while power <= high:
            length += column >= power
            power *= 10
    ends = np.cumsum(length, dtype=np.int64)  # the text begins with `:[`
    return int(ends[-1]) < len(letters) and bool((letters[ends] == ord("]")).all())


def _limited(numbers: np.ndarray) -> np.ndarray:
    if numbers.size and not (numbers.min() > -LIMIT and numbers.max() < LIMIT):
        raise _Unusual
    return numbers


def _without_spaces(letters: np.ndarray) -> np.ndarray:
    is_ink = letters > ord(" ")  # between the numbers of a table JSON allows no other letters below
    return letters if is_ink.all() else letters[is_ink]


def _is_regular(letters: np.ndarray, count: int, width: int) -> bool:
    """Whether `count` rows with `count * width` numbers have `width` each: every width-th comma parts two.

    The text has `count + 1` opening brackets: one of the table, one of the first row, and one after each of
    those commas.  None is left with which a row could hold another, or stand beside a bare number.
    """
    commas = np.flatnonzero(letters == ord(","))
    ends = commas[width - 1 : width * (count - 1) : width]
    return (
        len(ends) == count - 1
        and bytes(letters[:3]) == b":[["
        and bool((letters[ends - 1] == ord("]")).all())
        and bool((letters[ends + 1] == ord("[")).all())
    )


def _waits(array: Any, letters: np.ndarray) -> RawWaits | None:
    if array is None:
        return None
    if not len(array):
        return RawWaits(_NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS)
    flat = _limited(np.frombuffer(array.as_buffer(of_type="i"), dtype=np.int64))
    if (entries := len(array)) > MANY and (quick := _quick_waits(flat, entries, letters)) is not None:
        return quick
    counts = _wait_counts(_shape(letters))
    size = 1 + 2 * counts
    if int(size.sum()) != len(flat):
        raise _Unusual  # without digits, `[4,[1]]` looks like `[4,[]]`
    first = borders(size)[:-1]
    is_line = np.zeros(len(flat), dtype=bool)
    is_line[first] = True
    return RawWaits(flat[first], counts, flat[~is_line][::2])


def _quick_waits(flat: np.ndarray, entries: int, letters: np.ndarray) -> RawWaits | None:
    """The waits of a long list as writers write it, None if it is not: the only zeros stand after producers.

    `[line, [[producer, 0], …]]` is flat `line, producer, 0, producer, 0, …`, so a number that is not 0 and
    not before a 0 is a line.  The number of brackets must agree as well.
    """
    zero = flat == 0
    producers = int(np.count_nonzero(zero))
    brackets = int(np.count_nonzero(letters == ord("[")))
    if len(flat) != entries + 2 * producers or brackets != 1 + 2 * entries + producers or zero[:2].any():
        return None
    is_line = ~zero
    is_line[:-1] &= ~zero[1:]
    first = np.flatnonzero(is_line)
    if len(first) != entries or first[0] != 0 or (zero[1:] & zero[:-1]).any():
        return None
    counts = (np.diff(first, append=len(flat)) - 1) >> 1
    numbers = counts.tolist()
    if 2 * producers != int((2 * counts).sum()) or not 0 < min(numbers) <= max(numbers) < len(_WAIT_TEXTS):
        return None
    if _shape(letters) != _shape_of(numbers):
        return None  # as many brackets as there should be, but elsewhere
    return RawWaits(flat[first], counts, flat[np.flatnonzero(zero) - 1])


def _shape(letters: np.ndarray) -> bytes:
    """The text of a table without digits, and without what stands after it."""
    return letters.tobytes().translate(None, _DIGITS).rstrip(b"},")


def _shape_of(counts: list[int]) -> bytes:
    """The shape of waits with so many producers each."""
    return b":[" + b",".join([_WAIT_TEXTS[number] for number in counts]) + b"]"


def _wait_counts(shape: bytes) -> np.ndarray:
    """Producers of each entry, from the text of all entries without digits: `:[[,[[,],[,]]],[,[[,]]]]`."""
    letters = np.frombuffer(shape, dtype=np.uint8)
    comma, bracket = letters == ord(","), letters == ord("[")
    opening = np.flatnonzero(bracket[:-2] & comma[1:-1] & bracket[2:])
    # An entry is as long as `[,[` `]]` and a comma or bracket, and 4 for each producer but 3 for the last.
    stop = np.append(opening[1:], len(letters))
    counts = (stop - opening - 5) // 4
    numbers = counts.tolist()
    if max(numbers, default=0) >= len(_WAIT_TEXTS) or min(numbers, default=0) < 0:
        raise _Unusual
    if shape != _shape_of(numbers):
        raise _Unusual
    return counts


# -- the exact path -----------------------------------------------------------------------------------


def parse_exactly(data: bytes) -> RawWave:
    """Return what orjson reads; ValueError, fit for a sentence, if it is not a wave with instructions."""
    wave = _wave_object(data.removeprefix(BOM))
    tables = {name: wave.get(name) for name in _TABLES}
    doubts: list[str] = []
    try:
        timeline = _table(tables, "timeline", STATE_WIDTH)
    except ValueError as error:
        timeline = np.zeros((0, STATE_WIDTH), dtype=np.int64)
        doubts.append(f"{error}: the wave has no states")
    try:
        waits = _exact_waits(tables["waitcnt"])
    except ValueError as error:
        waits = None
        doubts.append(f"{error}: what it waited for is worked out instead")
    tokens = _table(tables, "instructions", TOKEN_WIDTH)
    facts = {name: wave[name] for name in FACTS if name in wave}
    return RawWave(facts, tokens, timeline, waits, tuple(doubts))


def _wave_object(data: bytes) -> dict[str, Any]:
    if not data.strip():
        raise ValueError("it is empty")
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not JSON, or cut off (line {error.lineno}, column {error.colno})") from error
    wave = document.get("wave") if isinstance(document, dict) else None
    if not isinstance(wave, dict):
        raise ValueError("it does not describe a wave")
    return wave


def _table(tables: dict[str, Any], name: str, width: int) -> np.ndarray:
    try:
        return int_table(tables[name], width)
    except ValueError as error:
        raise ValueError(f"its {name} are not rows of {width} whole numbers ({error})") from error


def _exact_waits(entries: object) -> RawWaits | None:
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise ValueError("its waitcnt is not a list of waits and producers")
    try:
        lines = int_column([line for line, _ in entries])
        pairs = [int_table(depends, 2)[:, 0] for _, depends in entries]
    except (TypeError, ValueError) as error:
        raise ValueError(f"its waitcnt is not a list of waits and producers ({error})") from error
    counts = np.array([len(pair) for pair in pairs], dtype=np.int64)
    return RawWaits(lines, counts, np.concatenate([*pairs, np.zeros(0, dtype=np.int64)]))
