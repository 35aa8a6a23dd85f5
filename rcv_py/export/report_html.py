"""A report as one HTML page: no network, no files beside it; a few lines of script sort its tables.

Everything that comes from a capture is escaped, in text and in attributes.
"""

from __future__ import annotations

from html import escape
from typing import assert_never

from rcv_py.base.colors import ROLES
from rcv_py.export.report_model import (
    Bars,
    Bins,
    Cell,
    Curve,
    Heading,
    Heads,
    Listing,
    Note,
    Part,
    Report,
    Section,
    Stacked,
    Table,
)
from rcv_py.export.svg import COLORS, svg

LONG = 60  # characters: longer sentences are wrapped in their cell
_PAGE_ROLES = ("window", "base", "alternate", "raised", "line", "text", "muted", "accent", "warning", "error")

_STYLE = """
body { margin: 0; background: var(--window); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 16px 24px 64px; }
header h1 { margin: 8px 0 0; font-size: 22px; overflow-wrap: anywhere; }
header p, .intro, .caption, .foot { color: var(--muted); margin: 4px 0 10px; }
nav { display: flex; flex-wrap: wrap; margin: 12px 0; padding: 8px 12px; background: var(--raised);
  border-radius: 6px; }
nav a { margin-right: 14px; white-space: nowrap; }
section { background: var(--base); border: 1px solid var(--line); border-radius: 8px; padding: 4px 18px 14px;
  margin: 14px 0; }
h2 { font-size: 17px; margin: 12px 0 4px; } h3 { font-size: 14px; margin: 16px 0 4px; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 6px 0 10px; min-width: 50%; }
th, td { padding: 2px 12px 2px 0; text-align: left; vertical-align: top;
  white-space: nowrap; }
td.w { white-space: normal; min-width: 24em; }
th { border-bottom: 1px solid var(--line); color: var(--muted); font-weight: 600; white-space: nowrap; }
th[data-sort] { cursor: pointer; } tbody tr:nth-child(even) { background: var(--alternate); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.c { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px; white-space: pre; }
tr:target, td:target, h3:target { background: var(--raised); outline: 2px solid var(--accent); }
.bar { display: inline-block; height: 8px; background: var(--accent); margin-right: 6px; border-radius: 2px; }
.note { border-left: 4px solid var(--accent); padding: 4px 10px; margin: 8px 0;
  background: var(--alternate); }
.note.warning { border-color: var(--warning); } .note.error { border-color: var(--error); }
pre { background: var(--alternate); border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px;
  overflow-x: auto; font: 12.5px/1.5 ui-monospace, Menlo, Consolas, monospace; }
figure { margin: 10px 0; } figcaption { color: var(--muted); margin-bottom: 4px; }
svg { width: 100%; max-width: 860px; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); } svg .muted { fill: var(--muted); }
svg .mono { font-family: ui-monospace, Menlo, Consolas, monospace; } svg a text { fill: var(--accent); }
svg .grid { stroke: var(--line); }
svg .area { fill: var(--accent); fill-opacity: .35; stroke: var(--accent); }
details > summary { cursor: pointer; color: var(--accent); margin: 6px 0; }
@media print { section { border: 0; } nav { display: none; } }
"""

_SCRIPT = """
document.querySelectorAll("th[data-sort]").forEach(function (head) {
  head.addEventListener("click", function () {
    var body = head.closest("table").tBodies[0], at = head.cellIndex, up = head.dataset.up !== "1";
    head.dataset.up = up ? "1" : "";
    Array.from(body.rows).sort(function (a, b) {
      var x = a.cells[at], y = b.cells[at], n = x.dataset.v !== undefined && y.dataset.v !== undefined;
      var c = n ? x.dataset.v - y.dataset.v : x.textContent.localeCompare(y.textContent);
      return up === (head.className !== "n") ? c : -c;
    }).forEach(function (row) { body.appendChild(row); });
  });
});
function open_() { var e = location.hash && document.getElementById(location.hash.slice(1)),
  d = e && e.closest("details"); if (d) { d.open = true; e.scrollIntoView(); } }
addEventListener("hashchange", open_); open_();
"""


