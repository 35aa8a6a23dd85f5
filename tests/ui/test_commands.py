"""Every action: named, explained, with a key of its own, and stopped for a reason."""

from collections import Counter

import pytest
from PySide6.QtCore import QEvent, QRect, Qt, QUrl
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMainWindow, QMenu
from pytestqt.qtbot import QtBot

from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command, Commands
from rcv_py.state.selection import Selection
from rcv_py.ui.app import App
from rcv_py.ui.shell.dialogs.docs_dialog import DocsDialog
from rcv_py.ui.shell.dialogs.keys_dialog import KeysDialog
from rcv_py.ui.shell.menus import MENUS, Actions, KeysOverlay, MenuFiller
from rcv_py.ui.shell.palette import fit
from tests.ui.window import menus_of, run_command, settle


def test_every_command_is_named_explained_and_reachable(empty_app: App) -> None:
    for command in empty_app.ui.commands:
        assert command.title, command.id
        assert command.tip.endswith("."), command.id
        assert command.menu.split("/")[0] in (*MENUS, ""), command.id
        assert command.shortcuts, command.id
        action = empty_app.window.actions_[command.id]
        assert action.toolTip(), command.id
        why = command.why_not()
        assert action.isEnabled() is not bool(why), command.id
        assert not why or (why.endswith(".") and why in action.toolTip()), command.id


def test_no_two_commands_share_a_key(empty_app: App) -> None:
    keys = Counter(
        QKeySequence(key).toString() for command in empty_app.ui.commands for key in command.shortcuts
    )
    assert "" not in keys
    assert not [key for key, count in keys.items() if count > 1]


def test_the_card_shows_the_first_keys_and_leads_to_all(empty_app: App, qtbot: QtBot) -> None:
    for leads in (False, True):
        empty_app.ui.commands.run("help.keys")
        card = empty_app.window.findChild(KeysOverlay)
        assert card.isVisible()
        assert [title.startswith("Mouse") for title in card.listed] == [True, True, False]
        assert len(card.listed["Keys to begin with"]) == 12
        if leads:
            qtbot.mouseClick(card.more, Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(card, Qt.Key.Key_X)
        assert not card.isVisible()
        QApplication.sendPostedEvents(card, QEvent.Type.DeferredDelete)
    dialog = empty_app.window.findChild(KeysDialog)
    assert dialog.isVisible()
    dialog.close()


def test_every_menu_entry_is_a_command_or_says_something(empty_app: App) -> None:
    menus = menus_of(empty_app.window)
    assert {command.menu for command in empty_app.ui.commands if command.menu} <= menus.keys()
    for path in MENUS:
        menu = menus[path]
        assert any(action.isSeparator() or action.text() for action in menu.actions()), path
        assert len(menu.actions()) >= 2 or path == "Analyze", path


def test_a_menu_opens_beside_its_title_the_first_time_too(qtbot: QtBot) -> None:
    """Near the lower edge of the screen it opens above; over its title, a click would choose an entry."""
    menus = [*["File"] * 20, "File/More"]
    commands = Commands()
    commands.register(*(Command(f"file.{at}", f"Entry {at}", menu, list) for at, menu in enumerate(menus)))
    shell = QMainWindow()
    qtbot.addWidget(shell)
    bar = shell.menuBar()
    MenuFiller(commands, Actions(shell, commands), {}).fill_bar(bar)
    shell.show()
    shell.move(0, shell.screen().geometry().bottom() - 100)
    title = bar.actionGeometry(bar.actions()[0])
    places = []
    for _ in range(2):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=title.center())
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert not menu.geometry().intersects(QRect(bar.mapToGlobal(title.topLeft()), title.size()))
        menu.setActiveAction(menu.actions()[-1])
        qtbot.keyClick(menu, Qt.Key.Key_Right)
        inner = menu.actions()[-1].menu()
        qtbot.waitUntil(inner.isVisible)
        places.append((menu.geometry(), inner.geometry()))
        inner.close()
        menu.close()
    assert places[0] == places[1]


def test_nothing_runs_without_a_capture_that_needs_one(empty_app: App) -> None:
    commands = empty_app.ui.commands
    for name in ("go.zoom_in", "go.next_hit", "file.reload", "export.dialog", "go.bookmark"):
        assert "capture" in commands[name].why_not()
        commands.run(name)


def test_a_letter_moves_in_time_but_not_while_typing(app: App, qtbot: QtBot) -> None:
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


def test_keys_that_lists_need_reach_time_when_nobody_wants_them(app: App, qtbot: QtBot) -> None:
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


def test_a_place_can_be_copied_and_gone_to(app: App, qtbot: QtBot) -> None:
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


