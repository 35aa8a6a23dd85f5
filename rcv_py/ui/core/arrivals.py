"""When to look again at all waves while more of them arrive."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from rcv_py.state.session import Session

MORE = 2  # times as many waves as before make another look worth its price


class Arrivals(QObject):
    """Calls back when there are `MORE` times as many waves as at the last call, and when no more will come.

    For what has to look at all waves again: together that costs no more than a few looks at all of them.
    """

    def __init__(self, parent: QObject, session: Session, call: Callable[[], None]) -> None:
        super().__init__(parent)
        self._session, self._call = session, call
        self._waves = 0  # when it was called last
        session.trace.watch(self._forget)
        session.loaded.watch(self._look)
        session.busy.watch(self._look)

    def _forget(self) -> None:
        self._waves = 0

    def _look(self) -> None:
        store = self._session.store
        count = 0 if store is None else store.read + len(store.missing)
        if count != self._waves and (not self._session.is_streaming or count >= MORE * self._waves):
            self._waves = count
            self._call()
