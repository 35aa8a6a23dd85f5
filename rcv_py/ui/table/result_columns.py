"""A result as columns of a table of the window: titles, tooltips and texts are those of its fields."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rcv_py.base.text import DASH
from rcv_py.model.trace import Trace
from rcv_py.results.field import At, Field
from rcv_py.results.places import with_short_sources
from rcv_py.results.table import Spec, Table, Words
from rcv_py.ui.table.table_model import Column

CHAR_PX = 7.2  # of a column before the view knows its font
PAD_PX = 12


def result_columns(table: Table, trace: Trace) -> tuple[Column, ...]:
    """Return the fields that the window shows; values are the plain ones, which sorting and export use."""
    shown = with_short_sources(table, trace)
    return tuple(_column(shown, field) for field in shown.fields(At.WINDOW))


def sort_names(spec: Spec) -> dict[str, str]:
    """Return the name that `--sort` takes for each column of the window that it can sort by."""
    return {field.name: field.name for field in spec.at(At.WINDOW) if field.is_sortable}


def _column(table: Table, field: Field) -> Column:
    values: np.ndarray | tuple[Any, ...]
    if field.of is not None:
        values = tuple(map(field.of, table.records()))
    else:
        column = table.columns[field.name]
        is_text = isinstance(column, Words) or column.dtype == object
        values = tuple(table.plain(field.name)) if is_text else column  # type: ignore[assignment]
    return Column(
        field.name,
        field.title,
        values,
        partial(_text, field),
        is_number=field.is_number,
        width=round(CHAR_PX * max(field.kind.width, len(field.title))) + PAD_PX,
        is_elided_left=field.elastic == "left",
        tip=field.sentence,
    )


def _text(field: Field, value: Any) -> str:
    if isinstance(value, np.floating) or field.is_unknown:
        return field.text(field.plain(np.atleast_1d(value))[0], DASH)
    return field.text(value.item() if isinstance(value, np.generic) else value, DASH)
