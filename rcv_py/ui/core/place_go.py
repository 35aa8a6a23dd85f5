"""Go to a place given from outside, also in a capture that is still loading, or to an execution."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SelectedPlace, Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.tasks import Tasks

AROUND = 500  # cycles of the view on either side of a cycle


def go_to_place(session: Session, place: SelectedPlace) -> None:
    """Select what a place names, and show its cycle if it names one."""
    chosen = place.selection
    if chosen.line is not None and chosen.wave is None:
        session.select_line(chosen.line)
    elif chosen.wave is not None:
        wave = None if session.store is None else session.store.wave_by_id(chosen.wave)
        if wave is not None and place.cycle is not None and len(wave.tokens) and chosen.line is None:
            began = int(wave.tokens.start.searchsorted(place.cycle, side="right"))
            session.select_token(chosen.wave, max(0, began - 1))  # the last that began by the cycle
        else:
            session.select(chosen)
    if place.cycle is not None:
        session.set_view(TimeWindow(place.cycle - AROUND, place.cycle + AROUND))
    elif session.token() is not None:
        session.fit_selection()


class Destination(QObject):
    """Goes to a place when a capture is open, and when it is read, until the user selects something else."""

    def __init__(
        self,
        session: Session,
        place: SelectedPlace,
        fail: Callable[[RcvError], None],
        parent: QObject | None = None,
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


class ExecutionFinder(QObject):
    """Finds the executions that the session looks for, and retries when no more waves will come."""

    def __init__(self, session: Session, tasks: Tasks) -> None:
        super().__init__()
        self._session, self._tasks = session, tasks
        session.executions.sought.watch(self._find)
        session.busy.watch(self._look_again)
        session.loaded.watch(self._look_again)

    def _find(self) -> None:
        sought = self._session.executions.sought.value
        if sought is not None and sought.place.line is not None:
            executions = self._session.executions
            self._tasks.run(self, executions.of_line(sought.place.line), partial(executions.found, sought))

    def _look_again(self) -> None:
        store = self._session.store
        if store is not None and store.is_complete:
            self._session.executions.find_again()
