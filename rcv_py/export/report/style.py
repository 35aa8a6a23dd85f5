"""The style of a report page, and the script that sorts its tables and opens folded parts."""

from pathlib import Path

from rcv_py.base.colors import ROLES
from rcv_py.export.report.svg import COLORS

MAX_COLUMNS = 16  # of a table, whose columns the style can distinguish
_PAGE_ROLES = ("window", "base", "alternate", "raised", "line", "text", "muted", "accent", "warning", "error")
_MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_HERE = Path(__file__).parent


def script() -> str:
    """Return the script of the page."""
    return "\n" + _HERE.joinpath("page.js").read_text("utf-8")


def style() -> str:
    """Return the style sheet: colours in light, on dark screens in dark, and in print always in light."""
    pairs = {name: ROLES[name] for name in _PAGE_ROLES} | COLORS
    light = "".join(f"--{name}:{pair.light};" for name, pair in pairs.items())
    dark = "".join(f"--{name}:{pair.dark};" for name, pair in pairs.items())
    screens = f"@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}"
    sheet = _HERE.joinpath("page.css").read_text("utf-8").replace("MONO", _MONO)
    return f":root{{{light}}}{screens}\n{sheet}{_columns()}"


def _columns() -> str:
    """Numbers to the right and code in its font, by the class of the table instead of each cell."""
    columns = range(1, MAX_COLUMNS + 1)
    numbers = [f".n{at} {cell}:nth-child({at})" for at in columns for cell in ("td", "th")]
    codes = [f".c{at} td:nth-child({at})" for at in columns]
    right = "text-align:right;font-variant-numeric:tabular-nums;"
    mono = f"font-family:{_MONO};font-size:12.5px;white-space:pre;"
    wrap = f"@media print{{td.c,{','.join(codes)}{{white-space:pre-wrap;font-size:8pt}}}}"
    keep = f"@media print{{td.n,{','.join(numbers)}{{white-space:nowrap}}}}"
    return f"td.n,th.n,{','.join(numbers)}{{{right}}}\ntd.c,{','.join(codes)}{{{mono}}}\n{wrap}\n{keep}\n"
