"""Decide when work happens: a state machine for each request, drawn in `docs/internals/scheduling.md`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from functools import partial
from typing import Protocol, TypedDict, TypeVar, Unpack
from weakref import WeakKeyDictionary

from PySide6.QtCore import QElapsedTimer, QObject
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from rcv_py.state.incremental import AnswerFlag
from rcv_py.state.session import Session
from rcv_py.ui.core.frame_budget import FrameBudget, Importer, one_shot
from rcv_py.ui.core.tasks import Tasks

REST = 4  # while waves stream in, a job of n ms is not started again for n * REST ms
LOOK_MS = 10  # between looks whether what comes first is done
WAKE_MS = 10  # what is shown only for a moment, while panels change places, does not wake
MORE = 2  # growth of the number of waves that makes another pass over all of them worth its cost

Result = TypeVar("Result")
After = Callable[[Callable[[], object]], object]  # calls a function once something is done


class State(Enum):
    """What a request waits for."""

    IDLE = "nothing"
    RESTING = "its interval"
    QUEUED = "time in a frame"
    HIDDEN = "its panel to be visible"
    RUNNING = "the answer of a thread"
    RUNNING_AGAIN = "the answer of a thread, to ask for another"


class Waking(Protocol):
    """A widget, or all that want a result: reports whether it is visible, and runs requests when it is."""

    @property
    def is_asleep(self) -> bool:
        """Whether it is hidden."""

    @property
    def is_waking(self) -> bool:
        """Whether requests will run in a moment."""

    @property
    def is_last(self) -> bool:
        """Whether its requests are details that follow the findings: background work runs beside them."""

    def on_wake(self, request: Request) -> None:
        """Call `woken` of a request once when it is visible."""


class RequestOptions(TypedDict, total=False):
    """What is special about a request."""

    visibility: Waking  # it waits while this is asleep
    is_background: bool  # it begins while nothing else is to be done but that, and what follows the findings
    always_rests: bool  # updates are some time apart whether or not waves stream in


class Request(QObject):
    """One kind of work of an owner: of many calls the newest counts, and of many answers.

    `call` does the work on the UI thread, or begins it with `run`.  It returns False if there was nothing to
    do, so that no interval begins.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        owner: QObject,
        call: Callable[[], object],
        every_ms: int,
        **options: Unpack[RequestOptions],
    ) -> None:
        super().__init__(owner)
        self.state = State.IDLE
        self.is_background = options.get("is_background", False)
        self.waves = 0  # at the last doubling
        self.flag = AnswerFlag()  # of the newest job, if that takes one
        self._scheduler, self._session, self._owner = scheduler, scheduler.session, owner
        self._call = self._due = call  # `_due`: the call, or a job that waits until the panel is visible
        self._every_ms = self._pause_ms = every_ms
        self._visibility = options.get("visibility")
        self._always_rests = options.get("always_rests", False)
        self._topic = f"request {id(self)}"
        self._is_wanted: Callable[[], bool] = lambda: True  # on doublings
        self._since = QElapsedTimer()  # since the last call
        self._timer = one_shot(self, self._queue)

    def ask(self, after_ms: int = 0) -> None:
        """Request work because the question changed: soon, and instead of a job that runs."""
        self._due = self._call
        if self.state is State.HIDDEN and self._is_hidden:
            self._hide(self._call)
        elif self.state is not State.QUEUED:
            self.state = State.RESTING
            self._timer.start(after_ms)

    def update(self) -> None:
        """Request work because data changed: after the job that runs.

        While waves stream in, it also waits for the interval: an answer in between would be replaced at once,
        and cost the time of the next.
        """
        if self.is_running:
            self.state = State.RUNNING_AGAIN
        elif self.state is not State.RESTING or not self._rest_ms:
            self.ask(self._rest_ms)

    def now(self) -> None:
        """Work at once, or once the panel is visible."""
        self._make(self._call)

    def run(self, job: Callable[[], Result], done: Callable[[Result], None]) -> None:
        """Run a job in a thread and pass its answer to `done`; at once, or once the panel is visible.

        No answer comes if a newer job of this request ran, or another capture is open.
        """
        if self._is_hidden:
            self._scheduler.tasks.cancel(self._owner, self._topic)
            self._hide(partial(self.run, job, done))
            return
        self._timer.stop()
        self.state, self._due = State.RUNNING, self._call
        self._since.start()
        self._scheduler.tasks.run(self._owner, job, done, self._topic, ended=self._ended)

    def new_flag(self) -> AnswerFlag:
        """End the reading of waves for the job before, and return the flag of the next."""
        self.flag.end()
        self.flag = AnswerFlag()
        return self.flag

    def cancel(self) -> None:
        """Drop everything that was requested."""
        self.flag.end()
        self._scheduler.tasks.cancel(self._owner, self._topic)
        self._timer.stop()
        self.state = State.IDLE
        self._pause_ms, self.waves = self._every_ms, 0
        self._since.invalidate()

    @property
    def is_pending(self) -> bool:
        """Return whether a call is about to be made."""
        if self.state is State.HIDDEN:
            return self._visibility is not None and self._visibility.is_waking
        return self.state not in (State.IDLE, State.RUNNING)

    @property
    def is_last(self) -> bool:
        """Return whether it is a detail that follows the findings."""
        return self._visibility is not None and self._visibility.is_last

    @property
    def is_running(self) -> bool:
        """Return whether a thread computes it."""
        return self.state in (State.RUNNING, State.RUNNING_AGAIN)

    def is_of(self, owner: QObject) -> bool:
        """Return whether it is a request of an owner or of a part of it."""
        part: QObject | None = self
        while part is not None and part is not owner:
            part = part.parent()
        return part is owner

    def follow_doublings(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Update whenever the number of waves has doubled, and when no more will come.

        For work that must process all waves again: all passes together cost only a few times the last.
        """
        self._is_wanted = is_wanted
        self._session.loaded.watch(self._look)
        self._session.busy.watch(self._look)

    def _look(self) -> None:
        store = self._session.store
        waves = 0 if store is None else store.read + len(store.missing)
        is_over = not self._session.is_streaming
        if waves != self.waves and (is_over or waves >= MORE * self.waves):
            self.waves = waves
            if self._is_wanted():
                (self.ask if is_over else self.update)()

    def woken(self) -> None:
        """Go on: the panel is visible."""
        if self.state is State.HIDDEN:
            self._queue()

    def hurry(self) -> None:
        """Rest no longer: no more waves will stream in."""
        if self.state is State.RESTING and not (self.is_background or self._always_rests):
            self._timer.start(0)

    def forget(self) -> None:
        """Drop what concerns the capture that was open, but not that the panel must be brought up to date."""
        if self.is_background and self.state is State.RESTING:
            return
        is_wanted = self.state not in (State.IDLE, State.RUNNING) and self._due is self._call
        self.cancel()
        if is_wanted:
            self.ask()

    def _queue(self) -> None:
        if self.is_background and not self._scheduler.has_room:
            self.state = State.RESTING
            self._timer.start(self._every_ms)
        else:
            self.state = State.QUEUED
            FrameBudget.here().call(self._make_due)

    def _make_due(self) -> None:
        if isValid(self) and self.state is State.QUEUED:
            self._make(self._due)

    def _make(self, call: Callable[[], object]) -> None:
        self._timer.stop()
        if self._is_hidden:
            self._hide(call)
            return
        is_running = self._scheduler.tasks.is_running(self._owner, self._topic)
        self.state = State.RUNNING if is_running else State.IDLE
        if call() is not False and self.state is not State.RUNNING:
            self._since.start()

    def _hide(self, call: Callable[[], object]) -> None:
        assert self._visibility is not None
        self.state, self._due = State.HIDDEN, call
        self._visibility.on_wake(self)

    def _ended(self) -> None:
        self._pause_ms = max(self._every_ms, REST * self._since.elapsed())
        if self.state is State.RUNNING:
            self.state = State.IDLE
        elif self.state is State.RUNNING_AGAIN:
            self.ask(self._rest_ms)

    @property
    def _is_hidden(self) -> bool:
        return self._visibility is not None and self._visibility.is_asleep

    @property
    def _rest_ms(self) -> int:
        """Milliseconds until data that stream in may be shown again."""
        rests = self._always_rests or self._session.is_streaming
        return max(0, self._pause_ms - self._since.elapsed()) if rests and self._since.isValid() else 0


class Visibility(QObject):
    """Reports whether a widget is worth computing for, and runs waiting requests when it becomes so.

    The widget's owner calls `update` when the widget is shown or hidden.
    """

    is_last = False

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._may_sleep = self._is_seen = False
        self._waiting: dict[Request, None] = {}  # in the order of requests
        self._wake_timer = one_shot(self, self.wake, WAKE_MS)

    @property
    def is_asleep(self) -> bool:
        """Whether the widget may sleep (`allow_sleep`), and is hidden by a tab, folded, or closed."""
        return self._may_sleep and not self._is_seen

    @property
    def is_waking(self) -> bool:
        """Whether the widget will be awake in a moment."""
        return self._wake_timer.isActive()

    def allow_sleep(self) -> None:
        """Let the widget sleep from now on: it is part of a window that hides it at times."""
        self._may_sleep = True
        self.update()

    def on_wake(self, request: Request) -> None:
        """Call `woken` of a request once when the widget is visible."""
        self._waiting.pop(request, None)
        self._waiting[request] = None

    def update(self) -> None:
        """Sleep at once if the widget is hidden; wake in a moment if it is shown."""
        if not self._widget.isVisible():
            self._is_seen = False
            self._wake_timer.stop()
        elif not (self._is_seen or self._wake_timer.isActive()):
            self._wake_timer.start()

    def wake(self) -> None:
        """Run what waits: the widget is visible, or what it shows is wanted all the same."""
        self._wake_timer.stop()
        self._is_seen = True
        waiting, self._waiting = self._waiting, {}
        for request in filter(isValid, waiting):
            request.woken()


class LateVisibility:
    """A visibility that also sleeps while something comes first, such as the first picture or the findings.

    For work whose thread would hold Python's lock or take a processor meanwhile.
    """

    def __init__(
        self, visibility: Visibility, comes_first: Callable[[], bool], after: After | None = None
    ) -> None:
        """Look again when `after` calls, without it every few milliseconds: that is for what comes last."""
        self._visibility, self._comes_first, self.is_last = visibility, comes_first, after is None
        self._waiting: dict[Request, None] = {}
        timer = one_shot(visibility, self._look, LOOK_MS)
        self._after = after or (lambda look: timer.start())

    @property
    def is_asleep(self) -> bool:
        """Whether the widget sleeps, or other work comes first."""
        return self._comes_first() or self._visibility.is_asleep

    @property
    def is_waking(self) -> bool:
        """Whether requests will run in a moment."""
        return not self._comes_first() and (bool(self._waiting) or self._visibility.is_waking)

    def on_wake(self, request: Request) -> None:
        """Call `woken` of a request once when the widget is visible and nothing comes first."""
        if self._comes_first():
            self._waiting[request] = None
            self._after(self._look)
        else:
            self._visibility.on_wake(request)

    def _look(self) -> None:
        if self._comes_first():
            self._after(self._look)
            return
        waiting, self._waiting = self._waiting, {}
        for request in filter(isValid, waiting):
            request.woken()


class Scheduler(QObject):
    """All requests of a window, and the threads and imports that they wait for."""

    def __init__(self, session: Session, tasks: Tasks | None = None) -> None:
        super().__init__()
        self.session = session
        self.tasks = Tasks() if tasks is None else tasks
        self.importer = Importer(self)
        self._requests: WeakKeyDictionary[Request, None] = WeakKeyDictionary()
        session.trace.watch(self._forget)  # before any panel watches it
        session.loaded.watch(self._hurry)
        session.busy.watch(self._hurry)

    def request(
        self, owner: QObject, call: Callable[[], object], every_ms: int = 0, **options: Unpack[RequestOptions]
    ) -> Request:
        """Return a new request, whose updates are `every_ms` apart while waves stream in."""
        request = Request(self, owner, call, every_ms, **options)
        self._requests[request] = None
        return request

    def is_pending(self, owner: QObject) -> bool:
        """Return whether an owner, or a part of it, is about to be called."""
        return any(one.is_pending and one.is_of(owner) for one in self._living if not one.is_background)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is computed, imported or about to be called, except in the background."""
        return self.is_calm and not self.importer.has_rest

    @property
    def is_calm(self) -> bool:
        """Return whether the scheduler is idle apart from what waits for that after the first picture."""
        return self._is_free(())

    @property
    def has_room(self) -> bool:
        """Return whether background work may begin: beside other background work, and what comes last."""
        beside = [one for one in self._living if one.is_last or one.is_background]
        return self._is_free(beside) and not self.importer.has_rest

    def _is_free(self, but: Collection[Request]) -> bool:
        """Return whether nothing is computed or about to be called but some requests and the background."""
        others = (one for one in self._living if not one.is_background and one not in but)
        is_free = self.tasks.running == sum(one.is_running for one in but) and self.importer.is_idle
        return is_free and not FrameBudget.here().waiting and not any(one.is_pending for one in others)

    @property
    def has_background_work(self) -> bool:
        """Return whether anything runs once the scheduler is idle."""
        return any(one.is_pending for one in self._living if one.is_background)

    @property
    def _living(self) -> list[Request]:
        return [request for request in self._requests if isValid(request)]

    def _forget(self) -> None:
        for request in self._living:
            request.forget()

    def _hurry(self) -> None:
        if not self.session.is_streaming:
            for request in self._living:
                request.hurry()
