"""Rich text: tables of facts, links to places of the trace, and the action of a click."""

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtWidgets import QFrame, QTextBrowser

from rcv_py.base.text import translated
from rcv_py.model.ids import WaveId
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import Rich, escaped, joined, rich, unbroken
from rcv_py.ui.core.theme import Theme


def line_link(row: int, text: str) -> Rich:
    """Return a link to a code row; `text` is shown unchanged."""
    return rich('<a href="line:{}">{}</a>', row, text)


def token_link(row: int, text: str) -> Rich:
    """Return a link to a token of the selected wave."""
    return rich('<a href="token:{}">{}</a>', row, text)


def source_link(file: int, line: int, text: str) -> Rich:
    """Return a link to a source line."""
    return rich('<a href="source:{}:{}">{}</a>', file, line, text)


def wave_link(wave: WaveId, text: str) -> Rich:
    """Return a link to a wave."""
    return rich('<a href="wave:{}:{}:{}:{}">{}</a>', wave.se, wave.simd, wave.slot, wave.wid, text)


def facts_table(rows: Iterable[tuple[str, str]]) -> Rich:
    """Return names and values as a table; a value may be rich text, and an empty one leaves its row out."""
    cells = [rich('<tr><td class="q">{}</td><td>{}</td></tr>', name, value) for name, value in rows if value]
    return rich("<table cellspacing='0'>{}</table>", joined("", cells))


class LinkText(QTextBrowser):
    """Rich text whose links select places; it loads no resources."""

    def __init__(self, session: Session, theme: Theme, name: str) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self._html: str = Rich()
        self.setAccessibleName(translated(name))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._go)
        theme.changed.connect(self._restyle)

    def show_html(self, text: str) -> None:
        """Show rich text; show other text as plain text."""
        self._html = unbroken(escaped(text))
        self._restyle()

    def loadResource(self, kind: int, name: QUrl | str) -> None:
        """Load nothing: a text from a trace may not read files."""

    def _restyle(self) -> None:
        role = self._theme.role
        mono = f"font-family:'{self._theme.mono_family}'; font-size:{self._theme.mono.pointSize()}pt;"
        self.document().setDefaultStyleSheet(
            f"a {{ color:{role('accent').name()}; text-decoration:none; {mono} }}"
            f".m {{ {mono} }} .q {{ color:{role('muted').name()}; }}"
            f"td {{ padding:1px 8px 1px 0; }} h4 {{ color:{role('muted').name()}; margin:8px 0 2px 0; }}"
        )
        place = self.verticalScrollBar().value()
        self.setHtml(self._html)
        self.verticalScrollBar().setValue(place)

    def _go(self, link: QUrl) -> None:
        kind, *numbers = link.toString().split(":")
        if not all(number.isdigit() for number in numbers):
            return
        session, wave = self._session, self._session.selection.value.wave
        if kind == "line" and len(numbers) == 1:
            session.select_line(int(numbers[0]))
        elif kind == "token" and len(numbers) == 1 and wave is not None:
            session.select_token(wave, int(numbers[0]))
        elif kind == "wave" and len(numbers) == 4:
            session.select_wave(WaveId(*map(int, numbers)))
        elif kind == "source" and len(numbers) == 2:
            session.select_source(int(numbers[0]), int(numbers[1]))


class GrowingText(LinkText):
    """The same, as high as its text: its container scrolls."""

    def __init__(self, session: Session, theme: Theme, name: str) -> None:
        super().__init__(session, theme, name)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def minimumSizeHint(self) -> QSize:
        """Return no minimum width: the text wraps."""
        return QSize(0, 0)

    def _fit(self) -> None:
        height = int(self.document().size().height()) + 1 if self._html else 0
        if height != self.height():
            self.setFixedHeight(height)
