"""The settings dialog is the table of options."""

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from rcv_py.base.settings import OPTIONS
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.dialogs.settings_dialog import SettingsDialog
from tests.ui.window import settings_in

EDITORS = {bool: QCheckBox, int: QSpinBox, str: QComboBox}


def test_every_option_has_the_fitting_editor(qtbot: QtBot) -> None:
    dialog = SettingsDialog(Settings(None))
    qtbot.addWidget(dialog)
    assert list(dialog.editors) == [option.name for option in OPTIONS]
    for option in OPTIONS:
        editor = dialog.editors[option.name]
        is_free = isinstance(option.default, str) and not option.choices
        assert isinstance(editor, QLineEdit if is_free else EDITORS[type(option.default)])
        assert editor.accessibleName() == option.text


def test_editing_changes_the_option_and_the_other_way_round(tmp_path: Path, qtbot: QtBot) -> None:
    store = settings_in(tmp_path)
    settings = Settings(store)
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)
    dialog.editors["hotspot.bins"].setValue(64)
    dialog.editors["look.theme"].setCurrentText("dark")
    dialog.editors["isa.show_idle"].setChecked(False)
    assert (settings["hotspot.bins"], settings["look.theme"], settings["isa.show_idle"]) == (
        64, "dark", False,
    )  # fmt: skip
    settings["hotspot.bins"] = 16
    assert dialog.editors["hotspot.bins"].value() == 16
    store.sync()
    again = Settings(settings_in(tmp_path))
    assert (again["hotspot.bins"], again["look.theme"], again["isa.show_idle"]) == (16, "dark", False)
    dialog.restore_defaults()
    assert all(settings[option.name] == option.default for option in OPTIONS)
