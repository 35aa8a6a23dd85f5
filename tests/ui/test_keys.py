"""The user's own keys: set in a dialog, kept, and in all windows at once."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.dialogs.keys_dialog import KeysDialog
from tests.ui.window import settings_in, window


def dialog_of(app: App) -> KeysDialog:
    app.ui.commands.run("view.keys")
    (dialog,) = (one for one in app.window.findChildren(KeysDialog) if one.isVisible())
    return dialog


def choose(dialog: KeysDialog, title: str) -> None:
    dialog.filter.setText(title)
    rows = [at for at in range(dialog.table.rowCount()) if not dialog.table.isRowHidden(at)]
    (at,) = [at for at in rows if dialog.table.item(at, 0).text() == title]
    dialog.table.selectRow(at)


def keys_of(app: App, name: str) -> list[str]:
    return [keys.toString() for keys in app.window.actions_[name].shortcuts()]


def test_keys_that_another_command_has_go_over_and_come_back(empty_app: App, qtbot: QtBot) -> None:
    app = empty_app
    dialog = dialog_of(app)
    choose(dialog, app.ui.commands["view.theme"].title)
    assert not dialog.use.isEnabled()
    dialog.edit.setKeySequence(QKeySequence("Ctrl+K"))
    assert "Find anything" in dialog.said.text()
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert keys_of(app, "view.theme") == ["Ctrl+K"]
    assert keys_of(app, "go.palette") == ["Ctrl+Shift+P"]
    assert "Ctrl+K" in app.window.actions_["view.theme"].toolTip()
    assert "Ctrl+K" not in app.window.actions_["go.palette"].toolTip()
    dark = app.ui.theme.is_dark
    dialog.close()
    app.window.activateWindow()
    qtbot.waitUntil(app.window.isActiveWindow)
    qtbot.keyClick(app.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert app.ui.theme.is_dark is not dark
    app.ui.commands.run("view.theme")
    dialog = dialog_of(app)
    qtbot.mouseClick(
        dialog.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults), Qt.MouseButton.LeftButton
    )
    assert keys_of(app, "go.palette") == ["Ctrl+K", "Ctrl+Shift+P"]
    dialog.close()


def test_a_soft_key_can_be_taken_away_and_given_back(empty_app: App, qtbot: QtBot) -> None:
    app = empty_app
    dialog = dialog_of(app)
    title = app.ui.commands["go.dismiss"].title
    choose(dialog, title)
    qtbot.mouseClick(dialog.none, Qt.MouseButton.LeftButton)
    assert app.ui.commands["go.dismiss"].shortcuts == ()
    choose(dialog, title)
    assert dialog.default.isEnabled()
    qtbot.mouseClick(dialog.default, Qt.MouseButton.LeftButton)
    assert app.ui.commands["go.dismiss"].shortcuts == app.ui.commands.default("go.dismiss") != ()
    dialog.close()


def test_keys_are_kept_and_hold_in_new_windows(tmp_path: Path) -> None:
    with window(settings_in(tmp_path)) as app:
        app.ui.commands.run("file.new_window")
        second = app.windows.apps[-1]
        app.ui.settings.set_keys({"view.theme": ("F12",)})
        assert keys_of(second, "view.theme") == keys_of(app, "view.theme") == ["F12"]
        second.close()
    with window(settings_in(tmp_path)) as app:
        assert keys_of(app, "view.theme") == ["F12"]


def test_stored_keys_that_are_none_are_left_out(tmp_path: Path) -> None:
    store = settings_in(tmp_path)
    for stored, found in (
        ("nonsense", {}),
        ("[1]", {}),
        ('{"view.theme": 3, "file.open": ["F12"], "go.find": [3]}', {"file.open": ("F12",)}),
    ):
        store.setValue("memory/keys", stored)
        assert Settings(store).keys.value == found
