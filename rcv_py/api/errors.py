"""Errors of the API; all are RcvError, and their text is a sentence.

RcvError
├── UsageError
│   ├── NoColumn         a table has no column of that name (a KeyError too)
│   ├── NoRow            a table has fewer rows (an IndexError too)
│   ├── UnequalColumns   columns of a table, or a mask and its rows, differ in length
│   └── TooLarge         a table would need more memory than may be used
└── MissingPackage       pandas or pyarrow is not installed (an ImportError too)
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import byte_size, count


class NoColumn(UsageError, KeyError):
    """A table has no column of that name."""

    def __init__(self, name: object, columns: Sequence[str]) -> None:
        near = get_close_matches(str(name), columns, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(columns)}."
        super().__init__(f"The table has no column {name}.", hint=hint)

    __str__ = Exception.__str__  # a KeyError would show the sentence in quotes


class NoRow(UsageError, IndexError):
    """A table has fewer rows."""

    def __init__(self, number: int, rows: int) -> None:
        super().__init__(f"The table has no row {number}.", hint=f"It has {count(rows)}, counted from 0.")


class UnequalColumns(UsageError):
    """Columns of a table, or a mask and its rows, differ in length."""

    def __init__(self, name: str, lengths: Sequence[int]) -> None:
        super().__init__(
            f"What belongs to one table{f' ({name})' if name else ''} has different lengths: "
            f"{', '.join(map(count, lengths))}.",
            hint="Make a mask from columns of the very table it is for.",
        )


class TooLarge(UsageError):
    """A table would need more memory than may be used."""

    def __init__(self, name: str, limit: float) -> None:
        super().__init__(
            f"The table {name} would take more than the {byte_size(limit)} that may be used.",
            hint=f'Choose waves, go through it with parts("{name}"), or open the capture with more memory.',
        )


class MissingPackage(RcvError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed.",
            hint=f'Install it with `pip install {package}`, or rcv with `pip install "rcv-py[{extra}]"`.',
        )
