"""What this program is, and, once the user asks, whether there is a newer one."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar, QWidget

from rcv_py import __version__
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.base.text import translated
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.shell.dialogs.error_box import facts
from rcv_py.work.newer import SECONDS, Newest, newest_version

NEWER = (
    "rcv asks no network by itself whether there is a newer version.\n"
    "Help › Look for a newer version … asks your package index, with pip."
)
LICENCES = (
    "Qt and PySide6: LGPL 3",
    "pyqtgraph: MIT",
    "numpy, pygments, numba: BSD",
    "orjson: MPL 2; simdjson, regex: Apache 2 or MIT",
    "pyelftools: public domain",
    "JetBrains Mono: Apache 2",
)
ASKS = f"Asking your package index, with pip. This takes at most {SECONDS:g} s."
WIDE = 460  # px, for a sentence on two lines


class AboutBox(Dialog):
    """What this program is, and what it is made of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About rcv", parent)
        what = "A viewer of instruction-level thread traces of AMD GPUs."
        text = "\n\n".join((what, NEWER, "\n".join(LICENCES), facts(None)))
        heading = PlainLabel(f"rcv {__version__}", role="heading")
        self.fill(heading, PlainLabel(text, textInteractionFlags=SELECTABLE), spacing=6)


class NewerDialog(Dialog):
    """A sentence of what pip says; closing it stops asking."""

    def __init__(self, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__("Newer version", parent)
        self._flag = CancelFlag()
        self.text = PlainLabel(ASKS, wordWrap=True, textInteractionFlags=SELECTABLE)
        self.text.setMinimumWidth(WIDE)
        self.busy = QProgressBar(maximum=0, textVisible=False)
        self.busy.setAccessibleName(translated("Asking"))
        self.finished.connect(self._flag.set)
        self.fill(self.text, self.busy)
        tasks.run(self, self._ask, self._show)

    def _ask(self) -> Newest:
        with stoppable(self._flag):
            return newest_version()

    def _show(self, newest: Newest) -> None:
        self.text.setText(newest.sentence)
        self.busy.hide()
        self.adjustSize()
