"""The style of a report page, and the script that sorts its tables and opens folded parts."""

from __future__ import annotations

from rcv_py.base.colors import ROLES
from rcv_py.export.report.svg import COLORS

MAX_COLUMNS = 16  # of a table, whose columns the style can distinguish
_PAGE_ROLES = ("window", "base", "alternate", "raised", "line", "text", "muted", "accent", "warning", "error")
_MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_STYLE = """
* { box-sizing: border-box; } html { scroll-padding-top: 12px; }
body { margin: 0; background: var(--window); color: var(--text);
  font: 14px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; }
.page { max-width: 1480px; margin: 0 auto; padding: 20px 24px 64px; display: grid;
  grid-template-columns: 200px minmax(0, 1fr); column-gap: 28px; }
header { grid-column: 1 / -1; margin-bottom: 12px; }
header h1 { margin: 0; font-size: 24px; line-height: 1.25; overflow-wrap: anywhere; }
header p, .intro, .caption, .foot, .quiet { color: var(--muted); }
header p, .intro, .caption, .foot { margin: 4px 0 10px; max-width: 100ch; overflow-wrap: anywhere; }
main { grid-column: 1 / -1; min-width: 0; } nav + main { grid-column: 2; }
nav { position: sticky; top: 12px; align-self: start; max-height: calc(100vh - 24px); overflow-y: auto; }
nav ol { list-style: none; margin: 0; padding: 0; font-size: 13px; }
nav a { display: block; padding: 3px 8px; border-left: 2px solid var(--line); color: var(--text); }
nav a:hover { border-color: var(--accent); color: var(--accent); text-decoration: none; }
section { background: var(--base); border: 1px solid var(--line); border-radius: 8px; padding: 6px 20px 14px;
  margin: 0 0 16px; }
h2 { font-size: 18px; line-height: 1.3; margin: 10px 0 6px; }
h3 { font-size: 15px; line-height: 1.3; margin: 22px 0 4px; }
p { margin: 6px 0; max-width: 100ch; overflow-wrap: anywhere; }
.lead { font-size: 18px; line-height: 1.4; font-weight: 600; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 6px 0 10px; }
th, td { padding: 2px 14px 2px 0; text-align: left; vertical-align: top; white-space: nowrap; }
th:first-child, td:first-child { padding-left: 6px; }
td.w { white-space: normal; min-width: 20em; max-width: 72em; overflow-wrap: anywhere; }
th { border-bottom: 1px solid var(--line); color: var(--muted); font-weight: 600; cursor: pointer; }
tbody tr:nth-child(even) { background: var(--alternate); }
:target { background: var(--raised); outline: 2px solid var(--accent); }
section:target { outline: none; background: var(--base); }
.bar { display: inline-block; height: 8px; background: var(--accent); margin-right: 6px; border-radius: 2px; }
.option { white-space: nowrap; }
.note { border-left: 4px solid var(--accent); padding: 4px 12px; margin: 8px 0;
  background: var(--alternate); }
td.warning { color: var(--warning); } td.error { color: var(--error); }
.note.warning { border-color: var(--warning); } .note.error { border-color: var(--error); }
pre { background: var(--alternate); border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px;
  overflow-x: auto; font: 12.5px/1.5 MONO; }
figure { margin: 12px 0; } figcaption { color: var(--muted); margin-bottom: 4px; }
svg { width: 100%; max-width: 860px; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); } svg .muted { fill: var(--muted); }
svg .mono { font-family: MONO; } svg a text { fill: var(--accent); }
svg .grid { stroke: var(--line); }
svg .area { fill: var(--accent); fill-opacity: .35; stroke: var(--accent); }
details > summary { cursor: pointer; color: var(--accent); margin: 4px 0; overflow-wrap: anywhere; }
@media (max-width: 1000px) { .page { display: block; padding: 12px; }
  nav { position: static; max-height: none; margin-bottom: 12px; } nav ol { display: flex; flex-wrap: wrap; }
  section { padding: 4px 12px 10px; } }
@media print { nav { display: none; } .page { display: block; max-width: none; padding: 0; }
  body { font-size: 10pt; background: none; }
  section { border: 0; padding: 0; } .scroll { overflow: visible; }
  table { font-size: 8.5pt; } th, td, td.w { white-space: normal; min-width: 0; overflow-wrap: break-word; }
  pre { white-space: pre-wrap; } figure, tr, .note { break-inside: avoid; } h2, h3 { break-after: avoid; }
  rect, path, .bar, tbody tr, .note { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
""".replace("MONO", _MONO)

SCRIPT = """
function value(cell) { var text = cell.dataset.v || cell.textContent.replace(/[,<\\s]/g, "");
  return /^-?[0-9]/.test(text) ? parseFloat(text) : NaN; }
document.querySelectorAll("th").forEach(function (head) {
  head.addEventListener("click", function () {
    var body = head.closest("table").tBodies[0], at = head.cellIndex, first = head.dataset.first !== "1";
    var sign = (first ? 1 : -1) * (head.dataset.n !== undefined ? -1 : 1);
    head.dataset.first = first ? "1" : "";
    Array.from(body.rows).sort(function (a, b) {
      var x = a.cells[at], y = b.cells[at], n = head.dataset.n !== undefined;
      if (!n) return sign * x.textContent.localeCompare(y.textContent);
      x = value(x); y = value(y);
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
function shown() { var id = decodeURIComponent(location.hash.slice(1)),
  e = id && document.getElementById(id), d = e && e.closest("details");
  if (d) { d.open = true; e.scrollIntoView(); } }
addEventListener("hashchange", shown); shown();
"""


def style() -> str:
    """Return the style sheet: colours in light, on dark screens in dark, and in print always in light."""
    pairs = {name: ROLES[name] for name in _PAGE_ROLES} | COLORS
    light = "".join(f"--{name}:{pair.light};" for name, pair in pairs.items())
    dark = "".join(f"--{name}:{pair.dark};" for name, pair in pairs.items())
    screens = f"@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}"
    return f":root{{{light}}}{screens}{_STYLE}{_columns()}"


def _columns() -> str:
    """Numbers to the right and code in its font, by the class of the table instead of each cell."""
    numbers, codes = [], []
    for at in range(1, MAX_COLUMNS + 1):
        numbers += [f".n{at} td:nth-child({at})", f".n{at} th:nth-child({at})"]
        codes.append(f".c{at} td:nth-child({at})")
    right = "text-align:right;font-variant-numeric:tabular-nums;"
    mono = f"font-family:{_MONO};font-size:12.5px;white-space:pre;"
    wrap = f"@media print{{td.c,{','.join(codes)}{{white-space:pre-wrap;font-size:8pt}}}}"
    keep = f"@media print{{td.n,{','.join(numbers)}{{white-space:nowrap}}}}"
    return f"td.n,th.n,{','.join(numbers)}{{{right}}}\ntd.c,{','.join(codes)}{{{mono}}}\n{wrap}\n{keep}\n"
