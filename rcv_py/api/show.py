"""How a table looks at a prompt and in a notebook: its first rows, numbers grouped by thousands."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import isnan
from typing import Any

import numpy as np

from rcv_py.base.text import count, elide_left, elide_right, plural
from rcv_py.export.meanings import Meaning
from rcv_py.results.table import Words

SHOWN = 10  # rows
WIDEST = 48  # characters of a cell
SCREEN = 160  # characters of a line; columns that do not fit are counted
_ENDS = ("source", "path")  # columns whose texts end with what matters: the file and its line
Columns = Mapping[str, np.ndarray | Words]


def text(name: str, columns: Columns, meanings: Mapping[str, Meaning]) -> str:
    """Return a heading and the first rows, aligned; `name` is that of the table."""
    lines = [_heading(name, columns)]
    cells = _cells(columns, meanings)
    room = SCREEN
    aligned: list[list[str]] = []
    for head, column in cells.items():
        width = max(map(len, [head, *column]))
        room -= width + 2
        if room < 0 and aligned:
            break
        is_left = _is_text(columns[head])
        aligned.append([one.ljust(width) if is_left else one.rjust(width) for one in [head, *column]])
    lines += ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]
    left = list(cells)[len(aligned) :]
    return "\n".join([*lines, *([f"… and {plural(len(left), 'column')}: {', '.join(left)}"] if left else [])])


def html(name: str, columns: Columns, meanings: Mapping[str, Meaning]) -> str:
    """Return a table element; a column's meaning is shown where the mouse rests."""
    tips = {head: " ".join(filter(None, reversed(meanings[head]))) for head in columns}
    heads = "".join(
        f'<th title="{escape(tip, quote=True)}">{escape(head)}</th>' for head, tip in tips.items()
    )
    styles = ["" if _is_text(column) else ' style="text-align:right"' for column in columns.values()]
    body = "".join(
        "<tr>"
        + "".join(f"<td{style}>{escape(cell)}</td>" for style, cell in zip(styles, row, strict=True))
        + "</tr>"
        for row in zip(*_cells(columns, meanings).values(), strict=True)
    )
    return (
        f"<table><caption>{escape(_heading(name, columns))}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _heading(table: str, columns: Columns) -> str:
    rows = max(map(len, columns.values()), default=0)
    more = f", the first {SHOWN}" if rows > SHOWN else ""
    name = f"{table}: " if table else ""
    return f"{name}{plural(rows, 'row')} of {plural(len(columns), 'column')}{more}"


def _cells(columns: Columns, meanings: Mapping[str, Meaning]) -> dict[str, list[str]]:
    """The first rows of each column as people read them."""
    found = {}
    for name, column in columns.items():
        first = column[:SHOWN]
        values = (first.values() if isinstance(first, Words) else first).tolist()
        # Only what has a unit is grouped, since lines and places are names.
        found[name] = [_cell(name, value, bool(meanings[name].unit)) for value in values]
    return found


def _cell(name: str, value: Any, is_grouped: bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, int):
        return count(value) if is_grouped else str(value)
    flat = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return elide_left(flat, WIDEST) if name.endswith(_ENDS) else elide_right(flat, WIDEST)


def _is_text(column: np.ndarray | Words) -> bool:
    return isinstance(column, Words) or column.dtype == object
