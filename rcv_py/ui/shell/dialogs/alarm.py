"""The alarm above all panels when the instruction texts belong to other code and are all wrong."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QWidget

from rcv_py.analysis.program.code_match import CONSEQUENCE, REMEDY, TITLE, CodeMatch
from rcv_py.base.text import Message, join_texts, translated
from rcv_py.ui.core.icons import pixmap
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel, tooltip

ICON_PX = 16


class CodeAlarm(QFrame):
    """One line with title and measure, shown while the capture is open; it cannot be dismissed.

    Its tooltip says what follows, what to do about it, and which instructions show it.
    """

    def __init__(self, ui: UiContext, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._ui = ui
        self._cell = ui.results.cell("match")
        self.setObjectName("alarm")
        self._icon = PlainLabel()
        self._icon.setFixedSize(QSize(ICON_PX, ICON_PX))
        self.text = PlainLabel(role="error", wordWrap=True, textInteractionFlags=SELECTABLE)
        line = row(self._icon, (self.text, 1), margins=(10, 6, 10, 6), spacing=8, of=self)
        line.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop)
        self._cell.watch(self.refresh)
        ui.theme.changed.connect(self._restyle)
        self._restyle()
        self.refresh()

    def refresh(self) -> None:
        """Show how the code of the capture is wrong, or nothing."""
        trace, match = self._ui.session.trace.value, self._cell.value
        is_wrong = trace is not None and isinstance(match, CodeMatch) and match.is_wrong
        self.setVisible(is_wrong)
        if trace is None or not is_wrong:
            self.text.setText("")
            return
        self.text.setText(match.sentence)
        self.setToolTip(tooltip(join_texts("\n", (match.examples_text(trace.code), CONSEQUENCE, REMEDY))))
        self.setAccessibleName(translated(Message("Error: {0}", TITLE)))
        self.setAccessibleDescription(translated(join_texts(" ", (match.sentence, CONSEQUENCE, REMEDY))))

    def _restyle(self) -> None:
        self._icon.setPixmap(pixmap("error", self._ui.theme.role("error"), ICON_PX, self.devicePixelRatioF()))
