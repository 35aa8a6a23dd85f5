"""A window in another language: whatever it shows or says was looked up, and what is of the capture was not.

The language is one that has every text in letters of full width, so an English word that is left is a text
that nobody looked up, whatever a catalogue lacks.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6 import QtWidgets
from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    Qt,
    QTranslator,
)
from PySide6.QtGui import QAction

from rcv_py.analysis.findings.detect import findings
from rcv_py.base import text
from rcv_py.base.settings import VARIABLE
from rcv_py.base.text import speak, translated
from rcv_py.formats.open import open_trace
from rcv_py.ui.app import application, speak_as_set
from rcv_py.ui.core.panel import UiContext, discover
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, rich, tooltip
from rcv_py.ui.shell.dialogs.settings_dialog import SettingsDialog
from rcv_py.ui.shell.docks import Dock
from rcv_py.ui.shell.menus import KeysOverlay
from rcv_py.ui.table.table_model import TableModel
from tests.support.pseudo import pseudo
from tests.ui.window import SAMPLES, menus_of, open_sample, settle, window

ROWS = 12  # of a table that are read; the others say the same of other rows
_MARKUP = re.compile(r"<[^<>]*>|&[a-z]+;")
_WORD = re.compile(r"(?<![\w./:@#{-])[A-Za-z]?[a-z]{2,}(?![\w./:@#(\[{=-])")
OF_THE_CAPTURE = {  # and names of things that are the same in every language
    "matmul", "tiled", "scale", "rows", "const", "half", "float", "int", "void", "sqrt", "placeholder",
    "ctrl", "shift", "alt", "home", "end", "esc", "del", "return", "space", "page", "left", "right", "up",
    "down", "rcv", "wave", "kernel", "exec", "wait", "stall", "idle", "perfetto", "scratch", "flat",
    "vmcnt", "lgkmcnt",
}  # fmt: skip


@pytest.fixture
def speaking() -> Iterator[None]:
    speak(pseudo(), "zh_CN")
    yield
    speak(None)


def words(shown: str) -> set[str]:
    """The English words of a text that are not names."""
    return {word.casefold() for word in _WORD.findall(_MARKUP.sub(" ", shown))} - OF_THE_CAPTURE


def texts_of(widget: QtWidgets.QWidget) -> Iterator[str]:
    """What a widget shows and says."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.statusTip())
    if isinstance(widget, QtWidgets.QLabel):
        yield QtWidgets.QLabel.text(widget)
    elif isinstance(widget, QtWidgets.QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QtWidgets.QLineEdit):
        yield widget.placeholderText()
    elif isinstance(widget, QtWidgets.QComboBox):
        yield from (widget.itemText(at) for at in range(widget.count()))
    elif isinstance(widget, QtWidgets.QTabBar):
        yield from (widget.tabText(at) for at in range(widget.count()))
    elif isinstance(widget, Dock):
        yield widget.windowTitle()
    elif isinstance(widget, QtWidgets.QAbstractItemView) and widget.model() is not None:
        yield from cells_of(widget.model())
    yield from (said for action in widget.actions() for said in texts_of_action(action))


def texts_of_action(action: QAction) -> tuple[str, ...]:
    return action.text(), action.toolTip(), action.statusTip()


def cells_of(model: QAbstractItemModel) -> Iterator[str]:
    """Headings, and the first rows but for columns of data."""
    across = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    own = model.columns if isinstance(model, TableModel) else ()
    for at in range(across):
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            yield said(model.headerData(at, Qt.Orientation.Horizontal, role))
        if own and own[at].is_data:
            continue
        for row in range(min(ROWS, model.rowCount(QModelIndex()))):
            yield said(model.data(model.index(row, at), Qt.ItemDataRole.DisplayRole))


def said(found: Any) -> str:
    return found if isinstance(found, str) else ""


@pytest.mark.usefixtures("speaking")
def test_all_that_a_window_says_is_looked_up() -> None:
    with window() as app:
        open_sample(app)
        menus_of(app.window)  # with what is in them
        app.ui.session.select_line(60)
        for info in discover().values():
            app.window.workspace.show_panel(info.id)
            QtWidgets.QApplication.processEvents()
        settle(app)
        parts = [*app.window.findChildren(QtWidgets.QWidget), app.window]
        parts += SettingsDialog(app.ui.settings, app.window).findChildren(QtWidgets.QWidget)
        parts += KeysOverlay(app.ui.commands, lambda: None, app.window).findChildren(QtWidgets.QWidget)
        ours = [part for part in parts if not type(part.window()).__module__.startswith("pyqtgraph")]
        left = {shown for part in ours for shown in texts_of(part) if words(shown)}
    assert not left, f"{len(left)}:\n" + "\n".join(sorted(map(repr, left)))


@pytest.mark.usefixtures("speaking")
def test_a_label_keeps_what_the_program_said(ui: UiContext) -> None:
    label = PlainLabel("Nothing was opened yet.")
    assert label.text() == "Nothing was opened yet.", "what the program compares is English"
    assert QtWidgets.QLabel.text(label) == label.shown_text == translated("Nothing was opened yet.")
    assert not words(label.shown_text)
    label.setText(text.Message("Go to {0}", "the summary"))
    label.break_lines(lambda shown: shown)
    assert label.text() == "Go to the summary"
    assert not words(label.shown_text)


@pytest.mark.usefixtures("speaking")
def test_why_there_are_no_findings_is_looked_up() -> None:
    why = findings(open_trace(SAMPLES / "placeholder"), ()).why
    assert words(why)
    assert not words(translated(why))
    short = ElidedLabel("Cancel")
    assert short.accessibleName() == translated("Cancel")
    assert not words(tooltip("Cancel"))


@pytest.mark.usefixtures("speaking")
def test_rich_text_is_translated_and_stays_escaped() -> None:
    shown = rich(
        'Saved {} · <a href="file">open</a> · <a href="folder">open its folder</a>'
        ' · <a href="path">copy path</a>',
        "<b>x</b>",
    )
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert '<a href="folder">' in shown
    assert words(shown.replace("x", "")) == set()


def test_the_setting_is_heeded_unless_the_start_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    qt = application()
    try:
        speak_as_set(qt, "system")
        assert text.is_english(), "the desktop of tests is English"
        monkeypatch.setenv(VARIABLE, "en")
        speak_as_set(qt, "zh_CN")
        assert text.is_english()
        monkeypatch.delenv(VARIABLE)
        speak_as_set(qt, "zh_CN")
        assert text.spoken_language() == "zh_CN"
        assert translated("Cancel") == "取消"
        assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消", "what Qt itself says"
    finally:
        speak(None)
        for own in qt.findChildren(QTranslator):
            qt.removeTranslator(own)
            own.setParent(None)
