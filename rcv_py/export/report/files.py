"""Reports as files: the name's ending selects the form; of several captures also an index, one row each."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from rcv_py import __version__
from rcv_py.analysis.findings.finding import RANKED, Finding
from rcv_py.analysis.health.capture_health import headline
from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.manifest import report_sections
from rcv_py.base.progress import Report as Progress
from rcv_py.base.progress import Stage, checkpoint, silent
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural, short_kernel, visible
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.cells import code, column, numbers, shares, table, texts
from rcv_py.export.report.html import html
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.markdown import markdown
from rcv_py.export.report.model import Part, Report, ReportCell, ReportNote, ReportSection, ReportTable
from rcv_py.results import table as results
from rcv_py.results.field import Field, ShownIn

FORMS: dict[str, Callable[[Report], str]] = {".html": html, ".htm": html, ".md": markdown}
PAGES = (".html", ".htm")  # endings of pages that need a browser
_ELSEWHERE = "Choose another folder with --out-dir."
MARK = "An index of reports, written by rcv"
_INTRO = (
    "Upper bound of what the first finding of each capture has at stake, not a gain. "
    "Shares of different captures refer to different totals."
)


class IndexEntry(Value):
    """The index row of one capture; plain values, because it comes from another process."""

    folder: Path
    file: str  # name of the report next to the index, "" if there is none
    name: str = ""
    kernel: str = ""
    target: str = ""
    waves: int = 0  # traced
    finding: str = ""  # title of the first
    at_stake: int = 0  # cycles or samples at stake in it, at most
    share: float = 0.0  # of what it is measured against, 0 to 1
    health: str = ""
    error: str = ""  # why there is no report, as sentences


def entry(inputs: ReportInputs, file: str) -> IndexEntry:
    """Return the row of a capture whose report was written to `file`."""
    trace, found = inputs.trace, inputs.findings
    first: Finding | None = next((one for one in found.findings if one.rank == RANKED), None)
    return IndexEntry(
        folder=trace.path,
        file=file,
        name=trace.name,
        kernel=short_kernel(trace.kernel_name) if trace.kernel_name else "",
        target=trace.target,
        waves=len(trace.waves),
        finding=first.title if first is not None else found.headline,
        at_stake=first.cycles if first is not None else 0,
        share=first.share if first is not None else 0.0,
        health=headline(inputs.health),
    )


def index(entries: Sequence[IndexEntry]) -> Report:
    """Return the page, with captures in the order in which they were named."""
    good = [one for one in entries if not one.error]
    bad = [one for one in entries if one.error]
    parts: list[Part] = [_captures(good)] if good else []
    for one in bad:
        where = "" if str(one.folder) in one.error else f"{one.folder}: "
        parts.append(ReportNote(where + one.error, "error"))
    without = Message(", {0} without a report", plural(len(bad), "capture")) if bad else ""
    section = ReportSection("captures", "Captures", parts, _INTRO)
    subtitle = Message("{0}{1}", plural(len(good), "report"), without)
    return Report("Reports of captures", subtitle, (section,), f"{MARK} {__version__}.")


def _captures(entries: Sequence[IndexEntry]) -> ReportTable:
    tip = "Cycles at stake in it; PC samples where there is no thread trace."
    return table(
        column("report", (ReportCell(one.name, file=one.file) for one in entries)),
        column("kernel", (code(one.kernel) for one in entries)),
        texts("device", (one.target for one in entries)),
        numbers("waves", (one.waves for one in entries)),
        texts("first finding", (one.finding for one in entries)),
        numbers("at most", (one.at_stake or None for one in entries), tip),
        shares("share", (one.share if one.at_stake else None for one in entries), 1),
        texts("health", (one.health for one in entries)),
    )


def library_page(heading: str, library: results.ResultTable) -> str:
    """Return the table of a library as a page that needs no other file; a click on a heading sorts."""
    rows = list(zip(library.cells(ShownIn.REPORT), library.records(), strict=True))
    columns = [
        column(
            field.title,
            (ReportCell(visible(texts[at]), **_extra(field, row)) for texts, row in rows),
            field.sentence,
            is_number=field.is_number,
        )
        for at, field in enumerate(library.fields(ShownIn.REPORT))
    ]
    section = ReportSection("captures", "Captures", (table(*columns),))
    made_with = Message("Written by rcv {0}.", __version__)
    return html(Report(visible(heading), "A click on a heading sorts.", (section,), made_with))


def _extra(field: Field, row: Mapping[str, Any]) -> dict[str, Any]:
    """The sort keys of launch times, whose units differ, and the colour of doubtful values."""
    if field.name == "launch":
        cycles, ns = row["duration"], row["duration_ns"]
        return {"value": cycles / 2 if ns is None and cycles is not None else ns}
    if field.name == "trust":
        return {"weight": "error" if row["error"] else "warning" if row["serious_notes"] else ""}
    return {}


def make_report(inputs: ReportInputs, *, report: Progress = silent) -> Report:
    """Return every section that has something to say; raises Cancelled."""
    trace, sections = inputs.trace, []
    makers = list(map(resolve_name, report_sections()))
    for ordinal, make in enumerate(makers):
        checkpoint()
        report(Stage("Writing sections", ordinal, len(makers)))
        if (section := make(inputs)) is not None:
            sections.append(section)
    kernel = short_kernel(trace.kernel_name) if trace.kernel_name else "no kernel"
    subtitle = f"{trace.name} · {trace.target}"
    return Report(kernel, subtitle, tuple(sections), Message("Written by rcv {0}.", __version__))


def check_form(path: Path, endings: Collection[str] = tuple(FORMS)) -> None:
    """Raise UsageError for a name without a known ending."""
    if path.suffix.lower() not in endings:
        known = " or ".join(ending for ending in endings if ending != ".htm")
        text = Message("{0} does not say what kind of report it is.", path)
        raise UsageError(text, hint=Message("Use a name that ends in {0}.", known))


def write_report(inputs: ReportInputs, path: Path, *, report: Progress = silent) -> None:
    """Write a report; raises UsageError, ExportError or Cancelled."""
    check_form(path)
    write_page(report_page(inputs, path.suffix, report=report), path)


def report_page(inputs: ReportInputs, ending: str, *, report: Progress = silent) -> bytes:
    """Return the contents of a report file whose name has this ending; raises Cancelled as above."""
    return _page(make_report(inputs, report=report), ending)


def write_page(page: bytes, path: Path) -> None:
    """Write the file of a report; raises ExportError."""
    with whole_file(path) as target:
        target.write(page)


def check_index(path: Path) -> None:
    """Raise UsageError if the index would replace a file that rcv did not write."""
    try:
        is_ours = not path.exists() or MARK in path.read_text("utf-8", "replace")
    except OSError as error:
        text = Message("{0} cannot be replaced: {1}.", path, error.strerror)
        raise ExportError(text, hint=_ELSEWHERE) from error
    if not is_ours:
        text = Message("{0} was not written by rcv, and an index of reports would replace it.", path)
        raise UsageError(text, hint=_ELSEWHERE)


def write_index(entries: Sequence[IndexEntry], path: Path) -> None:
    """Write the page that lists several reports; raises UsageError or ExportError."""
    check_form(path)
    check_index(path)
    write_page(_page(index(entries), path.suffix), path)


def _page(report: Report, ending: str) -> bytes:
    return visible(FORMS[ending.lower()](report), "\n\t").encode()
