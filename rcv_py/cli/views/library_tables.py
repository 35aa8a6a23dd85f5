"""The table of a library for people, spreadsheets, programs, and as a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.markdown import md_text
from rcv_py.base.text import DASH, count, nanoseconds, percent, plural
from rcv_py.cli.report import Column, plain

HEADINGS = (
    ("capture", False),
    ("kernel", False),
    ("duration", True),
    ("bound", False),
    ("first finding", False),
    ("waves/SIMD", True),
    ("occupancy limiter", False),
    ("waves", True),
    ("executed", True),
    ("mapped", True),
    ("latency", True),
    ("stall", True),
    ("most stall at", False),
    ("waves mean / peak", True),
    ("health", False),
    ("twin", False),
)
COLUMNS = tuple(
    Column(title, is_number, {"capture": "left", "twin": "left"}.get(title, "" if is_number else "right"))
    for title, is_number in HEADINGS
)


@dataclass(frozen=True, slots=True)
class Library:
    """The rows, and the folder below which they were found."""

    root: Path
    rows: Sequence[LibraryRow]
    more: int = 0  # captures left out because of the limit

    @property
    def heading(self) -> str:
        """How many captures there are."""
        bad = sum(bool(row.error) for row in self.rows)
        text = f"{plural(len(self.rows), 'capture')} below {self.root}"
        text += f", {count(bad)} of which cannot be opened" if bad else ""
        return text + (f"; {count(self.more)} more were left out" if self.more else "")


def cells(library: Library, row: LibraryRow) -> list[str]:
    """Return the row as shown."""
    name = _below(library.root, row)
    if row.error:
        return [name, *[""] * 13, row.error, ""]
    return [
        name,
        row.kernel,
        _duration(row),
        row.bound or DASH,
        row.finding or DASH,
        f"{row.fit} / {row.most_fit}" if row.fit >= 0 else DASH,
        (row.limiter or "none") if row.fit >= 0 else DASH,
        count(row.waves),
        f"{count(row.executed) if row.has_costs else DASH} / {count(row.instructions)}",
        percent(row.mapped, row.instructions) or DASH,
        count(row.latency) if row.has_costs else DASH,
        percent(row.stall, row.latency) or DASH,
        _top(row),
        f"{row.mean_waves:,.1f} / {count(row.peak_waves)}" if row.has_occupancy else DASH,
        row.health,
        _twin(row),
    ]


def _duration(row: LibraryRow) -> str:
    """The launch in time and cycles, as far as they are known."""
    parts = [nanoseconds(row.duration_ns)] if row.duration_ns >= 0 else []
    return ", ".join([*parts, f"{count(row.duration)} cycles"] if row.duration >= 0 else parts) or DASH


def _below(root: Path, row: LibraryRow) -> str:
    try:
        return str(row.path.resolve().relative_to(root.resolve())) or row.name
    except ValueError:
        return row.name


def _top(row: LibraryRow) -> str:
    if row.top_line < 0:
        return ""
    place = f" ({row.top_source})" if row.top_source else ""
    return f"{percent(row.top_share, 1)} line {row.top_line}: {row.top}{place}"


def _twin(row: LibraryRow) -> str:
    if not row.twin:
        return ""
    return f"{row.twin}, {percent(row.noise, 1)} off per execution" if row.noise >= 0 else row.twin


def markdown(library: Library) -> str:
    """Return the table for a README."""
    lines = [f"# {md_text(library.heading)}", ""]
    lines.append("| " + " | ".join(title for title, _ in HEADINGS) + " |")
    lines.append("|" + "|".join("---:" if is_number else "---" for _, is_number in HEADINGS) + "|")
    for row in library.rows:
        lines.append("| " + " | ".join(md_text(cell) for cell in cells(library, row)) + " |")
    return "\n".join(lines) + "\n"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }}
body {{ margin: 24px; }}
h1 {{ font-size: 18px; font-weight: 600; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ padding: 4px 8px; text-align: left; vertical-align: top; border-bottom: 1px solid #8886; }}
th {{ position: sticky; top: 0; background: Canvas; cursor: pointer; font-weight: 600; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.serious {{ color: light-dark(#a35a00, #f0b429); }}
.error {{ color: light-dark(#c2281d, #ff7b72); }}
</style>
</head>
<body>
<h1>{title}</h1>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
<script>
document.querySelectorAll("th").forEach((head, at) => head.addEventListener("click", () => {{
  const body = document.querySelector("tbody"), sign = head.dataset.sign = -(head.dataset.sign || 1);
  const key = row => row.cells[at].dataset.key ?? row.cells[at].textContent;
  const rank = (a, b) => sign * (key(b) - key(a) || key(b).localeCompare(key(a)));
  [...body.rows].sort(rank).forEach(row => body.append(row));
}}));
</script>
</body>
</html>
"""


def page(library: Library) -> str:
    """Return the table as a page that needs no other file; a click on a heading sorts."""
    head = "".join(
        f'<th class="number">{html.escape(title)}</th>' if is_number else f"<th>{html.escape(title)}</th>"
        for title, is_number in HEADINGS
    )
    body = "\n".join(_page_row(library, row) for row in library.rows)
    return _PAGE.format(title=html.escape(plain(library.heading)), head=head, body=body)


def _page_row(library: Library, row: LibraryRow) -> str:
    keys = dict(
        zip(
            (
                "duration",
                "waves/SIMD",
                "waves",
                "executed",
                "mapped",
                "latency",
                "stall",
                "waves mean / peak",
            ),
            (
                row.duration_ns if row.duration_ns >= 0 else row.duration / 2,
                row.fit,
                row.waves,
                row.executed,
                row.mapped / max(1, row.instructions),
                row.latency,
                row.stall / max(1, row.latency),
                row.mean_waves,
            ),
            strict=True,
        )
    )
    made = []
    for (title, is_number), cell in zip(HEADINGS, cells(library, row), strict=True):
        names = ["number"] if is_number else []
        if title == "health":
            names += ["error"] if row.error else ["serious"] if row.serious else []
        kind = f' class="{" ".join(names)}"' if names else ""
        key = f' data-key="{keys[title]}"' if title in keys else ""
        made.append(f"<td{kind}{key}>{html.escape(plain(cell))}</td>")
    return f"<tr>{''.join(made)}</tr>"
