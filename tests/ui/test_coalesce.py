"""Bursts become single calls, and a slow job is neither starved nor repeated without rest."""

from __future__ import annotations

from PySide6.QtCore import QObject

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.visibility import WAKE_MS, Coalesce

LONG_MS = 600_000


def test_many_asks_are_one_call(qtbot: object) -> None:
    calls: list[int] = []
    owner = QObject()
    once = Coalesce(owner, lambda: calls.append(1))
    for _ in range(5):
        once.ask()
    assert not calls, "never inside the asking"
    qtbot.waitUntil(lambda: calls == [1])  # type: ignore[attr-defined]
    qtbot.wait(5)  # type: ignore[attr-defined]
    assert calls == [1]


def test_nothing_is_called_while_a_job_runs_and_once_afterwards(qtbot: object) -> None:
    calls: list[int] = []
    owner = QObject()
    stream = Coalesce(owner, lambda: calls.append(1), 1)
    stream.started()
    for _ in range(3):
        stream.ask()
        qtbot.wait(3)  # type: ignore[attr-defined]
    assert not calls
    stream.finished()
    qtbot.waitUntil(lambda: calls == [1])  # type: ignore[attr-defined]


def test_a_reset_forgets_what_was_asked(qtbot: object) -> None:
    calls: list[int] = []
    owner = QObject()
    stream = Coalesce(owner, lambda: calls.append(1))
    stream.ask()
    stream.started()
    stream.ask()
    stream.reset()
    stream.finished()
    qtbot.wait(5)  # type: ignore[attr-defined]
    assert not calls


def test_the_last_waves_are_not_kept_waiting_by_a_rest(qtbot: object) -> None:
    calls: list[int] = []
    owner = QObject()
    is_over = False
    stream = Coalesce(owner, lambda: calls.append(1), LONG_MS, is_over=lambda: is_over)
    stream.started()
    stream.ask()  # more waves, while the job for those before runs
    stream.finished()
    assert stream.is_pending
    qtbot.wait(5)  # type: ignore[attr-defined]
    assert not calls, "more may come"
    is_over = True
    stream.ask()  # the last ones
    qtbot.waitUntil(lambda: calls == [1])  # type: ignore[attr-defined]


def test_a_panel_behind_another_tab_computes_when_it_comes_to_the_front(ui: UiContext, qtbot: object) -> None:
    calls: list[int] = []
    panel = Panel(ui)
    panel.visibility.allow_sleep()
    work = panel.coalesced(lambda: calls.append(1))
    for _ in range(3):
        work.ask()
        qtbot.wait(2)  # type: ignore[attr-defined]
    assert not calls, "nobody can see it"
    panel.show()
    panel.hide()
    qtbot.wait(2 * WAKE_MS)  # type: ignore[attr-defined]
    assert not calls, "it was only shown for a moment"
    panel.show()
    qtbot.waitUntil(lambda: calls == [1])  # type: ignore[attr-defined]
    work.ask()
    qtbot.waitUntil(lambda: calls == [1, 1])  # type: ignore[attr-defined]
    panel.hide()
    work.now()
    assert calls == [1, 1]
