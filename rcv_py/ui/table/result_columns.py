"""A result as table columns of the window, with titles, tooltips and texts of its fields."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.text import DASH, cells, translated
from rcv_py.model.trace import Trace
from rcv_py.results.field import Field, ShownIn
from rcv_py.results.places import with_short_sources
from rcv_py.results.table import DictionaryColumn, ResultTable
from rcv_py.ui.table.table_model import Column

CHAR_PX = 7.2  # of a column before the view knows its font
PAD_PX = 12
BAR_PX = 120


def result_columns(table: ResultTable, trace: Trace) -> tuple[Column, ...]:
    """Return the fields that the window shows; sorting and export use plain values."""
    return plain_columns(with_short_sources(table, trace))


def plain_columns(table: ResultTable) -> tuple[Column, ...]:
    """Return the fields that the window shows, for a table without a capture."""
    return tuple(_column(table, field) for field in table.fields(ShownIn.WINDOW))


def with_bar(
    columns: tuple[Column, ...], after: str, of: str, *, title: str = "cost", tip: str
) -> tuple[Column, ...]:
    """Return the columns with a bar column after a given column, sorted as the column `of` is."""
    at = next(i for i, column in enumerate(columns, 1) if column.id == after)
    source = next(column for column in columns if column.id == of)
    bars = replace(source, id="bar", title=title, is_number=True, is_left=True, width=BAR_PX, tip=tip)
    return (*columns[:at], bars, *columns[at:])


def field_column(field: Field, values: Sequence[Any] | np.ndarray, **otherwise: Any) -> Column:
    """Return the column of a field; `otherwise` overrides its display in the window."""
    widest = max(field.kind.width, cells(translated(field.title)))
    column = Column(
        id=field.name, title=field.title, values=values, text=partial(_text, field), tip=field.sentence,
        is_number=field.is_number, width=round(CHAR_PX * widest) + PAD_PX, is_data=field.kind.is_data,
        is_elided_left=field.kind.elastic == "left", sort=field.name if field.is_sortable else "",
    )  # fmt: skip
    return replace(column, **otherwise)


def _column(table: ResultTable, field: Field) -> Column:
    if field.of is not None:
        return field_column(field, tuple(map(field.of, table.records())))
    column = table.columns[field.name]
    if isinstance(column, DictionaryColumn) or column.dtype == object:
        return field_column(field, tuple(table.plain(field.name)))
    return field_column(field, column)


def _text(field: Field, value: Any) -> str:
    if isinstance(value, np.floating) or field.is_unknown:
        return field.text(field.plain(np.atleast_1d(value))[0], DASH)
    return field.text(value.item() if isinstance(value, np.generic) else value, DASH)
