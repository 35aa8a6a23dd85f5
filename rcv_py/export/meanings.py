"""What columns are: as their result declares them; here those of tables that no result declares yet.

A column means the same in every table, unless a row `table.column` says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

from rcv_py.results.table import Spec


class Meaning(NamedTuple):
    """Unit and meaning of a column; numbers without a unit are names of places."""

    unit: str
    text: str


_ROWS = """
text | | the instruction
time | cycle | when it was
name | | name
value | | the value
severity | | info, warning or error
where | | what it is about
hint | | what to do
path | | path as the debug information spells it
has_text | | whether the capture holds a copy
note | | why it does not
column | | name of the column
type | | type of the values
unit | | unit of the values
meaning | | what it is
rows | rows | how many rows it stands for
section | | what the number belongs to
of | | what it is a part of
cycle | cycle | from when on
sources.lines | lines | lines of the copy, 0 if there is none
summary.value | | the value as text
occupancy_curves.waves | waves | resident until the next row
"""

MEANINGS: dict[str, Meaning] = {
    name: Meaning(unit, text)
    for name, unit, text in (
        (part.strip() for part in row.split("|", 2)) for row in _ROWS.strip().splitlines()
    )
}


def meaning(table: str, column: str, spec: Spec | None = None) -> Meaning:
    """Return what a column of a table is; empty texts if nothing declares it."""
    for field in () if spec is None else spec.fields:
        if field.name == column:
            return Meaning(field.kind.unit, field.meaning)
        if field.kind.names and column.startswith(f"{field.name}_"):
            key = column.removeprefix(f"{field.name}_")
            return Meaning(field.kind.unit, f"{field.meaning}: {key}")
    return MEANINGS.get(f"{table}.{column}") or MEANINGS.get(column) or Meaning("", "")
