"""Track whether a widget is visible, defer work until it is, and merge bursts of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from PySide6.QtCore import QElapsedTimer, QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from rcv_py.ui.core.turns import FrameBudget

WAKE_MS = 10  # Qt shows every tab for a moment while it lays them out


class Visibility(QObject):
    """Reports to jobs, bursts of calls and shared results whether a widget is worth computing for.

    The widget's owner calls `look` when the widget is shown or hidden.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._may_sleep = self._is_seen = self._is_waking = False
        self._is_in_front = True
        self._held = 0
        self._parts: list[Visibility] = []
        self._on_wake: dict[object, tuple[Callable[[], None], bool]] = {}
        self._wake_timer = QTimer(self, singleShot=True, interval=WAKE_MS)
        self._wake_timer.timeout.connect(self._wake_in_turn)

    @property
    def is_asleep(self) -> bool:
        """Whether the widget need not compute because it is hidden by a tab, folded, or closed.

        Qt reports a widget on a hidden tab as visible and moves it out of the window; only its dock knows.  A
        widget without a dock never sleeps.
        """
        return self._may_sleep and not self._is_seen and not self._held

    @property
    def is_waking(self) -> bool:
        """Whether deferred work will run in a moment."""
        is_own = bool(self._on_wake) and (self._wake_timer.isActive() or self._is_waking)
        return is_own or any(part.is_waking for part in self._parts)

    def lead(self, part: Visibility) -> None:
        """Make a part of the widget sleep and wake with it; a hidden part sleeps anyway."""
        self._parts.append(part)
        part.set_in_front(self._is_in_front)

    def _shown_parts(self) -> list[Visibility]:
        return [part for part in self._parts if part._widget.isVisibleTo(self._widget)]

    def allow_sleep(self) -> None:
        """Let the widget sleep from now on: it is part of a window that hides it at times."""
        self._may_sleep = True
        self.look()

    def set_in_front(self, is_in_front: bool) -> None:
        """Record, for the dock, whether it is in front of the other tabs if it is shown at all."""
        self._is_in_front = is_in_front
        self.look()
        for part in self._parts:
            part.set_in_front(is_in_front)

    def on_wake(self, key: object, call: Callable[[], None], *, is_lasting: bool = False) -> None:
        """Call once when the widget is visible again, in the order of requests.

        A newer call of a key replaces the older and moves to the end, since a later request mutes earlier
        work.  Unless it is lasting, it concerns the open capture and is dropped with it.
        """
        self._on_wake.pop(key, None)
        self._on_wake[key] = (call, is_lasting)

    def puts_off(self, call: Callable[[], None]) -> bool:
        """Return whether the widget is hidden; if so, `call` is made as soon as it is visible."""
        if self.is_asleep:
            self.on_wake(call, call, is_lasting=True)
            return True
        return False

    def keep_awake(self) -> None:
        """Compute from now on, visible or not."""
        self._may_sleep = False
        self._do_put_off()
        for part in self._shown_parts():
            part.keep_awake()

    @contextmanager
    def held_awake(self) -> Iterator[None]:
        """Let a hidden widget compute during the block: for a picture or a table."""
        self._held += 1
        try:
            self._do_put_off()
            with ExitStack() as held:
                for part in self._shown_parts():
                    held.enter_context(part.held_awake())
                yield
        finally:
            self._held -= 1

    def look(self) -> None:
        """Sleep at once if the widget is hidden; wake in a moment if it is shown."""
        if not (self._widget.isVisible() and self._is_in_front):
            self._is_seen = self._is_waking = False
            self._wake_timer.stop()
        elif not (self._is_seen or self._is_waking or self._wake_timer.isActive()):
            self._wake_timer.start()

    def wake(self) -> None:
        """Do the deferred work: the widget is visible."""
        self._wake_timer.stop()
        self._is_waking = False
        self._is_seen = True
        self._do_put_off()
        for part in self._shown_parts():
            part.wake()

    def _wake_in_turn(self) -> None:
        self._is_waking = True
        FrameBudget.here().call(self._wake_if_due)

    def _wake_if_due(self) -> None:
        if isValid(self) and self._is_waking:
            self.wake()

    def forget(self) -> None:
        """Drop work deferred for a closed capture."""
        self._on_wake = {key: entry for key, entry in self._on_wake.items() if entry[1]}

    def _do_put_off(self) -> None:
        put_off, self._on_wake = self._on_wake, {}
        for call, _ in put_off.values():
            call()


WHEN_IDLE = "when idle"  # name of the timer of low-priority work
REST = 4  # a job of n ms is not started again by a burst for n * REST ms


class Coalesce(QObject):
    """Calls back once for many `ask`s: as soon as Qt is idle, then at most every `every_ms`.

    A caller that starts a job in a thread reports it with `started` and `finished`.  No call is made in
    between: a newer job would mute the running job, and while waves stream in nothing would ever be shown.
    Afterwards a slow job rests longer than a quick job. Once `is_over` (nothing more will stream in) there is
    no pause.  No call is made while the widget is hidden.
    """

    def __init__(
        self,
        parent: QObject,
        call: Callable[[], None],
        every_ms: int = 0,
        *,
        visibility: Visibility | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(parent)
        self._visibility = visibility
        self._is_over = is_over
        self._call = call
        self._every_ms = self._pause_ms = every_ms
        self._is_running = self._is_wanted = False
        self._is_due = False  # and waits for its turn
        self._since = QElapsedTimer()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._run_in_turn)

    def ask(self) -> None:
        """Request a call; a pending request is enough."""
        if self._is_running:
            self._is_wanted = True
            return
        if self._is_due:
            return
        if self._is_over():
            self._timer.start(0)
        elif not self._timer.isActive():
            passed = self._since.elapsed() if self._since.isValid() else self._pause_ms
            self._timer.start(max(0, self._pause_ms - passed))

    @property
    def is_pending(self) -> bool:
        """Return whether a request is pending."""
        return self._timer.isActive() or self._is_due or self._is_wanted

    def now(self) -> None:
        """Call at once, whatever is pending."""
        self._stop()
        self._run()

    def started(self) -> None:
        """Record that a job runs, started here or elsewhere."""
        self._is_running, self._is_wanted = True, False
        self._stop()
        self._since.start()

    def finished(self) -> None:
        """Record that the job's answer is here."""
        if self._is_running:
            self._pause_ms = max(self._every_ms, REST * self._since.elapsed())
        self._is_running = False
        if self._is_wanted:
            self._is_wanted = False
            self.ask()

    def reset(self) -> None:
        """Forget everything: the requests concern something that no longer exists."""
        self._stop()
        self._is_running = self._is_wanted = False
        self._pause_ms = self._every_ms
        self._since.invalidate()

    def _stop(self) -> None:
        self._timer.stop()
        self._is_due = False

    def _run_in_turn(self) -> None:
        self._is_due = True
        FrameBudget.here().call(self._run_if_due)

    def _run_if_due(self) -> None:
        if self._is_due and isValid(self):
            self._is_due = False
            self._run()

    def _run(self) -> None:
        if self._visibility is not None and self._visibility.is_asleep:
            # Keyed by the call: once, though two of these may make it.
            self._visibility.on_wake(self._call, self._run, is_lasting=True)
            return
        self._since.start()
        self._call()
