"""Cache of what is computed once a table, for all parcels of waves."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Table = TypeVar("Table")
Made = TypeVar("Made")


def memoized(make: Callable[[Table], Made]) -> Callable[[Table], Made]:
    """Cache a function's result as long as its argument lives; results must not refer to the argument."""
    known: WeakKeyDictionary[Table, Made] = WeakKeyDictionary()

    @wraps(make)
    def get(table: Table) -> Made:
        if table not in known:
            known[table] = make(table)
        return known[table]

    return get
