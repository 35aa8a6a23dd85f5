"""How a table looks at a prompt and in a notebook: its first rows, numbers grouped by thousands."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from rcv_py.base.text import count, elide_right, plural

if TYPE_CHECKING:
    from rcv_py.api.table import Table

SHOWN = 10  # rows
WIDEST = 48  # characters of a cell
SCREEN = 160  # characters of a line; columns that do not fit are counted


def text(table: Table) -> str:
    """Return a heading and the first rows, aligned."""
    lines = _heading(table)
    if not table.columns:
        return lines
    names, left = _fitting(table)
    lines += "".join(f"\n{line}" for line in _aligned(table, names))
    if left:
        lines += f"\n… and {plural(left, 'column')}: {', '.join(table.columns[len(names) :])}"
    return lines


def html(table: Table) -> str:
    """Return a table element; a column's meaning is shown where the mouse rests."""
    means = table.meanings
    heads = "".join(
        f'<th title="{escape(" ".join(filter(None, (means[name].text, means[name].unit))), quote=True)}">'
        f"{escape(name)}</th>"
        for name in table
    )
    body = "".join(
        "<tr>" + "".join(_html_cell(table, name, value) for name, value in row.items()) + "</tr>"
        for row in table.head(SHOWN).rows()
    )
    return (
        f"<table><caption>{escape(_heading(table))}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _heading(table: Table) -> str:
    more = f", the first {SHOWN}" if len(table) > SHOWN else ""
    name = f"{table.name}: " if table.name else ""
    return f"{name}{plural(len(table), 'row')} of {plural(len(table.columns), 'column')}{more}"


def _html_cell(table: Table, name: str, value: Any) -> str:
    align = "" if isinstance(value, str) else ' style="text-align:right"'
    return f"<td{align}>{escape(_cell(table, name, value))}</td>"


def _cell(table: Table, name: str, value: Any) -> str:
    """A value for people: only what has a unit is grouped, since lines and places are names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, int):
        return count(value) if table.meanings[name].unit else str(value)
    flat = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return elide_right(flat, WIDEST)


def _cells(table: Table) -> dict[str, list[str]]:
    columns = table.head(SHOWN).to_dict()
    return {name: [_cell(table, name, one) for one in values] for name, values in columns.items()}


def _fitting(table: Table) -> tuple[list[str], int]:
    room = SCREEN
    names: list[str] = []
    for name, cells in _cells(table).items():
        room -= max(map(len, [name, *cells])) + 2
        if room < 0 and names:
            break
        names.append(name)
    return names, len(table.columns) - len(names)


def _aligned(table: Table, names: list[str]) -> list[str]:
    cells = _cells(table)
    first = table.head(SHOWN).to_dict()
    padded = []
    for name in names:
        width = max(map(len, [name, *cells[name]]))
        is_text = all(isinstance(one, str) for one in first[name])
        padded.append([one.ljust(width) if is_text else one.rjust(width) for one in [name, *cells[name]]])
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