def html(report: Report) -> str:
    """Return the page."""
    page = _Page(report)
    links = "".join(f'<a href="#{escape(one.id)}">{escape(one.title)}</a>' for one in report.sections)
    sections = "\n".join(page.section(one) for one in report.sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(report.title)}</title>\n<style>{_colors()}{_STYLE}</style></head>\n<body><main>"
        f"<header><h1>{escape(report.title)}</h1><p>{escape(report.subtitle)}</p></header>"
        f'\n<nav aria-label="Sections">{links}</nav>\n{sections}\n'
        f'<p class="foot">{escape(report.made_with)}</p></main>\n<script>{_SCRIPT}</script></body></html>\n'
    )


def _colors() -> str:
    """Every colour as a variable, in light and in dark."""
    pairs = {name: ROLES[name] for name in _PAGE_ROLES} | COLORS
    light = "".join(f"--{name}:{pair.light};" for name, pair in pairs.items())
    dark = "".join(f"--{name}:{pair.dark};" for name, pair in pairs.items())
    return f":root{{{light}}}@media (prefers-color-scheme: dark){{:root{{{dark}}}}}"


class _Page:
    """Writes parts; remembers which anchors exist and which have been written."""

    def __init__(self, report: Report) -> None:
        self._anchors = report.anchors()
        self._written = {section.id for section in report.sections}

    def section(self, section: Section) -> str:
        intro = f'<p class="intro">{escape(section.intro)}</p>' if section.intro else ""
        parts = "".join(self._part(part) for part in section.parts)
        return f'<section id="{escape(section.id)}"><h2>{escape(section.title)}</h2>{intro}{parts}</section>'

    def _part(self, part: Part) -> str:
        match part:
            case Table():
                return self._table(part)
            case Note():
                return f'<p class="note {escape(part.weight)}">{escape(part.text)}</p>'
            case Listing():
                return f"<pre>{escape(chr(10).join(part.lines))}</pre>"
            case Heads():
                return f"<h3{self._id(part.anchor)}>{escape(part.text)}</h3>"
            case Stacked() | Curve() | Bins() | Bars():
                return (
                    f"<figure><figcaption>{escape(part.title)}</figcaption>{svg(self._known(part))}</figure>"
                )
            case _:
                assert_never(part)

    def _known(self, plot: Stacked | Curve | Bins | Bars) -> Stacked | Curve | Bins | Bars:
        """Take links to places that no section has out of a plot."""
        if not isinstance(plot, Bars):
            return plot
        bars = tuple(
            type(bar)(bar.name, bar.parts, bar.link if bar.link in self._anchors else "") for bar in plot.bars
        )
        return Bars(plot.title, bars, plot.unit)

    def _table(self, table: Table) -> str:
        heads = "".join(_head(heading) for heading in table.headings)
        rows = "".join(self._row(table, row) for row in table.rows)
        body = (
            f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        )
        caption = escape(table.caption)
        if table.is_folded:
            return f"<details><summary>{caption or 'Show'}</summary>{body}</details>"
        return (f'<p class="caption">{caption}</p>' if caption else "") + body

    def _row(self, table: Table, row: tuple[Cell, ...]) -> str:
        cells = zip(table.headings, row, strict=True)
        return f"<tr>{''.join(self._cell(heading, cell) for heading, cell in cells)}</tr>"

    def _cell(self, heading: Heading, cell: Cell) -> str:
        kind = "n" if heading.is_number else "c" if cell.is_code else "w" if len(cell.text) > LONG else ""
        shown = escape(cell.text)
        if cell.link and cell.link in self._anchors:
            shown = f'<a href="#{escape(cell.link)}">{shown}</a>'
        if cell.share is not None:
            shown = f'<span class="bar" style="width:{60 * cell.share:.1f}px"></span>{shown}'
        if cell.is_strong:
            shown = f"<b>{shown}</b>"
        value = "" if cell.value is None else f' data-v="{cell.value:.12g}"'
        tip = f' title="{escape(cell.tip)}"' if cell.tip and cell.tip != cell.text else ""
        group = f' class="{kind}"' if kind else ""
        return f"<td{group}{self._id(cell.anchor)}{value}{tip}>{shown}</td>"

    def _id(self, anchor: str) -> str:
        if not anchor or anchor in self._written:
            return ""
        self._written.add(anchor)
        return f' id="{escape(anchor)}"'


def _head(heading: Heading) -> str:
    kind = ' class="n"' if heading.is_number else ""
    tip = f' title="{escape(heading.tip)}"' if heading.tip else ""
    return f"<th{kind}{tip} data-sort>{escape(heading.title)}</th>"
