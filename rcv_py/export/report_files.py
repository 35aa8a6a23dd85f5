"""Reports as files: the ending of the name says which form."""

from __future__ import annotations

from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.progress import CancelFlag, Report, silent
from rcv_py.export.report import FORMS, make_report
from rcv_py.export.report_inputs import ReportInputs
from rcv_py.export.targets import whole_file


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
    text = FORMS[path.suffix.lower()](make_report(inputs, report=report, cancel=cancel))
    with whole_file(path) as target:
        target.write(text.encode("utf-8", "replace"))
