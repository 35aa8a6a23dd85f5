"""What one turn of the event loop does: little enough that keys and pictures come between."""

import gc
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import active_children
from weakref import ref

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QProgressBar, QWidget

from rcv_py.base.progress import Stage
from rcv_py.tuning.processors import SWITCH_S
from rcv_py.ui.app import start
from rcv_py.ui.core.frame_budget import FRAME_S, FrameBudget, Posts
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.tasks import MAX_AT_ONCE, MAX_UNCOLLECTED, YOUNG_BEFORE_OLDER, GcGate
from rcv_py.ui.shell.toolbar import StatusBar
from rcv_py.work import load
from tests.support.shared_memory import blocks
from tests.ui.window import SAMPLE, settle, window


class Paints(QObject):
    """Counts how often widgets are painted."""

    count = 0

    def eventFilter(self, at: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


class Clock:
    """A clock that only goes on when something says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The application shares turns whose time goes by this clock."""
    clock = Clock()
    monkeypatch.setattr(FrameBudget, "_of_application", FrameBudget(qapp, clock))
    return clock


def _answer(clock: Clock, seconds: float, done: list[int], number: int) -> None:
    clock.spend(seconds)
    done.append(number)


def _turns_until(qtbot: object, done: list[int], count: int) -> set[int]:
    """Wait for so many calls; return how many were done at turns between."""
    turns, timer = set(), QTimer(interval=0)
    timer.timeout.connect(lambda: turns.add(len(done)))
    timer.start()
    qtbot.waitUntil(lambda: len(done) == count)
    timer.stop()
    return turns


def test_answers_that_take_long_are_spread_over_turns_in_their_order(qtbot: object, clock: Clock) -> None:
    done = []
    posts = Posts(QApplication.instance())
    for number in range(5):
        posts.post(partial(_answer, clock, FRAME_S, done, number))
    assert _turns_until(qtbot, done, 5) >= {1, 2, 3, 4}, "events come between two of them"
    assert done == [0, 1, 2, 3, 4]


def test_short_answers_share_a_turn(qtbot: object, clock: Clock) -> None:
    done = []
    posts = Posts(QApplication.instance())
    for number in range(5):
        posts.post(partial(_answer, clock, FRAME_S / 10, done, number))
    assert not {1, 2, 3, 4} & _turns_until(qtbot, done, 5)


def test_requests_that_are_due_at_once_are_spread_too(ui: UiContext, clock: Clock, qtbot: object) -> None:
    left = []
    owner = QObject()

    def call() -> None:
        clock.spend(FRAME_S)
        left.append(sum(burst.is_pending for burst in bursts))

    bursts = [ui.scheduler.request(owner, call) for _ in range(4)]
    for burst in bursts:
        burst.ask()
    assert _turns_until(qtbot, left, 4) >= {1, 2, 3}
    assert left == [3, 2, 1, 0], "what waits for its turn is still to come"


def test_what_a_long_call_changed_is_painted_first_in_the_next_turn(qtbot: object, clock: Clock) -> None:
    done = []
    turns = FrameBudget.here()
    turns.call(partial(_answer, clock, FRAME_S / 2, done, 1))
    turns.paint(partial(_answer, clock, FRAME_S, done, 2))
    assert done == [1, 2], "a short one and its picture share a turn"
    turns.call(partial(done.append, 4))
    turns.paint(partial(done.append, 3))
    assert done == [1, 2]
    qtbot.waitUntil(lambda: len(done) == 4)
    assert done == [1, 2, 3, 4]


def test_a_window_is_painted_in_turn(qtbot: object, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Callable[[], None]] = []
    with window(is_painted=True) as app:
        settle(app)
        monkeypatch.setattr(FrameBudget, "paint", lambda self, paint: waiting.append(paint))
        paints = Paints()
        app.window.pages.welcome.installEventFilter(paints)
        app.window.pages.welcome.update()
        qtbot.waitUntil(lambda: bool(waiting))
        assert not paints.count
        waiting[0]()
        assert paints.count == 1
        monkeypatch.undo()


def test_what_waits_for_its_turn_is_made_once_or_forgotten(
    ui: UiContext, clock: Clock, qtbot: object
) -> None:
    done = []
    owner = QObject()

    def call() -> None:
        clock.spend(FRAME_S)
        done.append("first")
        QTimer.singleShot(0, act)

    def act() -> None:
        second.now()
        third.cancel()

    first = ui.scheduler.request(owner, call)
    second = ui.scheduler.request(owner, lambda: done.append("second"))
    third = ui.scheduler.request(owner, lambda: done.append("third"))
    for burst in (first, second, third):
        burst.ask()
    qtbot.waitUntil(lambda: "second" in done)
    qtbot.wait(2)
    assert done.count("second") == 1
    assert not any(burst.is_pending for burst in (first, second, third))


def test_a_mistake_in_a_call_keeps_no_other_from_its_turn(qtbot: object, clock: Clock) -> None:
    done = []

    def mistake() -> None:
        clock.spend(FRAME_S)
        raise ValueError("wrong")

    turns = FrameBudget.here()
    with qtbot.capture_exceptions() as seen:
        QTimer.singleShot(0, turns, lambda: turns.call(mistake))
        QTimer.singleShot(0, turns, lambda: turns.call(mistake))
        QTimer.singleShot(0, turns, lambda: turns.call(lambda: done.append(1)))
        qtbot.waitUntil(lambda: done == [1])
    assert len(seen) == 2
    assert not turns.waiting


def test_progress_paints_nothing_by_itself(ui: UiContext, qtbot: object) -> None:
    """A bar of Qt paints when it gets a value, and with it whatever else is to be painted."""

    status, paints = StatusBar(ui, lambda: None, lambda: None), Paints()
    other = QWidget(status)
    status.resize(800, 30)
    status.show()
    ui.session.busy.set((Stage("Reading", 1, 100),))
    QApplication.processEvents()
    for widget in (status.findChild(QProgressBar), other):
        widget.installEventFilter(paints)
    other.update()
    ui.session.busy.set((Stage("Reading", 50, 100),))
    assert not paints.count
    assert status.bar.value() == 50
    qtbot.waitUntil(lambda: paints.count > 0)
    status.close()


def test_garbage_is_collected_young_and_often_and_all_of_it_when_nothing_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generations: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda generation=2: generations.append(generation))
    monkeypatch.setattr(GcGate, "outlived", 0)

    def look(made: int, young: int) -> None:
        monkeypatch.setattr(gc, "get_count", lambda: (made, young, 0))
        GcGate.collect_young()

    look(MAX_UNCOLLECTED, 0)
    assert not generations, "too few for the price"
    look(MAX_UNCOLLECTED + 1, YOUNG_BEFORE_OLDER - 1)
    look(MAX_UNCOLLECTED + 1, YOUNG_BEFORE_OLDER)
    assert generations == [0, 1], "never all of them while somebody may wait"
    look(MAX_AT_ONCE + 1, YOUNG_BEFORE_OLDER)
    assert generations == [0, 1], "nor a large answer"
    look(MAX_AT_ONCE, YOUNG_BEFORE_OLDER - 1)
    look(MAX_UNCOLLECTED + 1, YOUNG_BEFORE_OLDER)
    assert generations == [0, 1, 0, 0], "nor many that are older"
    generations[:] = 0, 1
    monkeypatch.setattr(GcGate, "windows", 2)
    monkeypatch.setattr(GcGate, "jobs", 1)
    assert not GcGate.collect_all(), "a job runs"
    monkeypatch.setattr(GcGate, "jobs", 0)
    assert GcGate.collect_all()
    assert generations == [0, 1, 2]


