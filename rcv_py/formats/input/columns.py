"""Convert numbers of a file to compact, read-only columns, or refuse: no value wraps or is truncated.

A refusal is a ValueError whose text fits after "file.json is damaged: " in a sentence.  Rows of numbers, and
dictionaries with numeric keys, are read tolerantly: unusable parts are left out and counted.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message, elide_right, plural
from rcv_py.formats.input.limits import NAME_LETTERS

LIMIT = 1 << 60  # cycles: 18 years at 2 GHz; sums of two such numbers still fit into 64 bits
_BAD = -LIMIT


def frozen(column: np.ndarray) -> np.ndarray:
    """Return the column itself, made read-only."""
    column.flags.writeable = False
    return column


def bounds(column: np.ndarray) -> tuple[int, int]:
    """Smallest and largest value; (0, 0) of an empty column."""
    return (int(column.min()), int(column.max())) if len(column) else (0, 0)


def holds(dtype: Any, low: int, high: int) -> bool:
    """Whether an integer dtype can hold all numbers from `low` to `high`."""
    info = np.iinfo(dtype)
    return bool(info.min <= low and high <= info.max)


def fit(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Return integer `values` as a new read-only column of `dtype`; ValueError if one does not fit."""
    low, high = bounds(values)
    if not holds(dtype, low, high):
        odd = low if low < 0 else high
        raise ValueError(Message("a number lies outside {0}: {1}", np.dtype(dtype).name, odd))
    return frozen(values.astype(dtype))


def clipped(values: np.ndarray, dtype: Any, low: int = -1) -> np.ndarray:
    """Return integer `values` as a new read-only column of `dtype`, clipped to its range and to `low`."""
    info = np.iinfo(dtype)
    return frozen(np.clip(values, max(low, info.min), info.max).astype(dtype))


def tight(values: np.ndarray) -> np.ndarray:
    """Return `values` as a read-only column: int32, or int64 if it must be; a new one unless it is int32."""
    if values.dtype == np.int32:
        return frozen(values)
    return fit(values, np.int32 if holds(np.int32, *bounds(values)) else np.int64)


def whole_number(value: object, default: int) -> int:
    """Return a number of a file that should be whole and below LIMIT; `default` for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -LIMIT < value < LIMIT:
        return value
    return default


def number_column(values: Sequence[object], default: int) -> np.ndarray:
    """Return the `whole_number` of each value as int64 [n]."""
    kinds = set(map(type, values))
    if kinds == {type(None)}:  # the file has no such column
        return np.full(len(values), default, dtype=np.int64)
    if kinds <= {int}:
        with suppress(OverflowError):
            column = np.array(values, dtype=np.int64)
            low, high = bounds(column)
            if low > -LIMIT and high < LIMIT:
                return column
    return np.array([whole_number(value, default) for value in values], dtype=np.int64)


def int_table(rows: object, width: int) -> np.ndarray:
    """Return rows of exactly `width` whole numbers as int64 [n, width]; ValueError for anything else.

    None counts as no rows, and 4.0 as 4; true, 4.5, "4" and numbers of 2^60 and more are refused.
    """
    if rows is None:
        return np.zeros((0, width), dtype=np.int64)
    if not isinstance(rows, Sequence) or not all(isinstance(row, list) and len(row) == width for row in rows):
        raise ValueError(Message("a row does not have {0} columns", width))
    return int_column([value for row in rows for value in row]).reshape(len(rows), width)


def int_column(values: list[Any]) -> np.ndarray:
    """Return whole numbers as int64 [n]; ValueError for anything else."""
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        raise ValueError("a value is not a number")
    if float in kinds and any(type(value) is float and not value.is_integer() for value in values):
        raise ValueError("a number is infinite or not whole")
    try:
        column = np.array(list(map(int, values)) if float in kinds else values, dtype=np.int64)
    except OverflowError:
        raise ValueError("a number is too large") from None
    low, high = bounds(column)
    if low <= -LIMIT or high >= LIMIT:
        raise ValueError("a number is too large")
    return column


def number_rows(rows: object, min_columns: int, width: int, default: int = -1) -> tuple[np.ndarray, int]:
    """Return the rows with at least `min_columns` whole numbers, and the number of rows left out.

    The table is int64 [n, width]; columns beyond `width` are ignored, absent ones hold `default`; true is 1.
    """
    listed = list_of(rows)
    usable = [row[:width] for row in listed if isinstance(row, list) and len(row) >= min_columns]
    table = np.full((len(usable), width), default, dtype=np.int64)
    for place, values in enumerate(zip_longest(*usable, fillvalue=default)):
        flags = bool in set(map(type, values))
        plain = [int(value) if isinstance(value, bool) else value for value in values] if flags else values
        table[:, place] = number_column(plain, _BAD)
    table = table[(table != _BAD).all(axis=1)]
    return table, len(listed) - len(table) + (rows is not None and not isinstance(rows, list))


def ordered(table: np.ndarray, schema: object, wanted: tuple[str, ...]) -> np.ndarray:
    """Return the wanted columns of a table by the names in its schema, else by position."""
    names = [name for name in list_of(schema) if isinstance(name, str)]
    if not set(wanted) <= set(names[: table.shape[1]]):
        return table[:, : len(wanted)]
    return table[:, [names.index(name) for name in wanted]]


def number_key(key: str, limit: int = 1 << 15) -> int | None:
    """Return a decimal key such as "12", or None if it is not a number below `limit`."""
    if key.isascii() and key.isdigit() and len(key) < 10 and int(key) < limit:
        return int(key)
    return None


def numbered(table: object, limit: int = 1 << 15) -> Iterator[tuple[int, object]]:
    """Yield (number, value) of a dictionary in the order of its numeric keys; skip other keys."""
    pairs = ((number_key(key, limit), value) for key, value in table_of(table).items())
    yield from sorted(((key, value) for key, value in pairs if key is not None), key=lambda pair: pair[0])


def list_of(value: object) -> list[Any]:
    """Return a list of a file; an empty one for anything else."""
    return value if isinstance(value, list) else []


def table_of(value: object) -> dict[str, Any]:
    """Return a dictionary of a file; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """Return a string of a file, cut to the length of names; "" for anything else."""
    return elide_right(value, NAME_LETTERS) if isinstance(value, str) else ""


def report_skipped(problems: Problems, name: str, count: int, what: str, example: object = None) -> None:
    """Add a Problem saying that `count` rows of a file were left out; nothing if there were none."""
    if count:
        rows = plural(count, f"unusable {what}")
        shown = "" if example is None else Message(", the first is {0}", elide_right(repr(example), 60))
        text = Message("{0} has {1}{2}; the rest is shown.", name, rows, shown)
        problems.warn(name, text, "Record the trace again if something is missing.")
