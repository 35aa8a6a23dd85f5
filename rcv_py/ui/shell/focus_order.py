"""Where Tab and the keys that step over parts of the window go."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py.ui.shell.docks import Dock


def tab_stops(part: QWidget) -> list[QWidget]:
    """Return what Tab focuses in a part of the window, the part itself first; not in its menus or popups."""
    shown = (one for one in (part, *part.findChildren(QWidget)) if one.isVisible() and one.isEnabled())
    stops = (one for one in shown if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.focusProxy() is None)
    return [one for one in stops if one is part or part.isAncestorOf(one)]


def focused(widgets: Sequence[QWidget]) -> int | None:
    """Return which widget has the focus in it, the first if several do; None if none does."""
    focus = QApplication.focusWidget()
    here = (at for at, one in enumerate(widgets) if focus and (one is focus or one.isAncestorOf(focus)))
    return next(here, None)


def step_stop(parts: Sequence[QWidget], is_next: bool) -> bool:
    """Focus the next or the previous tab stop of the parts; return False if the focus is in none of them."""
    order = [one for part in parts for one in tab_stops(part)]
    here = focused(order)
    if here is None:
        return False
    reason = Qt.FocusReason.TabFocusReason if is_next else Qt.FocusReason.BacktabFocusReason
    order[(here + (1 if is_next else -1)) % len(order)].setFocus(reason)
    return True


def step_part(parts: Sequence[QWidget], by: int) -> None:
    """Move the focus to the next (+1) or previous (-1) part that takes the focus."""
    here = focused(parts)
    first = here if here is not None else -1 if by > 0 else len(parts)
    for step in range(1, len(parts) + 1):
        part = parts[(first + by * step) % len(parts)]
        if found := tab_stops(part):
            if isinstance(part, Dock):
                part.take_focus()
            else:
                found[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
