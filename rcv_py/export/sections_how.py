"""The section that tells how to get the numbers again."""

from __future__ import annotations

import shlex

from rcv_py.export.report_inputs import ReportInputs
from rcv_py.export.report_model import Listing, Section

_COMMANDS = (
    ("", "open the window; Ctrl+G goes to a place such as :line 118"),
    ("report {} --out report.html", "this report"),
    ("summary {} --json", "activity, states, occupancy"),
    ("hotspot {} --json", "costs of lines, sources or kinds"),
    ("waits {} --json", "waits and what they waited for"),
    ("loops {} --json", "loops, phases, iterations"),
    ("export {} --to perfetto --out trace.pftrace", "the timeline for ui.perfetto.dev"),
    ("export {} --to csv --out tables", "every table for a spreadsheet"),
)


def how_to(inputs: ReportInputs) -> Section:
    """Commands that print the numbers of this report."""
    path = shlex.quote(str(inputs.trace.path))
    lines = [f"rcv {command.format(path) if command else path}" for command, _ in _COMMANDS]
    width = min(100, max(map(len, lines)))
    listing = Listing(
        tuple(f"{line.ljust(width)}  # {text}" for line, (_, text) in zip(lines, _COMMANDS, strict=True))
    )
    return Section("how", "How to get these numbers again", (listing,))
