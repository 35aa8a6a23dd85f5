"""Reports as files: the name's ending selects the form, and manifests list the sections."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from pkgutil import resolve_name

from rcv_py import __version__
from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.manifest import report_sections
from rcv_py.base.progress import CancelFlag, Stage, silent
from rcv_py.base.progress import Report as Progress
from rcv_py.base.text import Message, short_kernel, visible
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.html import html
from rcv_py.export.report.index import MARK, IndexEntry, index
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.markdown import markdown
from rcv_py.export.report.model import Report

FORMS: dict[str, Callable[[Report], str]] = {".html": html, ".htm": html, ".md": markdown}
PAGES = (".html", ".htm")  # endings of pages that need a browser
_ELSEWHERE = "Choose another folder with --out-dir."


def make_report(
    inputs: ReportInputs, *, report: Progress = silent, cancel: CancelFlag | None = None
) -> Report:
    """Return every section that has something to say; raises Cancelled once `cancel` is set."""
    trace, sections = inputs.trace, []
    makers = list(map(resolve_name, report_sections()))
    for ordinal, make in enumerate(makers):
        if cancel is not None:
            cancel.check()
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


def write_report(
    inputs: ReportInputs, path: Path, *, report: Progress = silent, cancel: CancelFlag | None = None
) -> None:
    """Write a report; raises UsageError, ExportError, or Cancelled once `cancel` is set."""
    check_form(path)
    write_page(report_page(inputs, path.suffix, report=report, cancel=cancel), path)


def report_page(
    inputs: ReportInputs, ending: str, *, report: Progress = silent, cancel: CancelFlag | None = None
) -> bytes:
    """Return the contents of a report file whose name has this ending; raises Cancelled as above."""
    return _page(make_report(inputs, report=report, cancel=cancel), ending)


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
