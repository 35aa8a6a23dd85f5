"""Locate sources on this machine: ask once, save the rule in the settings, open files in an editor."""

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QLineEdit, QWidget

from rcv_py.base.errors import UsageError
from rcv_py.base.machine.editors import start, usual, words_for
from rcv_py.base.text import Message, plural, translated
from rcv_py.formats.uiout.local_sources import local_file, mapped, on_disk, rule_for, rules_of, text_of
from rcv_py.model.code import SourceFile
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.plain_text import PlainLabel, named, push_button
from rcv_py.ui.core.settings_store import Settings

OPTION, EDITOR = "sources.map", "sources.editor"
NO_EDITOR = "No editor was found: name one in the settings (sources.editor), such as code or clion."
WIDTH, HEIGHT = 640, 260


class LocateDialog(Dialog):
    """Makes a rule `FROM=TO` from a chosen folder or file, and shows which sources it finds."""

    def __init__(
        self, path: str, sources: Sequence[SourceFile], settings: Settings, parent: QWidget | None = None
    ) -> None:
        """`path` is the missing source, `sources` are all sources of the capture."""
        button = QDialogButtonBox.StandardButton
        super().__init__("Locate sources", parent, button.Ok | button.Cancel)
        self.setObjectName("locate")
        self._path, self._settings = path, settings
        self._lost = [one.path for one in sources if one.lines is None]
        self.resize(WIDTH, HEIGHT)
        rule = QLineEdit(placeholderText=translated("FROM=TO"))
        self.rule = named(rule, "Beginning of paths, and what stands for it here")
        self.rule.textChanged.connect(self._judge)
        self.count_label = PlainLabel(wordWrap=True, role="muted")
        folder = push_button("Choose a folder …", call=self._browse_folder)
        file = push_button("Choose the file …", call=self._browse_file)
        about = Message(
            "The capture has no copy of it, and there is no {0} on this machine. Choose the "
            "folder that it lies in or below, such as a checkout, or the file itself.",
            mapped(path, rules_of(settings[OPTION])),
        )
        self.buttons.accepted.connect(self._keep)
        head, buttons = PlainLabel(path, wordWrap=True, role="heading"), row(folder, file, None, spacing=8)
        self.fill(head, PlainLabel(about, wordWrap=True), buttons, self.rule, self.count_label, None)
        self._judge()

    def choose(self, chosen: Path) -> None:
        """Make the rule that maps the source to the chosen file, or into the chosen folder."""
        rule = rule_for(self._path, chosen)
        self.rule.setText("" if rule is None else text_of([rule]))
        if rule is None:
            why = Message("Nothing in {0} has the name of the file, nor of folders around it.", chosen)
            self.count_label.setText(why)

    def _browse_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self, translated("The folder of the sources")):
            self.choose(Path(chosen))

    def _browse_file(self) -> None:
        name = Path(self._path).name
        if chosen := QFileDialog.getOpenFileName(self, translated(Message("Where is {0}?", name)))[0]:
            self.choose(Path(chosen))

    def _judge(self) -> None:
        """Show how many sources the rule finds; a rule that finds none cannot be kept."""
        rules = rules_of(self.rule.text())
        count = sum(on_disk(path, rules).lines is not None for path in self._lost) if rules else 0
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(count > 0)
        missing = plural(len(self._lost), "missing source file")
        self.count_label.setText(Message("It finds {0:,} of {1}.", count, missing) if rules else "")

    def _keep(self) -> None:
        new, known = rules_of(self.rule.text()), rules_of(self._settings[OPTION])
        self.accept()
        self._settings[OPTION] = text_of([*new, *(one for one in known if one[0] not in dict(new))])


def edit(path: str, line: int, settings: Settings) -> str:
    """Open a source path of a capture at a line; return the reason on failure, else "".

    Without an editor in the settings, use the editor of the environment, or the first editor found.
    """
    rules = rules_of(settings[OPTION])
    file = local_file(path, rules)
    if file is None:
        where = "The setting sources.map says where it lies."
        return Message("There is no source file {0} on this machine. {1}", mapped(path, rules), where)
    template = settings[EDITOR].strip() or usual(os.environ, in_terminal=False)
    if not template:
        return NO_EDITOR
    try:
        start(words_for(template, file, line), waits=False)
    except UsageError as error:
        return f"{error} {error.hint}"
    return ""
