"""The window looks tomorrow as it looks today: what it does not wear out by being used."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.shell.layouts import LAYOUTS
from tests.support.window_fixtures import Reused
from tests.ui.window import box, open_sample, settle, window

LEAST_ROWS = {1080: 12, 900: 12, 800: 8}  # of the listing, by the height of the window


def rows(app: App) -> int:
    view = app.window.workspace.docks["isa"].panel.view
    return view.viewport().height() // view.row_height


def click_tab(app: App, area: str, name: str) -> None:
    """Click the tab of a panel with the mouse."""
    workspace = app.window.workspace
    (bar,) = (one for one in workspace.tab_bars() if one.objectName() == f"tabs_{area}")
    at = [dock.info.id for dock in workspace.group(area)].index(name)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 800)])
def test_the_bottom_opens_at_the_height_it_had(qtbot: QtBot, reused: Reused, size: tuple[int, int]) -> None:
    with reused(size=size, sample=qtbot) as app:
        heights, workspace = set(), app.window.workspace
        for name in ("why", "why", "loops", "loops", "hotspot", "hotspot", "why", "summary"):
            click_tab(app, "bottom", name)
            settle(app, qtbot)
            if not workspace.is_bottom_folded:
                heights.add(box(app, name).height())
                assert rows(app) >= LEAST_ROWS[size[1]], name
        assert len(heights) == 1
        assert heights.pop() <= workspace.height() / 2


def test_five_starts_of_a_maximised_window_are_the_same(tmp_path: Path, qtbot: QtBot) -> None:
    file, seen = str(tmp_path / "rcv.ini"), []
    for _ in range(5):
        with window(QSettings(file, QSettings.Format.IniFormat), None) as app:
            app.window.showMaximized()
            open_sample(app, qtbot)
            docks = app.window.workspace.docks
            names = ("isa", "source", "compute_unit")
            seen.append([(name, docks[name].width(), docks[name].height()) for name in names])
    assert seen == seen[:1] * 5


def test_no_layout_enlarges_a_small_window(qtbot: QtBot, reused: Reused) -> None:
    with reused(size=(640, 480), sample=qtbot) as app:
        size = app.window.size()
        for layout in LAYOUTS:
            app.window.workspace.use_layout(layout)
            for side in ("left", "right", "bottom"):
                app.window.workspace.fold(side, False)
                settle(app, qtbot)
                assert app.window.size() == size, (layout.id, side)


def test_a_handle_moves_what_is_beside_it_and_stays_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    file = str(tmp_path / "rcv.ini")
    with window(QSettings(file, QSettings.Format.IniFormat), (1600, 900)) as app:
        open_sample(app, qtbot)
        before = {name: box(app, name) for name in ("triage", "isa", "source", "compute_unit")}
        handle = app.window.workspace.splitters["main"].handle(1)
        QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=QPoint(2, 200))
        QTest.mouseMove(handle, QPoint(62, 200))
        QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(62, 200))
        settle(app, qtbot)
        assert box(app, "triage").width() == pytest.approx(before["triage"].width() + 60, abs=3)
        assert box(app, "compute_unit").height() == before["compute_unit"].height()
        after = {name: box(app, name) for name in before}
    with window(QSettings(file, QSettings.Format.IniFormat), (1600, 900)) as app:
        open_sample(app, qtbot)
        assert {name: box(app, name) for name in before} == after
