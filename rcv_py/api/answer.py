"""What an analysis answers: a table, what is said about all of it, and the result it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from rcv_py.api.table import Table, flat
from rcv_py.export.tables import Column
from rcv_py.results import table as results
from rcv_py.results.table import Spec

T = TypeVar("T")


class Answer(Table, Generic[T]):
    """A table of the answer's rows.

    `facts` holds what is said about all of it: totals, what was assumed, why there is nothing.  `result` is
    the object of the analysis, with everything that the table leaves out.
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, Column],
        result: T,
        facts: Mapping[str, Any] | None = None,
        spec: Spec | None = None,
    ) -> None:
        super().__init__(columns, name, spec)
        self.result = result
        self.facts: dict[str, Any] = dict(facts or {})

    @classmethod
    def of(cls, table: results.Table, result: T, facts: Mapping[str, Any] | None = None) -> Answer[T]:
        """Return a result; numbers by name become columns `name_key`, those that occur, the largest first."""
        return cls(table.spec.name, flat(table), result, facts, table.spec)
