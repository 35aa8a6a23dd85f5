"""When to process all waves again while more arrive."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from rcv_py.state.session import Session

MORE = 2  # growth of the number of waves that makes another pass worth its cost


class Arrivals(QObject):
    """Calls back when the number of waves has grown by the factor `MORE`, and when no more will come.

    For work that must process all waves again: all passes together cost only a few times the last.
    """

    def __init__(self, parent: QObject, session: Session, call: Callable[[], None]) -> None:
        super().__init__(parent)
        self._session, self._call = session, call
        self._waves = 0  # number of waves at the last call
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
