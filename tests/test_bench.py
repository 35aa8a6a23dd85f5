"""What the benchmark of the real window does when something in that window goes wrong."""

import time
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from bench.real import Watch, waited_for_processor
from rcv_py.state.session import Session
from rcv_py.ui.core.tasks import Tasks


class Signals(QObject):
    failed = Signal(object)
    broke = Signal(object, str)


class Window(QWidget):
    """As much of the window as is asked; it never comes to rest."""

    idle = False

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self.opener = self.errors = Signals(self)
        self.workspace = SimpleNamespace(docks={"isa": SimpleNamespace(made=None)})
        self.loader = SimpleNamespace(idle=False)
        self.ui = SimpleNamespace(tasks=tasks, session=Session())


def test_a_job_that_raises_ends_the_measurement_with_its_error(
    qapp: QApplication, qtbot: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(QApplication, "exit", codes.append)
    tasks = Tasks(1)
    window = Window(tasks)
    watch = Watch(window, takes_turns=False)

    def job() -> None:
        raise ValueError("no such finding")

    tasks.run(watch, job, lambda _: None)
    qtbot.waitUntil(lambda: bool(codes))  # type: ignore[attr-defined]
    window.errors.broke.emit(None, "what follows from it")
    tasks.close()
    assert codes == [1]
    assert capsys.readouterr().err == "A job failed: ValueError('no such finding')\n"


def test_what_a_thread_waited_for_a_processor_only_grows_and_is_less_than_the_time() -> None:
    began, before = time.monotonic(), waited_for_processor()
    sum(range(10_000))
    assert 0 <= waited_for_processor() - before <= time.monotonic() - began
