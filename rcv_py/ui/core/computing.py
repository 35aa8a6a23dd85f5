"""The sentence a panel shows while its numbers are computed, kept up to date until they arrive."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QTimer

from rcv_py.base.progress import Stage
from rcv_py.base.text import Message, plural
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import Panel

EVERY_MS = 400  # minimum interval between changes of the sentence


StageOf = Callable[[], Stage | None]  # progress, None while unknown


def progress_text(session: Session, what: str, stages: Iterable[StageOf] = ()) -> str:
    """Return how many waves are read, or the first stage of the analysis under way."""
    trace, store = session.trace.value, session.store
    if trace is None or store is None:
        return ""
    waves, lost = len(trace.waves), len(store.missing)
    unread = Message(" {0} cannot be read.", plural(lost, "wave")) if lost else ""
    if not store.is_complete and (session.is_streaming or not store.batches):
        return Message("Reading waves, {0:,} of {1:,}, for {2} …{3}", store.read, waves - lost, what, unread)
    stage = next((stage for stage_of in stages if (stage := stage_of()) is not None), None)
    return Message("Computing {0} …{1}{2}", what, "" if stage is None else Message(" ({0})", stage), unread)


class Computing(QTimer):
    """Makes the sentence, and has the panel show it again whenever it changes."""

    def __init__(self, panel: Panel, say: Callable[[], None]) -> None:
        super().__init__(panel, interval=EVERY_MS)
        self._panel, self._say = panel, say
        self._what, self._stages = "", tuple[StageOf, ...]()
        self._last = ""
        self._when_seen = panel.request(say)
        self.timeout.connect(self._look)

    def begin(self, what: str, *results: str, stage: StageOf | None = None) -> str:
        """Return the progress sentence of shared results or a job, kept up to date until `stop`."""
        stages = [partial(self._panel.ui.results.stage, name) for name in results]
        self._what, self._stages = what, (*stages, *([stage] if stage is not None else []))
        self._last = progress_text(self._panel.session, what, self._stages)
        if self._panel.visibility.is_asleep:
            self._when_seen.now()
        elif not self.isActive():
            self.start()
        return self._last

    def _look(self) -> None:
        if self._panel.visibility.is_asleep:
            self._when_seen.now()
            self.stop()
        elif progress_text(self._panel.session, self._what, self._stages) != self._last:
            self._say()
