"""The section that tells how to get the numbers again, how to open a place, and how to record anew."""

from __future__ import annotations

import shlex

from rcv_py.analysis.health.capture_health import command_line
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Heads, Listing, Part, Prose, Section
from rcv_py.export.report.places import line_anchor, place_text

WIDE = 70  # characters of a command
_COMMANDS = (
    ("report {} --out report.html", "this report"),
    ("triage {}", "the findings"),
    ("check {}", "the capture's health"),
    ("summary {}", "activity, states, occupancy"),
    ("causes {}", "why cycles were spent"),
    ("hotspot {} --by class", "costs by class; also by line, source and kind"),
    ("waits {}", "waits and what they waited for"),
    ("loops {}", "loops, phases, iterations"),
    ("occupancy {} --limits", "registers and room for waves"),
    ("export {} --to perfetto --out trace.pftrace", "the timeline for ui.perfetto.dev"),
    ("export {} --to csv --out tables", "every table for a spreadsheet"),
)
_ANCHORS = (
    "Lines, waves and moments are anchors of this page: #line-1709, #wave-se3-sm1-sl0-wv0, "
    "#wave-se3-sm1-sl0-wv0@126704, #@126704. The window goes to an anchor, or to a place as the tables "
    "tell it, with --goto, and with Go to place (Ctrl+G)."
)


def how_to(inputs: ReportInputs) -> Section:
    """Commands that print the numbers of this report, open its places, and record the kernel again."""
    path = shlex.quote(str(inputs.trace.path.absolute()))
    parts: list[Part] = [
        _listing([(f"rcv {command.format(path)}", text) for command, text in _COMMANDS]),
        Heads("Open a place in the window"),
        Prose(_ANCHORS),
        _listing(_places(inputs, path)),
        Heads("Record it again"),
        Prose(
            "The input file sets what this capture was recorded with, and over it what its health asks for. "
            "Choose another file name where one is there already."
        ),
        _listing(
            [
                (f"rcv check {path} --yaml > input.yaml", "the file below How far to trust it"),
                (_record(inputs), ""),
            ]
        ),
    ]
    return Section("how", "How to get these numbers again", tuple(parts))


def _places(inputs: ReportInputs, path: str) -> list[tuple[str, str]]:
    """How to open the line with most cost, and the first wave."""
    found = [(f"rcv view {path}", "the window")]
    costs = inputs.costs.cost
    if len(costs) and costs.any():
        line = int(costs.argmax())
        found.append((f"rcv view {path} --goto {line_anchor(line)}", "the most expensive line"))
    explained = [wave for wave in inputs.waves if inputs.rows is None or wave.row in inputs.rows]
    for wave in explained[:1]:
        place = place_text(wave.id, cycle=wave.begin)
        found.append((f"rcv view {path} --goto {place}", "a wave and a moment of it"))
    return found


def _record(inputs: ReportInputs) -> str:
    """The line for rocprofv3, with the program that ran if a file beside the capture names it."""
    command = inputs.facts.command if inputs.facts is not None else ()
    return command_line(shlex.join(command)) if command else command_line()


def _listing(lines: list[tuple[str, str]]) -> Listing:
    """Commands with what they are for: behind them, or above them if they are long."""
    width = max(len(line) for line, _ in lines)
    if width > WIDE:
        found = [part for line, text in lines for part in ((f"# {text}", line) if text else (line,))]
        return Listing(tuple(found))
    return Listing(tuple(f"{line.ljust(width)}  # {text}" if text else line for line, text in lines))
