"""Jobs off the UI thread end at their next checkpoint once nobody waits for them."""

import os
import sys
from functools import partial
from threading import Event
from weakref import ref

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import checkpoint
from rcv_py.ui.core.tasks import GcGate, Tasks
from tests.support.programs import finished

LONG_S = 30  # that a job takes which nobody stops
INTERRUPTED = """
import signal, sys
from threading import Thread
from PySide6.QtCore import QCoreApplication, QObject
from rcv_py.base.machine.ending import ends_tidily
from rcv_py.ui.core.tasks import Tasks

def interrupted(thread, begin=Thread.start):
    begin(thread)
    signal.raise_signal(signal.SIGINT)

application, owner, tasks = QCoreApplication([]), QObject(), Tasks(1)
Thread.start = interrupted
try:
    with ends_tidily():
        tasks.run(owner, int, print)
except KeyboardInterrupt:
    print("interrupted")
"""


class Long:
    """A job without an end of its own, for as long as anybody could wait."""

    def __init__(self) -> None:
        self.begun, self.stopped = Event(), Event()

    def __call__(self) -> None:
        self.begun.set()
        never = Event()
        for _ in range(LONG_S * 1000):
            try:
                checkpoint()
            except Cancelled:
                self.stopped.set()
                raise
            never.wait(0.001)


def given(answer: Long, when: Event) -> Long:
    """Return the answer as soon as it is asked for."""
    when.wait(LONG_S)
    return answer


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
def test_a_job_lets_the_window_go_first(qtbot: QtBot) -> None:
    def turn() -> tuple[int, int]:
        return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)

    tasks, owner, seen, before = Tasks(), QObject(), list[tuple[int, int]](), turn()
    tasks.run(owner, turn, seen.append)
    qtbot.waitUntil(lambda: not tasks.running)
    tasks.close()
    assert seen == [(before[0] + 2, os.SCHED_BATCH)], "as much as processes that read"
    assert turn() == before


def test_a_signal_while_a_thread_begins_does_not_keep_the_program() -> None:
    """The exit tells only threads to end that the pool has noted, which it does after their begin."""
    assert finished([sys.executable, "-c", INTERRUPTED], check=True).stdout == "interrupted\n"


@pytest.mark.parametrize("how", ["closed", "asked again"])
def test_a_job_that_nobody_waits_for_ends(how: str, qtbot: QtBot) -> None:
    tasks, owner, job, failed, said = Tasks(), QObject(), Long(), [], []
    tasks.failed.connect(lambda error, owner: failed.append(error))
    tasks.run(owner, job, said.append)
    assert job.begun.wait(LONG_S)
    if how == "asked again":
        tasks.run(owner, lambda: "newer", said.append)
        qtbot.waitUntil(lambda: not tasks.running)
    tasks.close()
    assert job.stopped.is_set()
    assert said == (["newer"] if how == "asked again" else [])
    assert not failed


@pytest.mark.parametrize("how", ["answered", "asked again"])
def test_what_a_job_holds_goes_with_its_answer(
    how: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job may hold a capture; the error that ends it holds what its functions had at that moment."""
    monkeypatch.setattr(GcGate, "collect_young", lambda: None)
    monkeypatch.setattr(GcGate, "collect_all", lambda: True)
    tasks, owner, job, is_asked = Tasks(), QObject(), Long(), Event()
    held = ref(job)
    if how == "answered":
        tasks.run(owner, partial(given, job, is_asked), lambda answer: None)
        is_asked.set()  # with the answer there already, nothing would be kept for it
    else:
        tasks.run(owner, job, lambda answer: None)
        assert job.begun.wait(LONG_S)
        tasks.run(owner, lambda: None, lambda answer: None)
    del job
    qtbot.waitUntil(lambda: not tasks.running and held() is None)
    tasks.close()
