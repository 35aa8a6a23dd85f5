"""Going to a place that somebody handed on, also in a capture that is still being read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Place, Selection
from rcv_py.state.session import Session

AROUND = 500  # cycles of the view on either side of a moment


def go_to_place(session: Session, place: Place) -> None:
    """Select what a place names, and show its cycle if it names one."""
    chosen = place.selection
    if chosen.line is not None and chosen.wave is None:
        session.select_line(chosen.line)
    elif chosen.wave is not None:
        token = _token_at(session, place)
        if token is not None and chosen.line is None:
            session.select_token(chosen.wave, token)
        else:
            session.select(chosen)
    if place.cycle is not None:
        session.set_view(TimeWindow(place.cycle - AROUND, place.cycle + AROUND))
    elif session.token() is not None:
        session.fit_selection()


def _token_at(session: Session, place: Place) -> int | None:
    """The last instruction of the wave that began by the cycle, None if the wave has not been read."""
    wave = None if session.store is None else session.store.wave_by_id(place.selection.wave)
    if wave is None or place.cycle is None or not len(wave.tokens):
        return None
    return max(0, int(np.searchsorted(wave.tokens.start, place.cycle, side="right")) - 1)


class Destination(QObject):
    """Goes to a place when a capture is open, and once more when what is there has been read.

    It lets go as soon as the user selects something else.
    """

    def __init__(
        self, session: Session, place: Place, fail: Callable[[RcvError], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._place, self._fail = session, place, fail
        self._arrived: Selection | None = None
        self._is_done = False
        session.trace.watch(self._opened)
        session.loaded.watch(self._loaded)
        self._opened()

    def _opened(self) -> None:
        trace = self._session.trace.value
        if trace is None or self._is_done or self._arrived is not None:
            return
        if why := self._place.why_not(trace):
            self._is_done = True
            self._fail(UsageError(why, hint="It may be a place of another capture."))
            return
        self._go()

    def _go(self) -> None:
        go_to_place(self._session, self._place)
        self._arrived = self._session.selection.value
        self._is_done = self._place.selection == Selection() or self._session.token() is not None

    def _loaded(self) -> None:
        if self._is_done or self._arrived is None:
            return
        self._is_done = self._session.selection.value != self._arrived
        if not self._is_done:
            self._go()
