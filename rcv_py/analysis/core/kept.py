"""What is made of a table once, however many parcels of waves need it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Table = TypeVar("Table")
Made = TypeVar("Made")


def kept(make: Callable[[Table], Made]) -> Callable[[Table], Made]:
    """Return the function, which keeps an answer as long as its argument lives; answers must not hold it."""
    known: WeakKeyDictionary[Table, Made] = WeakKeyDictionary()

    @wraps(make)
    def get(table: Table) -> Made:
        if table not in known:
            known[table] = make(table)
        return known[table]

    return get
