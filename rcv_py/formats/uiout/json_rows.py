"""Read two forms of JSON data: rows of numbers, and dictionaries with numeric keys.

Both are read tolerantly: unusable parts are left out and counted, the rest is kept.
"""

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message, elide_right, plural
from rcv_py.formats.input.columns import LIMIT, number_column
from rcv_py.formats.input.limits import NAME_LETTERS

_BAD = -LIMIT


def number_rows(rows: object, min_columns: int, width: int, default: int = -1) -> tuple[np.ndarray, int]:
    """Return the rows with at least `min_columns` whole numbers, and the number of rows left out.

    The table is int64 [n, width]; columns beyond `width` are ignored, absent ones hold `default`; true is 1.
    """
    listed = rows if isinstance(rows, list) else []
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
    """Yield (number, value) of a dictionary in the order of its numeric keys; skip other keys."""
    if not isinstance(table, dict):
        return
    pairs = ((number_key(key, limit), value) for key, value in table.items())
    yield from sorted(((key, value) for key, value in pairs if key is not None), key=lambda pair: pair[0])


def text_of(value: object, default: str = "") -> str:
    """Return a string of a file, cut to the length of names; `default` for anything else."""
    return elide_right(value, NAME_LETTERS) if isinstance(value, str) else default


def report_skipped(problems: Problems, name: str, count: int, what: str, example: object = None) -> None:
    """Add a Problem saying that `count` rows of a file were left out; nothing if there were none."""
    if count:
        shown = "" if example is None else Message(", the first is {0}", elide_right(repr(example), 60))
        problems.warn(
            name,
            Message("{0} has {1}{2}; the rest is shown.", name, plural(count, f"unusable {what}"), shown),
            "Record the trace again if something is missing.",
        )
