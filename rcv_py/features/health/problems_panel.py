"""Problems of the capture, and their remedies."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from rcv_py.base.problems import Problem, Severity
from rcv_py.features.health.result import SEVERITY
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import SEVERITIES, pixmap
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.plain_text import copy_text
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.empty_state import page

FINE = "Every file of the capture could be read. Whether its numbers can be trusted is what Health says."
ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class ProblemsPanel(TablePanel[tuple[Problem, ...]]):
    """What is wrong with the capture."""

    panel_id = "problems"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Problems", Elastic("text", "hint", 240, 1400), severity=self._paint_icon)
        self.view.opened.connect(self._copy)
        self.empty = page(self, self.view)
        self._soon = self.request(self._refresh)
        self.session.problems.watch(self._soon.ask)
        self._start()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return the listed problems, the worst first."""
        return self.result or ()

    def _refresh(self) -> None:
        problems = sorted(self.session.problems.value, key=lambda problem: ORDER[problem.severity])
        self.result = tuple(problems)
        severity, where, text, hint = zip(*map(_cells, problems), strict=True) if problems else ((),) * 4
        self.view.show_columns(
            (
                field_column(SEVERITY, severity, title="", text=lambda _: "", width=28),
                Column("where", "where", where, width=180, is_elided_left=True, tip="The file."),
                Column("text", "what", text, width=420, tip="What is wrong."),
                Column("hint", "what to do", hint, width=360, tip="What to do."),
            )
        )
        self.empty.say("" if problems else self.reason(FINE))

    def _paint_icon(self, painter: QPainter, cell: QRect, row: int) -> None:
        if 0 <= row < len(self.problems):
            name, role = SEVERITIES[self.problems[row].severity]
            picture = pixmap(name, self.ui.theme.role(role), 14, self.devicePixelRatioF())
            painter.drawPixmap(cell.left() + 7, cell.center().y() - 6, picture)

    def _copy(self, row: int) -> None:
        if 0 <= row < len(self.problems):
            problem = self.problems[row]
            copy_text(f"{problem.severity}: {problem.where}: {problem}")

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "info", "--read")

    def sheet(self) -> Sheet | None:
        if not self.problems:
            return None
        rows = map(_cells, self.problems)
        return Sheet("Problems", ("severity", "where", "what", "what to do"), rows)


def _cells(problem: Problem) -> tuple[str, str, str, str]:
    return str(problem.severity), problem.where, problem.text, problem.hint
