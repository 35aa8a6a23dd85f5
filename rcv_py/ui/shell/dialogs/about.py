"""The about box: the program and its components."""

from PySide6.QtWidgets import QWidget

from rcv_py import __version__
from rcv_py.base.text import Message
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel
from rcv_py.ui.shell.dialogs.error_box import facts

LICENCES = (
    "Qt and PySide6: LGPL 3",
    "pyqtgraph: MIT",
    "numpy, pygments, numba: BSD",
    "orjson: MPL 2; simdjson, regex: Apache 2 or MIT",
    "pyelftools: public domain",
    "JetBrains Mono: Apache 2",
)


class AboutBox(Dialog):
    """Shows the program, its version and its components."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About rcv", parent)
        what = "A viewer of instruction-level thread traces of AMD GPUs."
        text = "\n\n".join((what, "\n".join(LICENCES), facts(None)))
        heading = PlainLabel(Message("rcv {0}", __version__), role="heading")
        self.fill(heading, PlainLabel(text, textInteractionFlags=SELECTABLE), spacing=6)
