"""What is wrong with the capture, and how far its numbers can be trusted: both at once."""

from __future__ import annotations

from types import MappingProxyType

from PySide6.QtWidgets import QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, column, split
from rcv_py.ui.core.panel import Panel, panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.widgets.parts import PartedPanel

SIZES = (100, 360)  # px


@panel(id="trust", title="Problems and health", area="apart", order=90, icon="warning", is_at_start=False)
class TrustPanel(PartedPanel):
    """What is wrong with the files, and whether the capture can be trusted."""

    texts = MappingProxyType({"health": "Health", "problems": "Problems"})
    choice_name = "What tables and commands are about"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        parts = (self._titled("Problems", "problems"), self._titled("Health", "health"))
        self.splitter = split(*parts, sizes=SIZES, is_column=True)
        self.remembered = {"splitter": self.splitter}
        column(self.splitter, of=self)

    def _titled(self, text: str, name: str) -> QWidget:
        title = PlainLabel(text, role="heading")
        title.setContentsMargins(8, 6, 8, 2)
        return boxed(column(title, (self.part(name), 1)))

    def _put(self, part: Panel) -> None:
        """Nothing: both have their places."""

    def _show_chosen(self) -> None:
        """Nothing: both are shown."""
