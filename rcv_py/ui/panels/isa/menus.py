"""What the instruction table offers on a right click, on a row and on its header."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from rcv_py.base.settings import BY_NAME
from rcv_py.state.selection import Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import copy_text
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.panels.isa.view import IsaView


def row_menu(view: IsaView, session: Session, row: int, filter_to: Callable[[str], None]) -> QMenu:
    """Return the menu of a row."""
    menu = QMenu(view)
    trace = session.trace.value
    assert trace is not None
    text = trace.code.text[row]
    selection = session.selection.value
    place = selection if selection.line == row else Selection(selection.wave, row)

    def zoom() -> None:
        session.select_line(row)
        session.fit_selection()

    def bookmark() -> None:
        session.select_line(row)
        session.toggle_bookmark()

    menu.addAction("Copy instruction", lambda: _copy(text))
    menu.addAction("Copy rows", view.copy_rows)
    menu.addAction("Copy place in trace", lambda: _copy(str(place)))
    menu.addSeparator()
    menu.addAction("Filter to this instruction", lambda: filter_to(text.split(" ")[0]))
    source = menu.addAction("Go to source", lambda: session.select_line(row))
    source.setEnabled(bool(trace.code.chain(row)))
    menu.addAction("Zoom to this token", zoom)
    menu.addSeparator()
    menu.addAction("Bookmark", bookmark)
    return menu


def extend_header_menu(settings: Settings) -> Callable[[QMenu], None]:
    """Return a function that adds the scale of bars and what counts to a header's menu."""

    def add(scales: QMenu, scale: str) -> None:
        action = scales.addAction(scale, lambda: settings.__setitem__("isa.bar_scale", scale))
        action.setCheckable(True)
        action.setChecked(settings["isa.bar_scale"] == scale)

    def extend(menu: QMenu) -> None:
        scales = menu.addMenu("Scale of cost bars")
        for scale in BY_NAME["isa.bar_scale"].choices:
            add(scales, scale)
        idle = menu.addAction("Count idle time")
        idle.setCheckable(True)
        idle.setChecked(settings["isa.show_idle"])
        idle.toggled.connect(lambda on: settings.__setitem__("isa.show_idle", on))

    return extend


def popup(menu: QMenu, widget: QWidget, position: QPoint) -> None:
    """Show a menu once at a place of a widget."""
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(widget.mapToGlobal(position))


def _copy(text: str) -> None:
    copy_text(text)
