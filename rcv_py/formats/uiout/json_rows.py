"""Forms found in the JSON files: rows of numbers, and dictionaries whose keys are numbers.

Both are read tolerantly: what is unusable is left out and counted, the rest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import elide_right, plural
from rcv_py.formats.input.columns import LIMIT, whole_number
from rcv_py.formats.input.limits import NAME_LETTERS

_BAD = -LIMIT


def number_rows(rows: object, least: int, width: int, default: int = -1) -> tuple[np.ndarray, int]:
    """Return the rows that have at least `least` whole numbers, and how many rows were left out.

    The table is int64 [n, width]; columns beyond `width` are ignored, absent ones hold `default`.
    """
    if not isinstance(rows, list) or not rows:
        return np.zeros((0, width), dtype=np.int64), int(rows is not None and not isinstance(rows, list))
    table = _uniform(rows)
    if table is None or table.shape[1] < least:
        return _row_by_row(rows, least, width, default)
    result = np.full((len(table), width), default, dtype=np.int64)
    shared = min(width, table.shape[1])
    result[:, :shared] = table[:, :shared]
    return result, 0


def _uniform(rows: list[Any]) -> np.ndarray | None:
    """The usual case without a Python loop: lists of equal length that hold nothing but small ints."""
    if set(map(type, rows)) != {list} or len(widths := set(map(len, rows))) != 1:
        return None
    if not set(map(type, chain.from_iterable(rows))) <= {int}:
        return None
    width = widths.pop()
    try:
        table = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=len(rows) * width)
    except OverflowError:
        return None
    if table.size and (table.min() <= -LIMIT or table.max() >= LIMIT):
        return None
    return table.reshape(len(rows), width)


def _row_by_row(rows: list[Any], least: int, width: int, default: int) -> tuple[np.ndarray, int]:
    kept = []
    for row in rows:
        if not isinstance(row, list) or len(row) < least:
            continue
        numbers = [_number(value) for value in row[:width]]
        if _BAD not in numbers:
            kept.append(numbers + [default] * (width - len(numbers)))
    return np.array(kept, dtype=np.int64).reshape(len(kept), width), len(rows) - len(kept)


def _number(value: object) -> int:
    return int(value) if isinstance(value, bool) else whole_number(value, _BAD)


def ordered(table: np.ndarray, schema: object, wanted: tuple[str, ...]) -> np.ndarray:
    """Return the wanted columns of a table by the names in its schema, else by position."""
    names = [name for name in schema if isinstance(name, str)] if isinstance(schema, list) else []
    if not set(wanted) <= set(names[: table.shape[1]]):
        return table[:, : len(wanted)]
    return table[:, [names.index(name) for name in wanted]]


def number_key(key: str, limit: int = 1 << 15) -> int | None:
    """Return a decimal key such as "12", or None if it is no number below `limit`."""
    if key.isascii() and key.isdigit() and len(key) < 10 and int(key) < limit:
        return int(key)
    return None


def numbered(table: object, limit: int = 1 << 15) -> Iterator[tuple[int, object]]:
    """Yield (number, value) of a dictionary in the order of its numeric keys; other keys are passed over."""
    if not isinstance(table, dict):
        return
    pairs = [
        (number, value) for key, value in table.items() if (number := number_key(key, limit)) is not None
    ]
    yield from sorted(pairs, key=lambda pair: pair[0])


def text_of(value: object, default: str = "") -> str:
    """Return a string of a file, not longer than any name is; `default` for anything else."""
    return elide_right(value, NAME_LETTERS) if isinstance(value, str) else default


def tell_skipped(problems: Problems, name: str, count: int, what: str, example: object = None) -> None:
    """Add a Problem saying that `count` rows of a file were left out; nothing if there were none."""
    if count:
        shown = "" if example is None else f", the first is {elide_right(repr(example), 60)}"
        problems.warn(
            name,
            f"{name} has {plural(count, f'unusable {what}')}{shown}; the rest is shown.",
            "Record the trace again if something is missing.",
        )
