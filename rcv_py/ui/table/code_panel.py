"""What the panels of code share: instructions, or the lines of a source file, each with what it costs."""

from __future__ import annotations

import numpy as np

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import CostUpdates
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.heat_strip import HeatStrip
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import grouped


class CodePanel(Panel):
    """A table of code beside a map of its hot rows; costs are computed again when what counts changes.

    A subclass calls `follow_session` when it is made, and says how it opens, computes and follows.
    """

    view: RowsView

    def __init__(self, ui: UiContext, view: RowsView, strip: HeatStrip, find_bar: FindBar) -> None:
        super().__init__(ui)
        self.view, self.strip, self.find_bar = view, strip, find_bar
        self.remembered["table"] = view
        self.note = PlainLabel(visible=False, wordWrap=True)
        self.note.setContentsMargins(8, 0, 8, 4)
        self.note.setMinimumWidth(1)
        self._updates = CostUpdates(self, self._compute, self.stream_ms)
        view.opened.connect(lambda row: self.session.fit_selection())

    stream_ms = 300  # while waves arrive, costs are computed at most this often

    def follow_session(self) -> None:
        """Begin to follow the session, and show what is open."""
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.hover.watch(self._show_hover)
        self._open()

    def _open(self) -> None:
        """Another trace is open, or none."""

    def _compute(self) -> None:
        """Compute the costs in a thread."""

    def _follow(self) -> None:
        """Show the selection."""

    def _show_hover(self) -> None:
        """Tint what the mouse is over in another panel."""

    def show_note(self, note: str) -> None:
        """Say something above the table, "" for nothing."""
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def focus_search(self) -> bool:
        """Put the cursor into the search field."""
        self.find_bar.show()
        self.find_bar.focus()
        return True


def next_hottest(cost: np.ndarray, current: int | None, direction: int) -> int:
    """Return the row that costs next less (+1) or next more (-1) than the current one, around the end.

    The costliest one if the current row costs nothing; -1 if no row costs anything.
    """
    ranked = np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))]
    at = np.flatnonzero(ranked == current)
    return int(ranked[(int(at[0]) + direction) % len(ranked) if len(at) else 0]) if len(ranked) else -1


def blank_zero(value: int) -> str:
    """Return a number grouped by thousands, "" for 0."""
    return grouped(value) if value else ""


def share_text(value: float) -> str:
    """Return a percentage as a column shows it, "" for 0."""
    return "" if value <= 0 else "<0.1" if value < 0.05 else f"{value:.1f}"
