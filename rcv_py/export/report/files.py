"""Reports as files: the ending of the name says which form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.progress import CancelFlag, Report, silent
from rcv_py.base.text import visible
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.assemble import FORMS, make_report
from rcv_py.export.report.index import MARK, Entry, index
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Report as Page

_ELSEWHERE = "Choose another folder with --out-dir."


def check_form(path: Path) -> None:
    """Raise UsageError for a name that does not say what to write."""
    if path.suffix.lower() not in FORMS:
        raise UsageError(
            f"{path} does not say what kind of report it is.", hint="Use a name that ends in .html or .md."
        )


def write_report(
    inputs: ReportInputs, path: Path, *, report: Report = silent, cancel: CancelFlag | None = None
) -> None:
    """Write a report; raises UsageError, ExportError, or Cancelled once `cancel` is set."""
    check_form(path)
    _write(make_report(inputs, report=report, cancel=cancel), path)


def check_index(path: Path) -> None:
    """Raise UsageError if a file of somebody else has the name of an index, which would replace it."""
    try:
        is_ours = not path.exists() or MARK in path.read_text("utf-8", "replace")
    except OSError as error:
        raise ExportError(f"{path} cannot be replaced: {error.strerror}.", hint=_ELSEWHERE) from error
    if not is_ours:
        text = f"{path} was not written by rcv, and an index of reports would replace it."
        raise UsageError(text, hint=_ELSEWHERE)


def write_index(entries: Sequence[Entry], path: Path) -> None:
    """Write the page in front of several reports; raises UsageError or ExportError."""
    check_form(path)
    check_index(path)
    _write(index(entries), path)


def _write(page: Page, path: Path) -> None:
    text = FORMS[path.suffix.lower()](page)
    with whole_file(path) as target:
        target.write(visible(text, "\n\t").encode())
