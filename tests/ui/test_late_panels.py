"""Panels are made when they are first seen or needed; made late, they show what is open."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.core.panel import PANELS, discover
from tests.ui.window import open_sample, settle, window

WIDE = (1600, 900)  # px: the bottom is not folded
FIRST = {
    "overview", "triage", "isa", "source", "explorer", "top_lines", "hotspot", "wave_picker", "token_details",
    "search",
}  # fmt: skip
discover()


def made(app: App) -> set[str]:
    return {name for name, dock in app.window.workspace.docks.items() if dock.made is not None}


def sheet_of(panel: Any) -> Any:
    sheet = panel.sheet()
    return (
        None if sheet is None else (sheet.title, sheet.headers, [tuple(map(str, row)) for row in sheet.rows])
    )


class Windows(QObject):
    """Notes each widget that is shown as a window."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(repr(watched))
        return False


def test_only_what_is_seen_is_made_and_the_rest_when_it_is_seen(qtbot: QtBot) -> None:
    with window(size=WIDE) as app:
        workspace = app.window.workspace
        settle(app, qtbot)
        assert made(app) == {"overview"}, "nothing of the workspace is in front yet"
        open_sample(app, qtbot)
        assert made(app) == FIRST
        workspace.fold_bottom(True)
        workspace.docks["waits"].raise_()
        settle(app, qtbot)
        assert made(app) == FIRST, "of what is folded nothing is seen"
        workspace.fold_bottom(False)
        settle(app, qtbot)
        assert made(app) == FIRST | {"waits"}
        windows = Windows()
        app.qt.installEventFilter(windows)
        for name in workspace.docks:
            workspace.show_panel(name)
            settle(app, qtbot)
            assert not workspace.docks[name].made.visibility.is_asleep
        app.qt.removeEventFilter(windows)
        assert not windows.shown, "a part of a panel was shown as a window of its own"
        assert made(app) == set(PANELS.ids())
