"""What an analysis answers: a table, what is said about all of it, and the result it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from rcv_py.api.table import Table
from rcv_py.export.tables import Column
from rcv_py.results import table as results
from rcv_py.results.field import At
from rcv_py.results.table import Words

T = TypeVar("T")
_PLACES = frozenset(("line", "parent", "line_a", "line_b", "top_line"))  # none of them is -1


class Answer(Table, Generic[T]):
    """A table of the answer's rows.

    `facts` holds what is said about all of it: totals, what was assumed, why there is nothing.  `result` is
    the object of the analysis, with everything that the table leaves out.
    """

    def __init__(
        self, name: str, columns: Mapping[str, Column], result: T, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(columns, name)
        self.result = result
        self.facts: dict[str, Any] = dict(facts or {})

    @classmethod
    def of(cls, table: results.Table, result: T, facts: Mapping[str, Any] | None = None) -> Answer[T]:
        """Return a result; numbers by name become columns `name_key`, those that occur, the largest first."""
        answer = cls(table.spec.name, _flat(table), result, facts)
        answer._spec = table.spec
        return answer


def _flat(table: results.Table) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for field in table.fields(At.DATA):
        if field.kind.names:
            found |= table.by_key(field, f"{field.name}_")
            continue
        column = table.columns[field.name]
        if field.kind.document is not None:
            objects = column.values() if isinstance(column, Words) else column
            found[field.name] = [*map(field.kind.text, objects)]
        elif field.is_nan and isinstance(column, np.ndarray) and not np.isnan(column).any():
            found[field.name] = column.astype(np.int64)  # nothing is unknown here
        else:
            found[field.name] = column
    return found


def by_row(names: Iterable[str], rows: Sequence[Sequence[Any]]) -> dict[str, Column]:
    """Return columns of rows of plain values; None is nan among numbers, -1 where a line is meant."""
    names = tuple(names)
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return {name: _column(name, values) for name, values in zip(names, columns, strict=True)}


def by_name(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, Column]:
    """Return columns of rows that are dictionaries."""
    return {name: _column(name, [row[name] for row in rows]) for name in names}


def _column(name: str, values: Sequence[Any]) -> Column:
    if any(isinstance(value, str) for value in values):
        return ["" if value is None else str(value) for value in values]
    if name in _PLACES:
        return np.array([-1 if value is None else value for value in values], dtype=np.int64)
    if any(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values) if values else np.zeros(0, dtype=np.int64)
