"""Makes every panel, and a sentence in the place of one that cannot be made."""

from __future__ import annotations

import traceback

from PySide6.QtWidgets import QVBoxLayout

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, PanelInfo, discover
from rcv_py.ui.shell.dialogs.broken_notice import BrokenNotice


class BrokenPanel(Panel):
    """Says that a panel could not be made; the rest of the window works."""

    def __init__(self, ui: UiContext, info: PanelInfo, report: str) -> None:
        super().__init__(ui)
        self.report = report
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        text = f"{info.title} could not be made because of a mistake in rcv. The rest works."
        around.addWidget(BrokenNotice(text, report))


def make_panel(ui: UiContext, info: PanelInfo) -> Panel:
    """Make a panel; a `BrokenPanel` if it raises."""
    try:
        panel = info.make(ui)
    except Exception:  # the panel boundary: one broken panel must not cost the user the window
        panel = BrokenPanel(ui, info, traceback.format_exc())
    if not panel.accessibleName():
        panel.setAccessibleName(info.title)
    if not panel.accessibleDescription():
        panel.setAccessibleDescription(info.tip)
    return panel


def make_panels(ui: UiContext) -> list[tuple[PanelInfo, Panel]]:
    """Make all panels that are found, in the order of their areas."""
    infos = sorted(discover(), key=lambda info: (info.area, info.order, info.id))
    return [(info, make_panel(ui, info)) for info in infos]
