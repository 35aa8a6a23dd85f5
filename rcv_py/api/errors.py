"""Errors of the API; all are RcvError, and their text is a sentence.

RcvError
├── UsageError
│   ├── NoColumn         a table has no column of that name (a KeyError too)
│   ├── NoRow            a table has fewer rows (an IndexError too)
│   ├── UnequalColumns   columns of a table, or a mask and its rows, differ in length
│   └── TooLarge         a table would need more memory than may be used
└── MissingPackage       pandas or pyarrow is not installed (an ImportError too)
"""

from collections.abc import Sequence
from difflib import get_close_matches

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import Message, byte_size, count


class NoColumn(UsageError, KeyError):
    """A table has no column of that name."""

    def __init__(self, name: object, columns: Sequence[str]) -> None:
        near = get_close_matches(str(name), columns, 1)
        hint = Message("Did you mean {0}?", *near) if near else Message("There are: {0}.", ", ".join(columns))
        super().__init__(Message("The table has no column {0}.", name), hint=hint)

    __str__ = Exception.__str__  # a KeyError would show the sentence in quotes


class NoRow(UsageError, IndexError):
    """A table has fewer rows."""

    def __init__(self, number: int, rows: int) -> None:
        hint = Message("It has {0}, counted from 0.", count(rows))
        super().__init__(Message("The table has no row {0}.", number), hint=hint)


class UnequalColumns(UsageError):
    """Columns of a table, or a mask and its rows, differ in length."""

    def __init__(self, name: str, lengths: Sequence[int]) -> None:
        which, sizes = f" ({name})" if name else "", ", ".join(map(count, lengths))
        text = Message("What belongs to one table{0} has different lengths: {1}.", which, sizes)
        super().__init__(text, hint="Make a mask from columns of the very table it is for.")


class TooLarge(UsageError):
    """A table would need more memory than may be used."""

    def __init__(self, name: str, limit: float) -> None:
        text = Message("The table {0} would take more than the {1} that may be used.", name, byte_size(limit))
        hint = 'Choose waves, go through it with parts("{0}"), or open the capture with more memory.'
        super().__init__(text, hint=Message(hint, name))


class MissingPackage(RcvError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        text = Message("{0} needs the package {1}, which is not installed.", what, package)
        hint = 'Install it with `pip install {0}`, or rcv with `pip install "rcv-py[{1}]"`.'
        super().__init__(text, hint=Message(hint, package, extra))
