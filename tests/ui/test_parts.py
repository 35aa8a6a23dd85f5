"""Panels that are several: three tabs at the left, and every name, key and layout from when they were six."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar
from pytestqt.qtbot import QtBot

from rcv_py.state.selection import SearchQuery
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import discover
from rcv_py.ui.shell.exporter import PictureLook
from tests.support.fixtures import fixture_of
from tests.ui.window import run_command, settings_in, settle, show_panel, window

WIDE = (1920, 1080)
size = fixture_of(lambda: WIDE)  # Of the window
PARTS = {
    "history": "search",
}  # once panels of their own
KEYS = {  # as they were when each was a tab
    "triage": "Ctrl+Shift+1", "explorer": "Ctrl+Shift+2",
    "search": "Ctrl+Shift+4", "history": "Ctrl+Shift+6",
    "compute_unit": "Ctrl+Shift+7",
}  # fmt: skip


def texts_of(bar: QTabBar) -> list[str]:
    return [bar.tabText(at) for at in range(bar.count())]


def test_the_left_side_has_three_tabs_that_fit(app: App) -> None:
    workspace = app.window.workspace
    (bar,) = (one for one in workspace.tab_bars() if one.isVisible() and "Files" in texts_of(one))
    assert texts_of(bar) == ["Findings", "Files", "Search"]
    assert bar.tabRect(2).right() <= bar.width() <= 340
    assert {info.within for info in discover().values() if info.id in PARTS} == {"search"}


@pytest.mark.parametrize(("name", "home"), PARTS.items())
def test_a_former_panel_is_shown_by_its_name(app: App, name: str, home: str) -> None:
    workspace = app.window.workspace
    workspace.panel(home).choice.setCurrentIndex(0)  # a window that was used keeps what was chosen last
    assert not workspace.is_shown(name)
    run_command(app, f"view.panel_{name}")
    assert workspace.is_shown(name)
    assert workspace.docks[home].is_seen
    assert workspace.panel(home).chosen_part == name
    assert workspace.panel(name).isVisible()
    titles = [item.title for item in app.window.palette_._find(workspace.names()[name])]
    assert workspace.names()[name] in titles
    assert app.window.exporter.image(name, PictureLook()).width() == workspace.panel(home).width()
    run_command(app, f"view.panel_{name}")
    assert not workspace.is_shown(name)


def test_keys_of_panels_are_what_they_were(empty_app: App) -> None:
    for name, key in KEYS.items():
        assert key in empty_app.ui.commands[f"view.panel_{name}"].shortcuts, name
    assert empty_app.ui.commands["view.panel_explorer"].shortcuts[0] == "Ctrl+Shift+E"
    assert empty_app.ui.commands["view.panel_search"].shortcuts[0] == "Ctrl+Shift+F"


def test_the_part_that_was_shown_comes_back(tmp_path: Path) -> None:
    with window(settings_in(tmp_path), WIDE) as app:
        app.window.workspace.show_panel("history")
    with window(settings_in(tmp_path), WIDE) as app:
        assert app.window.workspace.panel("search").chosen_part == "history"
        assert app.window.workspace.panel("search").made_part("matches") is None, "nobody saw it"


# -- search -----------------------------------------------------------------------------------------


def test_one_text_narrows_hits_labels_and_history(app: App) -> None:
    session, workspace = app.ui.session, app.window.workspace
    code = session.trace.value.code
    session.select_line(4)
    session.toggle_bookmark()
    session.select_line(6)
    word = code.text[4].split()[0]
    panel, history = workspace.panel("search"), workspace.panel("history")
    show_panel(app, "history")
    everything = history.view.table.rowCount()
    session.query.set(SearchQuery(word))
    settle(app)
    rows = history.view.table.data_rows.tolist()
    assert rows
    assert len(rows) < everything
    assert all(word in history.texts[row] for row in rows)
    assert panel.bar.count.text() == f"{len(rows)} found"
    session.query.set(SearchQuery("no such thing"))
    settle(app)
    assert history.empty.sentence.text() == "Nothing matches “no such thing”."


def test_ctrl_shift_f_goes_to_the_field(app: App, qtbot: QtBot) -> None:
    app.window.activateWindow()
    QTest.keyClick(
        app.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    settle(app)
    field = app.window.workspace.panel("search").bar.field
    qtbot.waitUntil(field.hasFocus)  # a panel that was just made is seen a moment later


# -- focus is not selection -------------------------------------------------------------------------


def test_going_through_a_list_by_keys_selects_nothing(app: App) -> None:
    session = app.ui.session
    first = session.selection.value
    for name in ("explorer", "matches", "history"):
        session.selection.set(first)
        session.query.set(SearchQuery("s_" if name == "matches" else ""))
        part = show_panel(app, name)
        rows = part.tree if name == "explorer" else part.view
        before, visits = session.selection.value, session.visited.value
        rows.setFocus(Qt.FocusReason.TabFocusReason)
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_End, Qt.Key.Key_Home):
            QTest.keyClick(rows, key)
        settle(app)
        assert (session.selection.value, session.visited.value) == (before, visits), name
        if name != "history":
            QTest.keyClick(rows, Qt.Key.Key_End if name == "explorer" else Qt.Key.Key_Down)
            QTest.keyClick(rows, Qt.Key.Key_Return)
            settle(app)
            assert session.selection.value != before, name


def test_tab_and_reset_of_the_layout_select_nothing(app: App) -> None:
    session, workspace = app.ui.session, app.window.workspace
    show_panel(app, "explorer")
    before = session.selection.value
    app.window.activateWindow()
    workspace.panel("explorer").field.setFocus()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    settle(app)
    assert session.selection.value == before
    run_command(app, "view.reset_layout")
    assert session.selection.value == before
