"""The settings, made from the table of options; every change takes effect at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from rcv_py.base.settings import OPTIONS, Option
from rcv_py.ui.core.layout import Dialog, boxed
from rcv_py.ui.core.plain_text import PlainLabel, tooltip
from rcv_py.ui.core.settings_store import Settings

GROUPS = {
    "look": "Look",
    "timeline": "Timelines",
    "isa": "Instructions",
    "hotspot": "Hotspot",
    "load": "Loading",
}


class SettingsDialog(Dialog):
    """One row an option, grouped by the first part of its name."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        button = QDialogButtonBox.StandardButton
        super().__init__("Settings", parent, button.RestoreDefaults | button.Close)
        self._settings = settings
        self.resize(520, 560)
        self.editors: dict[str, QWidget] = {}
        self._shows: dict[str, Callable[[Any], None]] = {}  # what shows the value of an option
        form = QFormLayout(horizontalSpacing=16, verticalSpacing=8)
        for group, options in groupby(OPTIONS, lambda option: option.name.split(".")[0]):
            form.addRow(PlainLabel(GROUPS.get(group, group.capitalize()), role="heading"))
            for option in options:
                self._add(form, option)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(boxed(form))
        self._update()
        self.buttons.button(button.RestoreDefaults).clicked.connect(self.restore_defaults)
        self.fill(scroll, margins=(9, 9, 9, 9), spacing=6)

    def restore_defaults(self) -> None:
        """Set every option to its default."""
        for option in OPTIONS:
            self._settings[option.name] = option.default

    def _update(self) -> None:
        for name, show in self._shows.items():
            show(self._settings[name])

    def _add(self, form: QFormLayout, option: Option) -> None:
        def put(value: object) -> None:
            if option.accepts(value):
                self._settings[option.name] = value

        editor, show = _editor(option, put)
        editor.setAccessibleName(option.text)
        editor.setToolTip(tooltip(option.name))
        form.addRow(PlainLabel(option.text, wordWrap=True), editor)
        self.editors[option.name] = editor
        self._shows[option.name] = show
        self._settings.cell(option.name).watch(self._update)


def _editor(option: Option, put: Callable[[object], None]) -> tuple[QWidget, Callable[[Any], None]]:
    if isinstance(option.default, bool):
        box = QCheckBox()
        box.toggled.connect(put)
        return box, box.setChecked
    if isinstance(option.default, int):
        spin = QSpinBox()
        spin.setRange(option.low, option.high)
        spin.valueChanged.connect(put)
        return spin, spin.setValue
    choice = QComboBox()
    choice.addItems(option.choices)
    choice.currentTextChanged.connect(put)
    return choice, choice.setCurrentText
