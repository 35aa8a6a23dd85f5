"""A result as a table of a report: headings are its fields, and a code row leads to its line."""

from __future__ import annotations

from typing import Any

from rcv_py.export.report.model import Cell, Heading, Table, code, share
from rcv_py.export.report.places import line_anchor
from rcv_py.model.trace import Trace
from rcv_py.results import table as results
from rcv_py.results.field import At, Field
from rcv_py.results.places import with_short_sources
from rcv_py.results.unit import INSTRUCTION, ROW, ROW_OR_NONE, SHARE


def report_table(table: results.Table, trace: Trace, caption: str = "", *, is_folded: bool = False) -> Table:
    """Return the fields that reports show, of all rows of the result."""
    shown = with_short_sources(table, trace)
    fields = shown.fields(At.REPORT)
    headings = tuple(Heading(field.title, field.is_number, field.sentence) for field in fields)
    rows = tuple(tuple(_cell(field, record) for field in fields) for record in shown.records())
    return Table(headings, rows, caption, is_folded)


def _cell(field: Field, record: dict[str, Any]) -> Cell:
    if field.of is not None:
        return Cell(field.of(record))
    value = record[field.name]
    if value is None:
        return Cell("")
    if field.kind is SHARE:
        return share(value, 1.0)
    if field.kind is INSTRUCTION:
        return code(value)
    if field.kind is ROW_OR_NONE and value < 0:
        return Cell("")
    link = line_anchor(value) if field.kind in (ROW, ROW_OR_NONE) else ""
    return Cell(field.text(value), link=link, value=float(value) if field.is_number else None)
