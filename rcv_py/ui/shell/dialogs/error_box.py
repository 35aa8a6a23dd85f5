"""The boxes of errors, log and licences: a sentence, versions and facts, and a bug report to copy."""

import traceback

from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from rcv_py import __version__
from rcv_py.base.errors import RcvError
from rcv_py.base.log import IN_REPORT, LOG, without_home
from rcv_py.base.text import Message, translated
from rcv_py.base.versions import versions_text
from rcv_py.model.trace import Trace
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel, copy_text, named

BUG = "Something went wrong inside rcv. What you see may be incomplete; the window keeps working."
BUG_HINT = (
    "Nothing is sent by itself. If you send the report below, read it first: it names captures and files and "
    "holds none of their contents."
)
LICENCES = (
    "Qt and PySide6: LGPL 3",
    "pyqtgraph: MIT",
    "numpy, pygments, numba: BSD",
    "orjson: MPL 2; simdjson, regex: Apache 2 or MIT",
    "pyelftools: public domain",
    "JetBrains Mono: Apache 2",
)
LOG_HINT = "Lines name files and captures, and hold nothing else of them. Nothing is sent by itself."


def report(error: BaseException, where: str = "") -> str:
    """Return versions, capture, traceback or detail and the last log lines; the home folder becomes `~`."""
    lines = [versions_text()]
    if where:
        lines.append(f"capture: {where}")
    if isinstance(error, RcvError):
        lines.append(f"{type(error).__name__}: {error}")
        lines += [error.detail] if error.detail else []
    else:
        lines += traceback.format_exception(error)
    lines += ["", "log:", LOG.text(IN_REPORT)] if LOG.lines() else []
    return without_home("\n".join(line.rstrip() for line in lines))


class ReportBox(Dialog):
    """A non-blocking window: a sentence, what to do, and a text to copy, unless that is hidden."""

    def __init__(
        self, title: str, sentence: str, hint: str, text: str, *, parent: QWidget | None, has_text: bool
    ) -> None:
        super().__init__(title, parent)
        self.setMinimumWidth(460)
        self.report = text
        self.sentence = PlainLabel(sentence, role="heading", wordWrap=True, textInteractionFlags=SELECTABLE)
        items: list[QWidget | tuple[QWidget, int]] = [self.sentence]
        if hint:
            items.append(PlainLabel(hint, wordWrap=True, textInteractionFlags=SELECTABLE))
        copy = self.buttons.addButton(translated("Copy report"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: copy_text(self.report))
        if has_text:
            shown = named(QPlainTextEdit(text, readOnly=True), "Report")
            shown.setMinimumHeight(140)
            items.append((shown, 1))
        self.fill(*items)


class ErrorBox(ReportBox):
    """An error, what to do, and the report."""

    def __init__(self, error: BaseException, where: str = "", parent: QWidget | None = None) -> None:
        sentence, hint, detail = BUG, BUG_HINT, "traceback"
        if isinstance(error, RcvError):
            sentence, hint, detail = str(error), error.hint, error.detail
        text = report(error, where)
        super().__init__("rcv", sentence, hint, text, has_text=bool(detail), parent=parent)


class LogBox(ReportBox):
    """What the program did lately, line by line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        text = f"{versions_text()}\n{LOG.text()}\n"
        super().__init__("Log", "Log", LOG_HINT, text, parent=parent, has_text=True)
        self.resize(860, 520)


class AboutBox(Dialog):
    """Shows the program, its version and its components."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About rcv", parent)
        what = "A viewer of instruction-level thread traces of AMD GPUs."
        text = "\n\n".join((what, "\n".join(LICENCES), facts(None)))
        heading = PlainLabel(Message("rcv {0}", __version__), role="heading")
        self.fill(heading, PlainLabel(text, textInteractionFlags=SELECTABLE), spacing=6)


def facts(trace: Trace | None) -> str:
    """Return versions, and the kind of capture without its contents."""
    lines = versions_text().splitlines()
    if trace is not None:
        version, waves = trace.version or "unknown", len(trace.waves)
        lines += [
            Message("format {0}, {1}, {2:,} waves", version, trace.target, waves),
            Message("{0:,} code lines, {1:,} sources", len(trace.code), len(trace.sources)),
            *(f"{problem.severity}: {problem.text}" for problem in trace.problems),
        ]
    return "\n".join(lines)
