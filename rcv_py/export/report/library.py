"""The table of a library as Markdown and as a page."""

from __future__ import annotations

from typing import Any

from rcv_py import __version__
from rcv_py.base.markdown import md_text
from rcv_py.base.text import visible
from rcv_py.export.report.html import html
from rcv_py.export.report.model import Cell, Heading, Report, Section
from rcv_py.export.report.model import Table as ReportTable
from rcv_py.results.field import At
from rcv_py.results.table import Table


def library_markdown(heading: str, table: Table) -> str:
    """Return the table for a README."""
    return f"# {md_text(heading)}\n\n{table.markdown()}"


def library_page(heading: str, table: Table) -> str:
    """Return the table as a page that needs no other file; a click on a heading sorts."""
    fields = table.fields(At.REPORT)
    headings = tuple(Heading(field.title, field.is_number, field.sentence) for field in fields)
    rows = tuple(
        tuple(
            Cell(visible(text), value=values.get(field.name), weight=weights.get(field.name, ""))
            for field, text in zip(fields, cells, strict=True)
        )
        for cells, row in zip(table.cells(At.REPORT), table.records(), strict=True)
        for values, weights in [(_values(row), _weights(row))]
    )
    section = Section("captures", "Captures", (ReportTable(headings, rows),))
    return html(
        Report(visible(heading), "A click on a heading sorts.", (section,), f"Written by rcv {__version__}.")
    )


def _values(row: dict[str, Any]) -> dict[str, float | None]:
    """What cells that show two numbers are sorted by."""
    mapped, instructions = row["mapped"], row["instructions"]
    time, cycles = row["duration_ns"], row["duration"]
    return {
        "launch": cycles / 2 if time is None and cycles is not None else time,
        "waves_of_simd": row["waves_per_simd"],
        "waves": row["waves"],
        "executed_of": row["executed"],
        "mapped_share": None if mapped is None else mapped / max(1, instructions),
        "latency_of_all": row["latency"],
        "stall_part": row["stall_share"],
        "resident": row["mean_waves"],
    }


def _weights(row: dict[str, Any]) -> dict[str, str]:
    return {"trust": "error" if row["error"] else "warning" if row["serious_notes"] else ""}
