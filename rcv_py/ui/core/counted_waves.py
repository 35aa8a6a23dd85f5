"""Which waves a panel that explains is about: a few words for its note."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from rcv_py.analysis.waves.populations import Populations, WaveChoice, chosen_or_working, populations
from rcv_py.base.text import plural
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session


def waves_note(session: Session) -> str:
    """Return `partial: 12 of 68 waves read`, `3,598 working waves of 4,112`, or "" if all waves count."""
    trace, store, choice = session.trace.value, session.store, session.choice
    if trace is None or store is None:
        return ""
    parts = []
    if store.count < len(trace.waves):
        parts.append(f"partial: {store.count:,} of {plural(len(trace.waves), 'wave')} read")
    if choice is not None and (choice.rows is not None or "none of which" in choice.text):
        parts.append(choice.text)
    return " · ".join(parts)


class Ways:
    """Populations of the batches that were asked for last, made once for all analyses that need them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: Sequence[WaveBatch] | None = None
        self._found: Populations | None = None

    def of(self, trace: Trace, batches: Sequence[WaveBatch]) -> Populations:
        """Return the populations of these batches."""
        with self._lock:
            if self._found is None or self._of is not batches:
                self._found, self._of = populations(trace, batches), batches
            return self._found

    def choice(self, trace: Trace, batches: Sequence[WaveBatch], name: str) -> WaveChoice:
        """Return the waves that a name stands for; while none of its kind was read, those that work."""
        return chosen_or_working(self.of(trace, batches), name)
