"""The dialog of shortcuts: a searchable table of commands, and a field that records pressed keys."""

from PySide6 import QtWidgets
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from rcv_py.base.text import Message, translated
from rcv_py.state.commands import Command, Commands
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.plain_text import PlainLabel, filter_field, named, push_button, shown
from rcv_py.ui.core.settings_store import Settings

COLUMNS = ("Command", "Keys", "Default")
ROW_AIR = 6  # px


class KeysDialog(Dialog):
    """One row per command; every change takes effect at once."""

    def __init__(self, commands: Commands, settings: Settings, parent: QWidget | None = None) -> None:
        button = QtWidgets.QDialogButtonBox.StandardButton
        super().__init__("Keys", parent, button.RestoreDefaults | button.Close)
        self.resize(640, 620)
        self._commands, self._settings = commands, settings
        self._ids = [command.id for command in commands]
        self.filter = filter_field("Filter commands or keys")
        self.filter.textChanged.connect(self._filter)
        self.table = named(QTableWidget(len(self._ids), len(COLUMNS)), "Keys of commands")
        self.table.setHorizontalHeaderLabels(list(map(translated, COLUMNS)))
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + ROW_AIR)
        self.table.setShowGrid(False)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Stretch)
        self.edit = named(QtWidgets.QKeySequenceEdit(maximumSequenceLength=1), "New keys: press them here")
        self.use = push_button("Use", call=self._use)
        self.none = push_button("No key", call=lambda: self._change(self._own() | {self.chosen.id: ()}))
        self.default = push_button("Default", call=lambda: self._change(self._own(but=self.chosen.id)))
        self.said = PlainLabel("", wordWrap=True)
        self._show()
        self.table.itemSelectionChanged.connect(self._selected)
        self.edit.keySequenceChanged.connect(self._selected)
        self.buttons.button(button.RestoreDefaults).clicked.connect(self.restore_defaults)
        label = PlainLabel("New keys:")
        label.setBuddy(self.edit)
        row_ = row(label, (self.edit, 1), self.use, self.none, self.default, spacing=6)
        self.fill(self.filter, self.table, self.said, row_, margins=(9, 9, 9, 9), spacing=6)
        self.table.selectRow(0)

    def restore_defaults(self) -> None:
        """Restore the default keys of every command."""
        self._change({})

    @property
    def chosen(self) -> Command:
        """Return the command of the selected row."""
        return self._commands[self._ids[max(0, self.table.currentRow())]]

    def holder(self) -> Command | None:
        """Return another command that has the keys in the field."""
        wanted = self.edit.keySequence()
        others = (one for one in self._commands if one.id != self.chosen.id)
        holders = (one for one in others if any(QKeySequence(key) == wanted for key in one.shortcuts))
        return None if wanted.isEmpty() else next(holders, None)

    def _use(self) -> None:
        wanted = self.edit.keySequence()
        own = self._own()
        if (holder := self.holder()) is not None:
            own[holder.id] = tuple(key for key in holder.shortcuts if QKeySequence(key) != wanted)
        own[self.chosen.id] = (wanted.toString(),)
        self._change(own)

    def _own(self, but: str = "") -> dict[str, tuple[str, ...]]:
        return {name: keys for name, keys in self._settings.keys.value.items() if name != but}

    def _change(self, own: dict[str, tuple[str, ...]]) -> None:
        default = self._commands.default
        self._settings.set_keys({name: keys for name, keys in own.items() if keys != default(name)})
        self.edit.clear()
        self._show()
        self._selected()

    def _show(self) -> None:
        for at, name in enumerate(self._ids):
            command, default = self._commands[name], self._commands.default(name)
            is_own = command.shortcuts != default
            texts = (command.title, _text(command.shortcuts), _text(default) if is_own else "")
            for place, text in enumerate(texts):
                self.table.setItem(at, place, QTableWidgetItem(shown(text)))
        self._filter()

    def _filter(self) -> None:
        words = self.filter.text().casefold().split()
        for at, name in enumerate(self._ids):
            command = self._commands[name]
            title = f"{command.title} {translated(command.title)}"
            text = f"{command.menu} {title} {_text(command.shortcuts)}".casefold()
            self.table.setRowHidden(at, not all(word in text for word in words))

    def _selected(self) -> None:
        command, holder = self.chosen, self.holder()
        self.use.setEnabled(not self.edit.keySequence().isEmpty())
        self.none.setEnabled(bool(command.shortcuts))
        self.default.setEnabled(command.shortcuts != self._commands.default(command.id))
        taken = "  These keys run “{0}” now, which will lose them."
        lost = "" if holder is None else Message(taken, holder.title)
        self.said.setText(f"{command.title}: {command.tip}{lost}")


def _text(keys: tuple[str, ...]) -> str:
    return ", ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
