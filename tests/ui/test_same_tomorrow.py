"""The window looks tomorrow as it looks today: what it does not wear out by being used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.shell.layouts import LAYOUTS
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLE, SAMPLES, box, open_sample, settle, window

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


# -- columns ----------------------------------------------------------------------------------------


def columns(app: App) -> list[str]:
    """The columns of the listing that are shown, from the left."""
    view = app.window.workspace.docks["isa"].panel.view
    places = (view.header.logicalIndex(place) for place in range(view.header.count()))
    return [view.table.columns[at].id for at in places if not view.isColumnHidden(at)]


def test_columns_come_back_after_captures_that_lack_them(tmp_path: Path, qtbot: QtBot) -> None:
    """Some are hidden for lack of room when another capture is opened, which has none of them."""
    file = str(tmp_path / "rcv.ini")
    with window(QSettings(file, QSettings.Format.IniFormat), (1920, 1080)) as app:
        open_sample(app, qtbot)
        usual = columns(app)
        assert usual.index("share_of_total") < usual.index("cost")
        app.window.resize(900, 800)
        app.window.workspace.fold("left", False)
        settle(app, qtbot)
        assert len(columns(app)) < len(usual)
        open_sample(app, qtbot, SAMPLES / "placeholder")
    for sample in (SAMPLES / "placeholder", SAMPLES / "pc_sampling", SAMPLE):
        with window(QSettings(file, QSettings.Format.IniFormat), (900, 800)) as app:
            open_sample(app, qtbot, sample)
    with window(QSettings(file, QSettings.Format.IniFormat), (900, 800)) as app:
        app.window.resize(1920, 1080)
        for sample in (SAMPLES / "placeholder", SAMPLE, SAMPLES / "pc_sampling", SAMPLE):
            open_sample(app, qtbot, sample)
        assert columns(app) == usual


def test_columns_that_a_user_moved_keep_their_order_over_captures_without_them(
    qtbot: QtBot, reused: Reused
) -> None:
    with reused(size=(1920, 1080), sample=qtbot) as app:
        usual = columns(app)
        view = app.window.workspace.docks["isa"].panel.view
        view.header.moveSection(view.header.visualIndex(view.table.column_of("cost")), 2)
        moved = columns(app)
        assert moved[2] == "cost" != usual[2]
        open_sample(app, qtbot, SAMPLES / "pc_sampling")
        assert columns(app)[2] == "cost"
        open_sample(app, qtbot)
        assert columns(app) == moved
        app.ui.commands.run("view.reset_layout")
        settle(app, qtbot)
        assert columns(app) == usual


def test_the_layout_is_reset_with_the_columns_of_panels_that_were_never_seen(tmp_path: Path) -> None:
    state = {"shown": {"hits": False}, "by_hand": {"text": 50}, "order": ["cost", "text"]}
    kept = {"isa": {"table": {"columns": state, "sort": ["cost", True]}}}
    store = QSettings(str(tmp_path / "rcv.ini"), QSettings.Format.IniFormat)
    store.setValue("memory/panels", json.dumps(kept))
    with window(store) as app:
        dock = app.window.workspace.docks["isa"]
        assert dock.made is None
        app.ui.commands.run("view.reset_layout")
        assert dock.save_state() == {"table": {"sort": ["cost", True]}}
