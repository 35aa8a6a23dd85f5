"""The settings dialog: options to search and reset; every change takes effect at once."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtWidgets import QPushButton, QWidget

from rcv_py.base.languages import LANGUAGES
from rcv_py.base.settings import BY_NAME, OPTIONS, Option
from rcv_py.base.text import Message, translated
from rcv_py.ui.core.layout import Dialog, boxed, row, scrolled
from rcv_py.ui.core.plain_text import PlainLabel, allow, filter_field, named, push_button, tooltip
from rcv_py.ui.core.settings_store import Settings

NAME_PX = 244  # label of an option
GROUPS = {
    "look": "Look", "panels": "Panels", "timeline": "Timelines", "isa": "Instructions",
    "hotspot": "Hotspot", "notes": "Notes", "sources": "Sources", "load": "Loading",
}  # fmt: skip
AS_AT_FIRST = "It is as at first."
NO_HIT = "No setting has these words."


class SettingsDialog(Dialog):
    """One row per option, grouped by the first part of its name."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        button = QtWidgets.QDialogButtonBox.StandardButton
        super().__init__("Settings", parent, button.RestoreDefaults | button.Close)
        self._settings = settings
        self.resize(560, 600)
        self.editors: dict[str, QWidget] = {}
        self.resets: dict[str, QPushButton] = {}
        self._shows: dict[str, Callable[[Any], None]] = {}  # the widget with the value of an option
        self.search = filter_field("Search settings")
        self.search.textChanged.connect(self._filter)
        self.said = PlainLabel("", role="muted", wordWrap=True)
        self._form = form = QtWidgets.QFormLayout(horizontalSpacing=16, verticalSpacing=8)
        self._headings: dict[str, PlainLabel] = {}
        self._fields: dict[str, QWidget] = {}
        for group, options in groupby(OPTIONS, lambda option: option.name.split(".")[0]):
            self._headings[group] = PlainLabel(_group(group), role="heading")
            form.addRow(self._headings[group])
            for option in options:
                self._add(form, option)
        self._update()
        self.buttons.button(button.RestoreDefaults).clicked.connect(self.restore_defaults)
        for one in (*self.resets.values(), *self.buttons.buttons()):
            if isinstance(one, QPushButton):
                one.setAutoDefault(False)  # Return in the search field must not press a reset button
        self._filter()
        self.fill(self.search, (scrolled(boxed(form)), 1), self.said, margins=(9, 9, 9, 9), spacing=6)
        self.search.setFocus()

    def restore_defaults(self) -> None:
        """Set every option to its default."""
        for option in OPTIONS:
            self._settings[option.name] = option.default

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        hits = set()
        for option in OPTIONS:
            group = _group(option.name.split(".")[0])
            text = " ".join((group, option.name, option.text, *option.choices)).casefold()
            if all(word in text for word in words):
                hits.add(option.name)
        for name, field in self._fields.items():
            self._form.setRowVisible(field, name in hits)
        for group, heading in self._headings.items():
            self._form.setRowVisible(heading, any(name.startswith(f"{group}.") for name in hits))
        self.said.setText("" if hits else NO_HIT)

    def _update(self) -> None:
        for name, show in self._shows.items():
            show(self._settings[name])
            is_changed = self._settings[name] != BY_NAME[name].default
            allow(self.resets[name], "" if is_changed else AS_AT_FIRST)

    def _add(self, form: QtWidgets.QFormLayout, option: Option) -> None:
        def put(value: object) -> None:
            if option.accepts(value):
                self._settings[option.name] = value

        editor, show = _editor(option, put)
        editor.setAccessibleName(translated(option.text))
        editor.setToolTip(tooltip(option.name))
        back = Message("Back to {0!s}.", option.default) if option.default != "" else "Back to nothing."
        reset = push_button("Reset", back, lambda: put(option.default))
        named(reset, Message("Reset: {0}", option.text))
        field = boxed(row((editor, 1), reset, spacing=6))
        label = PlainLabel(option.text, wordWrap=True)  # Qt would make narrow columns of short ones
        label.setMinimumWidth(min(NAME_PX, label.fontMetrics().horizontalAdvance(label.shown_text) + 2))
        form.addRow(label, field)
        self.editors[option.name] = editor
        self.resets[option.name] = reset
        self._fields[option.name] = field
        self._shows[option.name] = show
        self._settings.cell(option.name).watch(self._update)


def _group(name: str) -> str:
    return GROUPS.get(name, name.capitalize())


def _editor(option: Option, put: Callable[[object], None]) -> tuple[QWidget, Callable[[Any], None]]:
    if isinstance(option.default, bool):
        box = QtWidgets.QCheckBox()
        box.toggled.connect(put)
        return box, box.setChecked
    if isinstance(option.default, int):
        spin = QtWidgets.QSpinBox()
        spin.setRange(option.low, option.high)
        spin.valueChanged.connect(put)
        return spin, spin.setValue
    if not option.choices:
        line = QtWidgets.QLineEdit()
        line.editingFinished.connect(lambda: put(line.text().strip()))
        return line, line.setText
    choice = QtWidgets.QComboBox()
    for value in option.choices:
        choice.addItem(translated(LANGUAGES.get(value, value)), value)
    choice.currentIndexChanged.connect(lambda at: put(choice.itemData(at)))
    return choice, lambda value: choice.setCurrentIndex(choice.findData(value))
