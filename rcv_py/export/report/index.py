"""The page in front of several reports: a row a capture, with the first finding and the health of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rcv_py import __version__
from rcv_py.analysis.findings.finding import RANKED, Finding
from rcv_py.analysis.health.capture_health import headline
from rcv_py.base.text import plural, short_kernel
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Cell, Heading, Note, Part, Report, Section, Table, number, share

MARK = "An index of reports, written by rcv"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index tells of one capture; plain values, for it comes from another process."""

    folder: Path
    file: str  # name of the report beside the index, "" if there is none
    name: str = ""
    kernel: str = ""
    target: str = ""
    waves: int = 0  # traced
    finding: str = ""  # title of the first
    stake: int = 0  # cycles or samples at stake in it, at most
    share: float = 0.0  # of what it is measured against, 0 to 1
    health: str = ""
    error: str = ""  # why there is no report, as sentences


def entry(inputs: ReportInputs, file: str) -> Entry:
    """Return the row of a capture whose report was written to `file`."""
    trace, found = inputs.trace, inputs.findings
    first: Finding | None = next((one for one in found.findings if one.rank == RANKED), None)
    return Entry(
        trace.path,
        file,
        trace.name,
        short_kernel(trace.kernel_name) if trace.kernel_name else "",
        trace.target,
        len(trace.waves),
        first.title if first is not None else found.headline,
        first.cycles if first is not None else 0,
        first.share if first is not None else 0.0,
        headline(inputs.health),
    )


def index(entries: Sequence[Entry]) -> Report:
    """Return the page, with captures in the order in which they were asked for."""
    good = [one for one in entries if not one.error]
    bad = [one for one in entries if one.error]
    parts: list[Part] = [Table(_HEADS, tuple(map(_row, good)))] if good else []
    parts += [Note(_lost(one), "error") for one in bad]
    section = Section("captures", "Captures", tuple(parts), _INTRO)
    lost = f", {plural(len(bad), 'capture')} without a report" if bad else ""
    subtitle = f"{plural(len(good), 'report')}{lost}"
    return Report("Reports of captures", subtitle, (section,), f"{MARK} {__version__}.")


def _lost(one: Entry) -> str:
    return one.error if str(one.folder) in one.error else f"{one.folder}: {one.error}"


_INTRO = (
    "What the first finding of each has at stake, at most: a bound, not a gain. Shares of different captures "
    "are of different wholes."
)
_HEADS = (
    Heading("report"),
    Heading("kernel"),
    Heading("device"),
    Heading("waves", True),
    Heading("first finding"),
    Heading("at most", True, "Cycles at stake in it; PC samples where there is no thread trace."),
    Heading("share", True),
    Heading("health"),
)


def _row(one: Entry) -> tuple[Cell, ...]:
    return (
        Cell(one.name, file=one.file),
        Cell(one.kernel, is_code=True),
        Cell(one.target),
        number(one.waves),
        Cell(one.finding),
        number(one.stake) if one.stake else Cell(""),
        share(one.share, 1) if one.stake else Cell(""),
        Cell(one.health),
    )
