"""The table of a library for people: as text, Markdown, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rcv_py import __version__
from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.markdown import md_table, md_text
from rcv_py.base.text import DASH, count, nanoseconds, percent, plural, visible
from rcv_py.export.report.html import html
from rcv_py.export.report.model import Cell, Heading, Report, Section, Table

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


def library_markdown(library: Library) -> str:
    """Return the table for a README."""
    rows = [[*map(md_text, cells(library, row))] for row in library.rows]
    return "\n".join([f"# {md_text(library.heading)}", "", *md_table(HEADINGS, rows)]) + "\n"


def library_page(library: Library) -> str:
    """Return the table as a page that needs no other file; a click on a heading sorts."""
    headings = tuple(Heading(title, is_number) for title, is_number in HEADINGS)
    table = Table(headings, tuple(_page_row(library, row) for row in library.rows))
    heading = visible(library.heading)
    return html(
        Report(
            heading,
            "A click on a heading sorts.",
            (Section("captures", "Captures", (table,)),),
            f"rcv {__version__}",
        )
    )


def _page_row(library: Library, row: LibraryRow) -> tuple[Cell, ...]:
    values = {
        "duration": row.duration_ns if row.duration_ns >= 0 else row.duration / 2,
        "waves/SIMD": row.fit,
        "waves": row.waves,
        "executed": row.executed,
        "mapped": row.mapped / max(1, row.instructions),
        "latency": row.latency,
        "stall": row.stall / max(1, row.latency),
        "waves mean / peak": row.mean_waves,
    }
    weights = {"health": "error" if row.error else "warning" if row.serious else ""}
    return tuple(
        Cell(visible(text), value=values.get(title), weight=weights.get(title, ""))
        for (title, _), text in zip(HEADINGS, cells(library, row), strict=True)
    )
