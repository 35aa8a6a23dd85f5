"""Every action: named, explained, with a key of its own, and stopped for a reason."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.ui.shell.keys_overlay import KeysOverlay, groups
from rcv_py.ui.shell.menus import MENUS
from rcv_py.ui.shell.palette_items import fit
from tests.ui.window import open_sample, settle, window


def test_every_command_is_named_explained_and_reachable() -> None:
    with window() as app:
        for command in app.ui.commands:
            assert command.title, command.id
            assert command.tip.endswith("."), command.id
            assert command.menu.split("/")[0] in (*MENUS, ""), command.id
            assert command.shortcuts, command.id
            action = app.window.actions_[command.id]
            assert action.toolTip(), command.id
            why = command.why_not()
            assert action.isEnabled() is not bool(why), command.id
            assert not why or (why.endswith(".") and why in action.toolTip()), command.id


def test_no_two_commands_share_a_key() -> None:
    with window() as app:
        keys = Counter(
            QKeySequence(key).toString() for command in app.ui.commands for key in command.shortcuts
        )
        assert "" not in keys
        assert not [key for key, count in keys.items() if count > 1]


def test_the_overlay_lists_every_key_once(qtbot: QtBot) -> None:
    with window() as app:
        listed = [title for rows in groups(app.ui.commands).values() for _, title in rows]
        assert sorted(listed) == sorted(command.title for command in app.ui.commands if command.shortcuts)
        app.ui.commands.run("help.keys")
        overlay = app.window.findChild(KeysOverlay)
        assert overlay.isVisible()
        qtbot.keyClick(overlay, Qt.Key.Key_X)
        assert not overlay.isVisible()


def test_every_menu_entry_is_a_command_or_says_something() -> None:
    with window() as app:
        for path in MENUS:
            menu = app.window.menus[path]
            assert any(action.isSeparator() or action.text() for action in menu.actions()), path
            assert len(menu.actions()) >= 2 or path == "Analyze", path


def test_nothing_runs_without_a_capture_that_needs_one() -> None:
    with window() as app:
        commands = app.ui.commands
        for name in ("go.zoom_in", "go.next_hit", "file.reload", "export.dialog", "go.bookmark"):
            assert "capture" in commands[name].why_not()
            commands.run(name)


def test_a_letter_moves_in_time_but_not_while_typing(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        session, shell = app.ui.session, app.window
        shell.activateWindow()
        shell.workspace.show_panel("search")
        field = shell.workspace.docks["search"].panel.bar.field
        field.setFocus()
        before = session.view.value
        qtbot.keyClicks(field, "wsad")
        assert field.text() == "wsad"
        assert session.view.value == before
        app.ui.commands.run("go.zoom_in")
        assert session.view.value.width < before.width


def test_keys_that_lists_need_reach_time_when_nobody_wants_them(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        session = app.ui.session
        session.zoom(0.2)
        before = session.view.value
        qtbot.keyClick(app.window, Qt.Key.Key_Right)
        assert session.view.value.begin > before.begin
        qtbot.keyClick(app.window, Qt.Key.Key_Home)
        assert session.view.value.begin == session.outer(session.trace.value).begin
        session.measure.set(TimeWindow(1, 20))
        qtbot.keyClick(app.window, Qt.Key.Key_Escape)
        assert session.measure.value is None


def test_a_place_can_be_copied_and_gone_to(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        session = app.ui.session
        session.select_line(5)
        place = session.selection.value
        app.ui.commands.run("file.copy_link")
        assert Selection.parse(QApplication.clipboard().text()).line == 5
        session.select_line(1)
        app.ui.commands.run("go.place")
        palette = app.window.palette_
        assert palette.field.text() == str(place)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        assert str(session.selection.value) == str(place)


def test_the_palette_finds_all_sorts_of_things(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        trace = app.ui.session.trace.value
        palette = app.window.palette_
        palette.open()
        word = trace.code.text[3].split()[0]
        for text, icon in (("theme", "command"), ("7", "place"), (word, "line"), ("se0/", "wave")):
            palette.field.setText(text)
            assert icon in {item.icon for item in palette.model.items}, text
        palette.field.setText("swtch lght")
        assert "light and dark" in palette.model.items[0].title
        dark = app.ui.theme.is_dark
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        assert app.ui.theme.is_dark is not dark
        assert not palette.isVisible()


def test_a_command_that_cannot_run_is_not_run_from_the_palette(qtbot: QtBot) -> None:
    with window() as app:
        palette = app.window.palette_
        palette.open()
        palette.field.setText("Reload")
        assert palette.model.items[0].why_not == "Open a capture first."
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        assert palette.isVisible()
        palette.close()


def test_a_piece_of_a_word_fits_better_than_letters() -> None:
    assert fit("Zoom in", "zoom") > fit("Bottom room zed", "zoom") >= 0
    assert fit("Fold the bottom tabs", "fbt") > 0
    assert fit("Zoom in", "xyz") == 0
    assert fit("Zoom in", "zoom") > fit("Gazoom", "zoom")


def test_panels_can_be_hidden_and_shown_by_command(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        workspace = app.window.workspace
        app.ui.commands.run("view.panel_isa")
        settle(app, qtbot)
        assert not workspace.is_shown("isa")
        app.ui.commands.run("view.panel_isa")
        settle(app, qtbot)
        assert workspace.is_shown("isa")
        app.ui.commands.run("view.reset_layout")
        settle(app, qtbot)
        assert workspace.is_shown("labels")


def test_sizes_stop_at_their_bounds() -> None:
    with window() as app:
        for _ in range(30):
            app.ui.commands.run("view.font_bigger")
        assert app.ui.settings["look.font_size"] == 24
        assert app.ui.commands["view.font_bigger"].why_not()
        app.ui.settings["look.font_size"] = 10


def test_a_key_goes_to_a_panel_in_front_and_hides_it_only_from_there(qtbot: QtBot) -> None:
    with window() as app:
        open_sample(app, qtbot)
        workspace = app.window.workspace
        dock = workspace.docks["triage"]
        workspace.docks["isa"].take_focus()
        workspace.toggle_panel("triage", by_key=True)
        settle(app, qtbot)
        assert workspace.is_shown("triage")
        assert dock.has_focus()
        workspace.toggle_panel("triage", by_key=True)
        settle(app, qtbot)
        assert not workspace.is_shown("triage")
        workspace.toggle_panel("triage", by_key=True)
        settle(app, qtbot)
        assert dock.has_focus()
