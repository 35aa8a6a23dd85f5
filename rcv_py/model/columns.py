"""Records and NamedTuples whose fields are columns: selection of rows, and concatenation.

Every array field must have one entry a row of the table; other fields are copied from the first table.
`memoized` keeps what is computed once a table.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from msgspec.structs import replace

from rcv_py.base.record import Record

Table = TypeVar("Table")  # a Record or a NamedTuple of columns
Made = TypeVar("Made")


class ColumnTable(Record):
    """Base of records whose length is the length of their first column."""

    def __len__(self) -> int:
        return len(getattr(self, self.__struct_fields__[0]))

    @classmethod
    def empty(cls, **other: Any) -> Self:
        """Return a table without rows; its columns are int64, except `other` types, columns and values."""
        columns: dict[str, Any] = {
            name: np.zeros(0, kind) for name, kind in other.items() if isinstance(kind, type)
        }
        none = dict.fromkeys(cls.__struct_fields__, np.zeros(0, np.int64))
        return cls(**{**none, **other, **columns})

    def at(self, rows: np.ndarray | slice) -> Self:
        """Return the table with the rows chosen by a mask, by numbers or by a slice, in that order."""
        return replace(self, **{name: column[rows] for name, column in _arrays(self).items()})


def joined(tables: Sequence[Table]) -> Table:
    """Concatenate the rows of all tables; ValueError if there is no table."""
    if not tables:
        raise ValueError("no table to join")
    parts = [_arrays(table) for table in tables]
    return _with(tables[0], {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _with(table: Any, columns: dict[str, np.ndarray]) -> Any:
    return table._replace(**columns) if hasattr(table, "_fields") else replace(table, **columns)


def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record or a NamedTuple."""
    names: tuple[str, ...] = kind._fields if hasattr(kind, "_fields") else kind.__struct_fields__
    return names


def _arrays(table: Any) -> dict[str, np.ndarray]:
    kind: Any = type(table)
    columns = {name: getattr(table, name) for name in field_names(kind)}
    return {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}


def memoized(make: Callable[[Table], Made]) -> Callable[[Table], Made]:
    """Cache a function's result as long as its argument lives; results must not refer to the argument.

    Of threads that ask for the same result one makes it, and the others wait.
    """
    known: WeakKeyDictionary[Table, Made] = WeakKeyDictionary()
    locks: WeakKeyDictionary[Table, RLock] = WeakKeyDictionary()

    @wraps(make)
    def get(table: Table) -> Made:
        with locks.setdefault(table, RLock()):
            if table not in known:
                known[table] = make(table)
            return known[table]

    return get