def test_a_start_looks_for_no_garbage_among_what_it_makes(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that was imported would be looked at, and none of it is garbage."""
    generations: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda generation=2: generations.append(generation))
    monkeypatch.setattr(GcGate, "outlived", 0)
    monkeypatch.setattr(gc, "get_count", lambda: (10**6, 10**3, 0))
    app = start(None, has_capture=True)
    made = list(generations)
    monkeypatch.undo()
    app.close()
    assert not made
    assert sys.getswitchinterval() == pytest.approx(SWITCH_S), "threads that compute let the window go first"


@pytest.mark.parametrize("how", ["close", "cancel"])
def test_a_window_that_is_closed_while_waves_stream_leaves_nothing_behind(
    qtbot: object, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Neither a process nor shared memory, nor a wave that comes later; jobs of panels included."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(load, "JOB_BYTES", 20_000)
    before, came = blocks(), []
    with window() as app:
        app.loader.batch.connect(came.append)
        app.window.opener.open(SAMPLE)
        for panel in ("utilization", "hotspot"):
            app.window.workspace.show_panel(panel)
        qtbot.waitUntil(lambda: bool(came))
        if how == "cancel":
            app.window.cancel()
            settle(app)
            assert app.ui.session.store.count > 0
            assert not app.ui.session.busy.value
        count, session = len(came), ref(app.ui.session)
    assert not active_children()
    QApplication.processEvents()
    assert len(came) == count
    came.clear()
    del app
    qtbot.waitUntil(
        lambda: not {*blocks()} - {*before} and session() is None  # those of tests before may go meanwhile
    )
