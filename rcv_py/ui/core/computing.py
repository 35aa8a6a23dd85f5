"""What a panel says while the numbers it shows are being made, kept up to date until they are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer

from rcv_py.base.text import plural
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.shared_results import SharedResults

EVERY_MS = 400  # at most so often the sentence changes


def computing(session: Session, results: SharedResults, what: str, names: Sequence[str]) -> str:
    """Return how far waves were read, or how far the first of these results is that is not there yet."""
    trace, store = session.trace.value, session.store
    if trace is None or store is None:
        return ""
    waves, lost = len(trace.waves), len(store.missing)
    unread = f" {plural(lost, 'wave')} cannot be read." if lost else ""
    if session.is_streaming:
        return f"Reading waves, {store.read:,} of {waves - lost:,}, for {what} …{unread}"
    at = next((stage for name in names if (stage := results.stage(name)) is not None), None)
    return f"Computing {what} …{'' if at is None else f' ({at})'}{unread}"


class Computing(QTimer):
    """Calls a panel to say it again while it says so."""

    def __init__(self, panel: Panel, what: str, names: Sequence[str], say: Callable[[], None]) -> None:
        super().__init__(panel, interval=EVERY_MS)
        self._panel, self._what, self._names, self._say = panel, what, tuple(names), say
        self._last = ""
        self.timeout.connect(self._look)

    def said(self, is_waiting: bool) -> str:
        """Return the sentence while something is waited for, "" else."""
        if not is_waiting:
            self.stop()
            return ""
        if not self.isActive():
            self.start()
        ui = self._panel.ui
        self._last = computing(ui.session, ui.results, self._what, self._names)
        return self._last

    def _look(self) -> None:
        ui = self._panel.ui
        is_seen = not self._panel.visibility.is_asleep
        if is_seen and computing(ui.session, ui.results, self._what, self._names) != self._last:
            self._say()
