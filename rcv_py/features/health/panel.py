"""Problems of the capture and the trust in its numbers, both shown together."""

from __future__ import annotations

from types import MappingProxyType

from PySide6.QtWidgets import QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, column, split
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.widgets.parts import PartedPanel

SIZES = (100, 360)  # px


class TrustPanel(PartedPanel):
    """What is wrong with the files, and whether the capture can be trusted."""

    panel_id = "trust"

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
        """Do nothing: both parts have their places."""

    def _show_chosen(self) -> None:
        """Do nothing: both parts are shown."""
