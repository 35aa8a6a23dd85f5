"""Without sight or mouse: every control has a name, says why it is greyed, and shows the focus."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from rcv_py.ui.app import App
from rcv_py.ui.shell.layouts import LAYOUTS
from tests.ui.window import settle

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
)
NOT_NOW = "Not now: "


def controls(part: QWidget) -> Iterator[QWidget]:
    """Yield what is seen of a part and takes keys or clicks, and is no piece of another control."""
    for widget in part.findChildren(QWidget):
        takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        is_piece = widget.objectName().startswith("qt_") or isinstance(widget, QHeaderView | QMenu)
        is_piece = is_piece or isinstance(widget.parent(), QComboBox | QAbstractSpinBox | QTabBar)
        if widget.isVisible() and not is_piece and (takes_keys or isinstance(widget, CONTROLS)):
            yield widget


def spoken(widget: QWidget, what: QAccessible.Text = QAccessible.Text.Name) -> str:
    """Return what a screen reader says of a widget."""
    face = QAccessible.queryAccessibleInterface(widget)
    return face.text(what) if face is not None else ""


def told(widget: QWidget) -> str:
    """Return where a widget is, for the message of a test."""
    path = []
    while widget is not None:
        path.append(f"{type(widget).__name__}#{widget.objectName()}")
        widget = widget.parentWidget()
    return " < ".join(path[:5])


def looks(app: App, qtbot: object) -> Iterator[str]:
    """Show each layout of the window, then each panel that it has; yield what is shown."""
    workspace = app.window.workspace
    for layout in LAYOUTS:
        workspace.use_layout(layout)
        settle(app, qtbot)
        yield layout.title
    workspace.use_layout(LAYOUTS[0])
    for name in workspace._homes:
        workspace.show_panel(name)
        settle(app, qtbot)
        yield name


def nameless(part: QWidget) -> set[str]:
    return {told(widget) for widget in controls(part) if not spoken(widget).strip()}


def unexplained(part: QWidget) -> set[str]:
    """Return the disabled controls of a part whose tooltip does not say why."""
    return {told(one) for one in controls(part) if not one.isEnabled() and NOT_NOW not in one.toolTip()}


def test_probe(sample_app: App, qtbot: object) -> None:
    missing, mute, canvases = {}, {}, {}
    for look in looks(sample_app, qtbot):
        for one in nameless(sample_app.window):
            missing.setdefault(one, look)
        for one in unexplained(sample_app.window):
            mute.setdefault(one, look)
        for widget in controls(sample_app.window):
            if not isinstance(widget, CONTROLS):
                canvases.setdefault(
                    told(widget), (look, spoken(widget), spoken(widget, QAccessible.Text.Description))
                )
    print("MISSING", *missing.items(), sep="\n")
    print("MUTE", *mute.items(), sep="\n")
    print("CANVAS", *canvases.items(), sep="\n")
    raise AssertionError


def test_probe_empty(empty_app: App, qtbot: object) -> None:
    app = empty_app
    print("W MISSING", *nameless(app.window), sep="\n")
    print("W MUTE", *unexplained(app.window), sep="\n")
    app.window.pages.setCurrentWidget(app.window.workspace)
    missing, mute = {}, {}
    for look in looks(app, qtbot):
        for one in nameless(app.window):
            missing.setdefault(one, look)
        for one in unexplained(app.window):
            mute.setdefault(one, look)
    print("MISSING", *missing.items(), sep="\n")
    print("MUTE", *mute.items(), sep="\n")
    raise AssertionError
