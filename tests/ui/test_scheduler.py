"""When requests run: many become one, the newest counts, none is starved, and hidden panels wait."""

from collections.abc import Callable
from threading import Event
from types import SimpleNamespace
from typing import Any, Unpack

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from rcv_py.base.progress import Stage
from rcv_py.formats.open import open_trace
from rcv_py.ui.core.panel import Panel, UiContext
from rcv_py.ui.core.scheduler import (
    WAKE_MS,
    LateVisibility,
    Request,
    RequestOptions,
    Scheduler,
    State,
)
from rcv_py.ui.core.tasks import Tasks
from tests.support.limits import HANG_S
from tests.ui.window import SAMPLE

LONG_MS = 600_000
READING = (Stage("Reading waves", 0, 100),)


@pytest.fixture
def streaming(ui: UiContext) -> UiContext:
    """Waves of a made-up capture stream in."""
    ui.session.store = SimpleNamespace(read=0, missing={}, is_complete=False)
    ui.session.busy.set(READING)
    return ui


class Answers:
    """A request whose job ends when the test says so."""

    def __init__(self, ui: UiContext, every_ms: int = 0, **options: Unpack[RequestOptions]) -> None:
        self.ran: list[int] = []
        self.answers: list[int] = []
        self.may_end = Event()
        self.owner = QObject()
        self.request = ui.scheduler.request(self.owner, self.compute, every_ms, **options)

    def compute(self) -> None:
        number = len(self.ran)
        self.ran.append(number)
        self.request.run(lambda: self.may_end.wait(HANG_S) and number, self.answers.append)


def at_rest(ui: UiContext) -> Callable[[], bool]:
    return lambda: ui.scheduler.is_idle


def test_many_requests_are_one_call_and_never_inside_the_asking(ui: UiContext, qtbot: QtBot) -> None:
    calls: list[int] = []
    owner = QObject()
    request = ui.scheduler.request(owner, lambda: calls.append(1))
    for _ in range(5):
        request.ask()
        request.update()
    assert not calls
    assert request.is_pending
    assert not ui.scheduler.is_idle
    qtbot.waitUntil(at_rest(ui))
    assert calls == [1]


def test_an_update_waits_for_the_job_that_runs_and_comes_once_afterwards(ui: UiContext, qtbot: QtBot) -> None:
    work = Answers(ui)
    work.request.ask()
    qtbot.waitUntil(lambda: work.request.state is State.RUNNING)
    for _ in range(3):
        work.request.update()
    assert work.request.state is State.RUNNING_AGAIN
    work.may_end.set()
    qtbot.waitUntil(at_rest(ui))
    assert work.answers == [0, 1]


def test_a_changed_question_replaces_the_job_that_runs(ui: UiContext, qtbot: QtBot) -> None:
    work = Answers(ui)
    work.request.ask()
    qtbot.waitUntil(lambda: work.ran == [0])
    work.request.ask()
    qtbot.waitUntil(lambda: work.ran == [0, 1])
    work.may_end.set()
    qtbot.waitUntil(at_rest(ui))
    assert work.answers == [1]


def test_a_job_that_fails_is_no_end_of_a_request(ui: UiContext, qtbot: QtBot) -> None:
    tasks, failed = Tasks(1), list[object]()
    tasks.failed.connect(lambda error, _: failed.append(error))
    scheduler, owner = Scheduler(ui.session, tasks), QObject()
    request = scheduler.request(owner, lambda: None)
    request.run(lambda: 1 / 0, lambda _: None)
    qtbot.waitUntil(lambda: bool(failed))
    assert request.state is State.IDLE
    tasks.close()


def test_while_waves_stream_in_an_update_rests_but_a_question_does_not(
    streaming: UiContext, qtbot: QtBot
) -> None:
    work = Answers(streaming, LONG_MS)
    work.may_end.set()
    work.request.update()
    qtbot.waitUntil(lambda: work.answers == [0])
    work.request.update()
    assert work.request.state is State.RESTING
    qtbot.wait(5)
    assert work.ran == [0], "more may come"
    work.request.ask()
    qtbot.waitUntil(lambda: work.answers == [0, 1])
    work.request.update()
    streaming.session.busy.set(())
    qtbot.waitUntil(lambda: work.answers == [0, 1, 2])


def test_a_call_that_had_nothing_to_do_begins_no_rest(streaming: UiContext, qtbot: QtBot) -> None:
    calls: list[bool] = []
    owner = QObject()

    def call() -> bool:
        calls.append(len(calls) > 1)
        return calls[-1]

    request = streaming.scheduler.request(owner, call, LONG_MS)
    for count in (1, 2, 3):
        request.update()
        qtbot.waitUntil(lambda count=count: len(calls) == count)
    request.update()
    assert request.state is State.RESTING


def test_another_capture_ends_jobs_and_rests_but_not_what_is_wanted(ui: UiContext, qtbot: QtBot) -> None:
    work, calls = Answers(ui), list[int]()
    wanted = ui.scheduler.request(work.owner, lambda: calls.append(1), LONG_MS, always_rests=True)
    wanted.now()
    wanted.update()
    work.request.ask()
    qtbot.waitUntil(lambda: work.ran == [0])
    ui.session.trace.notify()
    assert work.request.state is State.IDLE
    work.may_end.set()
    qtbot.waitUntil(at_rest(ui))
    assert not work.answers
    assert calls == [1, 1]


