"""Modules are imported one a turn, after the first picture."""

import gc
import sys
from functools import partial
from pathlib import Path
from weakref import ref

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from rcv_py.ui.core import frame_budget
from rcv_py.ui.core.panel import Panel, UiContext
from tests.support.programs import finished

NAMES = ("colorsys", "fileinput")


@pytest.fixture(autouse=True)
def _not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_modules_are_imported_in_turns_of_their_own(
    ui: UiContext, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_budget, "STEPS", {NAMES[1]: NAMES[:1]})
    steps: list[str] = []
    turns = QTimer(interval=0)
    turns.timeout.connect(lambda: steps.append(" ".join(name for name in NAMES if name in sys.modules)))
    turns.start()
    ui.scheduler.importer.when_imported([NAMES[1]], lambda: steps.append("then"))
    assert not steps
    assert not ui.scheduler.is_idle
    qtbot.waitUntil(lambda: "then" in steps)
    turns.stop()
    assert ui.scheduler.is_idle
    assert list(dict.fromkeys(steps[: steps.index("then") + 1])) == ["", NAMES[0], " ".join(NAMES), "then"]


def test_what_is_imported_already_makes_no_call_wait(ui: UiContext) -> None:
    calls: list[int] = []
    ui.scheduler.importer.first_picture.shut()
    ui.scheduler.importer.when_imported(["sys"], lambda: calls.append(1))
    assert calls == [1]


def test_nothing_is_imported_before_the_first_picture(ui: UiContext, qtbot: QtBot) -> None:
    calls: list[str] = []
    held = ui.scheduler.importer
    held.first_picture.shut()
    held.when_imported(NAMES, lambda: calls.append("imported"))
    held.first_picture.after(lambda: calls.append("painted"))
    qtbot.wait(5)
    assert not calls
    assert NAMES[0] not in sys.modules
    held.first_picture.open()
    qtbot.waitUntil(lambda: calls == ["painted", "imported"])


def test_a_module_that_cannot_be_imported_keeps_no_other_waiting(
    ui: UiContext, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rcv_test_broken.py").write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(str(tmp_path))
    calls: list[int] = []
    ui.scheduler.importer.when_imported(["rcv_test_broken", NAMES[0]], lambda: calls.append(1))
    qtbot.waitUntil(lambda: calls == [1])
    assert NAMES[0] in sys.modules


@pytest.mark.parametrize("name", frame_budget.STEPS)
def test_every_step_is_a_module_that_the_module_needs(name: str) -> None:
    code = f"import sys, {name}; print(*sys.modules)"
    assert {*frame_budget.STEPS[name]} <= {*finished([sys.executable, "-c", code], check=True).stdout.split()}


def test_the_rest_waits_for_what_the_first_picture_led_to(ui: UiContext, qtbot: QtBot) -> None:
    """A late request of a panel is one of the rest; once that began, it runs as any other."""
    calls: list[str] = []
    held, panel = ui.scheduler.importer, Panel(ui)
    qtbot.addWidget(panel)
    held.first_picture.shut()
    held.the_rest.shut()
    late = panel.request(lambda: calls.append("late"), visibility=panel.late)
    for call in (late.ask, late.now):
        call()
    held.the_rest.after(lambda: calls.append("rest"))
    held.first_picture.after(lambda: calls.append("painted"))
    held.first_picture.open()
    assert ui.scheduler.is_calm
    assert not ui.scheduler.is_idle
    qtbot.wait(5)
    assert calls == ["painted"]
    held.the_rest.open()
    qtbot.waitUntil(lambda: calls == ["painted", "late", "rest"])
    assert ui.scheduler.is_idle
    late.now()
    assert calls[-1] == "late"
    assert len(calls) == 4


def test_calls_that_wait_for_ever_go_with_their_owner() -> None:
    """Of a window that is closed before its first findings, for example."""
    owner = QObject()
    importer = frame_budget.Importer(owner)
    importer.the_rest.shut()
    importer.the_rest.after(partial(owner.setObjectName, "late"))
    gone = ref(owner)
    del owner, importer
    gc.collect()
    assert gone() is None