def test_the_palette_finds_all_sorts_of_things(app: App, qtbot: QtBot) -> None:
    trace = app.ui.session.trace.value
    palette = app.window.palette_
    palette.open()
    word = trace.code.text[3].split()[0]
    for text, icon in (("theme", "command"), ("7", "place"), (word, "line"), ("se0/", "wave")):
        palette.field.setText(text)
        assert icon in {item.icon for item in palette.items}, text
    palette.field.setText("swtch lght")
    assert "light and dark" in palette.items[0].title
    dark = app.ui.theme.is_dark
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert app.ui.theme.is_dark is not dark
    assert not palette.isVisible()


def test_a_command_that_cannot_run_is_not_run_from_the_palette(empty_app: App, qtbot: QtBot) -> None:
    palette = empty_app.window.palette_
    palette.open()
    palette.field.setText("Reload")
    assert palette.items[0].why_not == "Open a capture first."
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    palette.close()


def test_a_piece_of_a_word_fits_better_than_letters() -> None:
    assert fit("Zoom in", "zoom") > fit("Bottom room zed", "zoom") >= 0
    assert fit("Fold the bottom tabs", "fbt") > 0
    assert fit("Zoom in", "xyz") == 0
    assert fit("Zoom in", "zoom") > fit("Gazoom", "zoom")


def test_panels_can_be_hidden_and_shown_by_command(app: App) -> None:
    workspace = app.window.workspace
    run_command(app, "view.panel_isa")
    assert not workspace.is_shown("isa")
    run_command(app, "view.panel_isa")
    assert workspace.is_shown("isa")
    run_command(app, "view.reset_layout")
    assert workspace.is_shown("explorer")


def test_sizes_stop_at_their_bounds(empty_app: App) -> None:
    empty_app.ui.settings["look.text_size"] = 12
    for _ in range(4):
        empty_app.ui.commands.run("view.font_bigger")
    assert empty_app.ui.settings["look.text_size"] == 14
    assert empty_app.ui.commands["view.font_bigger"].why_not()
    empty_app.ui.settings["look.text_size"] = 0


def test_a_key_goes_to_a_panel_in_front_and_hides_it_only_from_there(app: App) -> None:
    workspace = app.window.workspace
    dock = workspace.docks["triage"]
    workspace.docks["isa"].take_focus()
    workspace.toggle_panel("triage", by_key=True)
    settle(app)
    assert workspace.is_shown("triage")
    assert dock.has_focus()
    workspace.toggle_panel("triage", by_key=True)
    settle(app)
    assert not workspace.is_shown("triage")
    workspace.toggle_panel("triage", by_key=True)
    settle(app)
    assert dock.has_focus()


def test_a_key_goes_to_a_panel_that_slept(app: App, qtbot: QtBot) -> None:
    workspace = app.window.workspace
    workspace.toggle_panel("causes", by_key=True)
    qtbot.waitUntil(workspace.docks["why"].has_focus)
    assert isinstance(QApplication.focusWidget(), QAbstractItemView)
    settle(app)


def test_both_usual_keys_save_a_session(empty_app: App) -> None:
    commands = empty_app.ui.commands
    assert {"Ctrl+S", "Ctrl+Shift+S"} <= set(commands["file.save_session"].shortcuts)
    assert not {"Ctrl+S", "Ctrl+Shift+S"} & set(commands["file.open_session"].shortcuts)


@pytest.mark.parametrize(
    ("command", "says"),
    [("help.tutorial", "Ten minutes, no GPU"), ("help.glossary", "Glossary"), ("help.docs", "rcv")],
)
def test_help_leads_to_pages_that_come_along(command: str, says: str, empty_app: App) -> None:
    before = empty_app.window.findChildren(DocsDialog)  # some may wait for their deletion
    empty_app.ui.commands.run(command)
    (dialog,) = (page for page in empty_app.window.findChildren(DocsDialog) if page not in before)
    assert says in dialog.view.toPlainText()
    dialog.close()


def test_links_lead_from_page_to_page_and_not_elsewhere(empty_app: App) -> None:
    dialog = DocsDialog("index.md", empty_app.window)
    dialog.view.anchorClicked.emit(QUrl("tutorial.md#2-what-limits-it"))
    assert dialog.page == "tutorial.md"
    dialog.view.anchorClicked.emit(QUrl("https://example.org/other.md"))
    assert dialog.page == "tutorial.md"
    dialog.view.anchorClicked.emit(QUrl("../../../../etc/passwd"))
    assert "did not come" in dialog.view.toPlainText()
    dialog._back()
    assert dialog.page == "tutorial.md"
    dialog.deleteLater()