def test_background_work_waits_until_nothing_else_is_to_be_done(ui: UiContext, qtbot: QtBot) -> None:
    work, calls = Answers(ui), list[int]()
    background = ui.scheduler.request(
        work.owner, lambda: calls.append(len(work.answers)), 1, is_background=True
    )
    work.request.ask()
    background.ask()
    qtbot.waitUntil(lambda: work.ran == [0])
    qtbot.wait(5)
    assert not calls
    work.may_end.set()
    qtbot.waitUntil(lambda: calls == [1])
    assert ui.scheduler.is_idle


def test_background_work_runs_beside_what_follows_the_findings(ui: UiContext, qtbot: QtBot) -> None:
    last = Answers(ui, visibility=LateVisibility(Panel(ui).visibility, lambda: False))
    other, background = Answers(ui), Answers(ui, 1, is_background=True)
    for work in (other, last, background):
        work.request.ask()
    qtbot.waitUntil(lambda: last.request.is_running and other.request.is_running)
    qtbot.wait(5)
    assert not background.ran
    other.may_end.set()
    qtbot.waitUntil(lambda: background.request.is_running)
    assert last.request.is_running
    for work in (last, background):
        work.may_end.set()
    qtbot.waitUntil(at_rest(ui))


def test_background_work_runs_beside_other_background_work(ui: UiContext, qtbot: QtBot) -> None:
    works = Answers(ui, 1, is_background=True), Answers(ui, 1, is_background=True)
    works[0].request.ask()
    qtbot.waitUntil(lambda: works[0].request.is_running)
    works[1].request.ask()
    qtbot.waitUntil(lambda: works[1].request.is_running)
    assert works[0].request.is_running
    for work in works:
        work.may_end.set()
    qtbot.waitUntil(at_rest(ui))


# -- hidden panels -----------------------------------------------------------------------------------


def test_a_hidden_panel_is_called_when_it_is_visible(ui: UiContext, qtbot: QtBot) -> None:
    calls: list[int] = []
    panel = Panel(ui)
    panel.visibility.allow_sleep()
    work = panel.request(lambda: calls.append(1))
    for _ in range(3):
        work.ask()
        qtbot.wait(2)
    assert not calls
    assert work.state is State.HIDDEN
    assert ui.scheduler.is_idle, "it may never be shown"
    panel.show()
    panel.hide()
    qtbot.wait(2 * WAKE_MS)
    assert not calls, "it was only shown for a moment"
    panel.show()
    qtbot.waitUntil(lambda: calls == [1])
    work.ask()
    qtbot.waitUntil(lambda: calls == [1, 1])
    panel.hide()
    work.now()
    assert calls == [1, 1]


def test_of_two_jobs_of_a_hidden_panel_the_newer_runs(ui: UiContext, qtbot: QtBot) -> None:
    answers: list[str] = []
    panel = Panel(ui)
    panel.visibility.allow_sleep()
    request = panel.request(lambda: None)
    for answer in ("old", "new"):
        request.run(lambda answer=answer: answer, answers.append)
    panel.show()
    qtbot.waitUntil(lambda: bool(answers))
    qtbot.waitUntil(at_rest(ui))
    assert answers == ["new"]


# -- passes over all waves ---------------------------------------------------------------------------


@pytest.fixture
def passes(streaming: UiContext, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How many waves there were at each pass, of a request that never rests."""
    found: list[int] = []
    owner = QObject()
    store = streaming.session.store
    request = streaming.scheduler.request(owner, lambda: found.append(store.read))
    for name in ("ask", "update"):
        monkeypatch.setattr(request, name, request.now)
    request.follow_doublings()
    return SimpleNamespace(found=found, owner=owner, session=streaming.session)


def arrive(session: Any, count: int) -> None:
    session.store.read = count
    session.wave_loaded()


def test_passes_are_made_at_doubling_numbers_of_waves_and_at_the_end(passes: Any) -> None:
    for count in range(1, 101):
        arrive(passes.session, count)
    assert passes.found == [1, 2, 4, 8, 16, 32, 64]
    passes.session.busy.set(())
    assert passes.found[-1] == 100
    passes.session.busy.set(READING)
    passes.session.busy.set(())
    assert passes.found.count(100) == 1, "nothing came"


def test_without_a_stream_every_wave_makes_a_pass(passes: Any) -> None:
    passes.session.busy.set(())
    for count in (1, 2, 3):
        arrive(passes.session, count)
    assert passes.found == [1, 2, 3]


def test_passes_over_another_capture_begin_anew(passes: Any) -> None:
    arrive(passes.session, 50)
    passes.session.trace.notify()
    arrive(passes.session, 3)
    assert passes.found == [50, 3]


def test_requests_of_a_closed_owner_are_forgotten(ui: UiContext, qtbot: QtBot) -> None:
    calls: list[int] = []
    panel = Panel(ui)
    requests: list[Request] = [panel.request(lambda: calls.append(1)) for _ in range(2)]
    for request in requests:
        request.ask()
    panel.deleteLater()
    qtbot.waitUntil(at_rest(ui))
    ui.session.open(open_trace(SAMPLE))
    assert not calls
