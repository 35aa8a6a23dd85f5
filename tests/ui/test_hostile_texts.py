"""A capture whose every text is markup is walked through the whole window: nothing of it becomes markup."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QEvent, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QColor, QHelpEvent, QPalette, QPixmap
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QMenu,
    QTextBrowser,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import NotATrace
from rcv_py.ui.app import App
from rcv_py.ui.core import plain_text
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import PlainLabel, Rich, RichLabel, draw_text, escaped, joined, rich, tooltip
from rcv_py.ui.shell.dialogs.error_box import AboutBox, ErrorBox
from rcv_py.ui.shell.export_dialog import ExportDialog
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from tests.support.hostile_text import CONTROLS, Watch, hostile, markup, unseen, watched
from tests.support.window_fixtures import Reused
from tests.ui.window import menus_of, open_sample, settle, show_panel, window

IS_PAINTED = True

OURS = {"qt", "b", "i", "br", "tt", "code", "span", "p", "a", "h4", "table", "tr", "td", "html", "head"}
OURS |= {"body", "meta", "style", "title", "hr", "li", "ul"}  # of what Qt writes itself
_OUR_LINK = re.compile(
    r"(line|token|source|evidence|assumption|trial|more|play|try):[\d:]+|frame:(-1|\d+)|file|folder|path|\d+:\d+|"
)
ROWS = 40  # of a model that are asked; equal ones say equal things
GRID = 24  # pixels between places that the mouse rests at
_FINE: set[str] = set()  # texts that were looked at: most widgets and rows say what others say


# -- the builder ------------------------------------------------------------------------------------


def test_the_builder_escapes_what_is_not_its_own() -> None:
    assert rich("<b>{}</b>", "<i>&") == "<b>&lt;i&gt;&amp;</b>"
    assert joined("<br>", ["<x>", rich("<b>{}</b>", 1)]) == "&lt;x&gt;<br><b>1</b>"
    assert rich("{}", rich("<b>{}</b>", "<")) == "<b>&lt;</b>", "once"
    assert rich("<b>x</b>") + "<y>" == "<b>x</b>&lt;y&gt;"
    assert escaped("a\x1b\u202e") == r"a\x1b\u202e"
    assert not isinstance(rich("<b>x</b>")[:5], Rich), "a part of markup is none"


def test_tooltips_show_just_the_text() -> None:
    for plain in ("a < b", "std::vector<int>", "a & b", "two\nlines"):
        assert tooltip(plain) == plain
    for text in ("<b>x", "<img src='/dev/zero'>", "a &lt; b", " <qt>"):
        shown = tooltip(text)
        assert "".join(Reader(shown).said).strip() == text.strip()
        assert tags_of(shown) == {"qt"}


def test_a_plain_label_is_plain_from_the_first(qtbot: QtBot) -> None:
    for label in (PlainLabel("<b>x</b>"), PlainLabel(text="<b>x</b>", wordWrap=True)):
        qtbot.addWidget(label)
        assert label.textFormat() == Qt.TextFormat.PlainText
        label.setText("<i>y</i>\x1b")
        assert label.text() == r"<i>y</i>\x1b"


class _Painter:
    """Notes what it is asked to draw."""

    def __init__(self) -> None:
        self.drawn: list[tuple[Any, ...]] = []

    def drawText(self, *asked: Any) -> None:
        """Note it."""
        self.drawn.append(asked)


def test_links_follow_the_theme(qtbot: QtBot) -> None:
    label = RichLabel()
    qtbot.addWidget(label)
    label.setText(rich("<a href='frame:0'>{}</a>", "All"))
    label.show()
    before, usual = label.grab().toImage(), QApplication.palette()
    palette = QPalette(usual)
    palette.setColor(QPalette.ColorRole.Link, QColor("#ff0000"))
    QApplication.setPalette(palette)
    try:
        QApplication.processEvents()
        assert label.grab().toImage() != before
        assert "All" in label.text()
    finally:
        QApplication.setPalette(usual)


def test_what_is_painted_is_seen_in_every_letter(ui: UiContext, qtbot: QtBot) -> None:
    painter = _Painter()
    draw_text(painter, QPoint(1, 2), "s_nop \x1b[31m\u202eevil")
    assert painter.drawn == [(QPoint(1, 2), r"s_nop \x1b[31m\u202eevil")]
    draw_text(painter, QRect(0, 0, 90, 90), 0, "48 %\nstall\x07")
    assert painter.drawn[-1] == (QRect(0, 0, 90, 90), 0, "48 %\nstall\\x07"), "a box has lines"
    view = RowsView(ui.theme, ui.settings)
    qtbot.addWidget(view)
    column = Column("text", "text", ["\u202eevil"], width=400)
    view.draw_text(painter, QRect(0, 0, 400, 20), "\u202eevil", column)
    assert painter.drawn[-1][-1] == r"\u202eevil"
    view.draw_text(painter, QRect(0, 0, 60, 20), "\u202eevil" * 9, column)
    assert painter.drawn[-1][-1].endswith("…"), "the escapes are what has to fit"
    assert len(painter.drawn[-1][-1]) <= view.chars_in(60)


# -- the walk ---------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Elements, what they load, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.add(tag)
        self.loads += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.said.append(data)


def tags_of(page: str) -> set[str]:
    return Reader(page).tags


def check(text: object, where: str) -> None:
    """Fail if Qt takes a text for markup that is not ours, or if it steers the eye."""
    if not isinstance(text, str) or not text or text in _FINE:
        return
    assert not unseen(text), (where, text)
    if QtText.mightBeRichText(text):
        found = Reader(text)
        assert found.tags <= OURS, (where, found.tags, text)
        assert all(_OUR_LINK.fullmatch(one) for one in found.loads), (where, found.loads)
    _FINE.add(text)


def check_widget(widget: QWidget) -> None:
    """Everything that a widget says of itself, its actions and its model."""
    where = f"{type(widget).__name__} {widget.objectName()}"
    for text in (widget.toolTip(), widget.statusTip(), widget.whatsThis()):
        check(text, where)
    assert not unseen(widget.windowTitle()), where  # it is drawn as it is, on one line
    assert "\n" not in widget.windowTitle(), where
    if isinstance(widget, QLabel):
        is_plain = widget.textFormat() == Qt.TextFormat.PlainText
        assert is_plain or tags_of(widget.text()) <= OURS, (where, widget.text())
        check("" if is_plain else widget.text(), where)
    if isinstance(widget, QTextBrowser):
        check(widget.toHtml(), where)
    for action in widget.actions():
        check_action(action, where)
    if isinstance(widget, QMenu):
        widget.aboutToShow.emit()
        check(widget.title(), where)
    if isinstance(widget, QComboBox | QAbstractItemView) and widget.model() is not None:
        for text in texts_of(widget.model()):
            check(text, where)


def check_action(action: QAction, where: str) -> None:
    """A tooltip that Qt makes of the text of an action is read as markup like any other."""
    for text in (action.toolTip(), action.statusTip(), action.whatsThis()):
        check(text, f"{where}, {action.text()!r}")


def texts_of(model: QAbstractItemModel) -> Iterator[Any]:
    """Tooltips and whatever else views take for markup, of headings and of rows, those below them too."""
    roles = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.WhatsThisRole, Qt.ItemDataRole.StatusTipRole)
    for column in range(columns(model, QModelIndex())):
        for role in roles:
            yield model.headerData(column, Qt.Orientation.Horizontal, role)
    for index in indexes(model, QModelIndex()):
        for role in roles:
            yield model.data(index, role)


def indexes(model: QAbstractItemModel, parent: QModelIndex, depth: int = 0) -> Iterator[QModelIndex]:
    """The first rows of a model, and of those the first rows below, fewer the deeper they lie."""
    for row in range(min(ROWS >> 2 * depth, model.rowCount(parent))):
        for column in range(columns(model, parent)):
            yield model.index(row, column, parent)
        if depth < 2:
            yield from indexes(model, model.index(row, 0, parent), depth + 1)


def columns(model: QAbstractItemModel, parent: QModelIndex) -> int:
    """Lists have one, and do not say so."""
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)


def rest_the_mouse(widget: QWidget) -> None:
    """Ask for a tooltip at places all over a widget."""
    for y in range(2, widget.height(), GRID):
        for x in range(2, widget.width(), 4 * GRID):
            at = QPoint(x, y)
            QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))


class Tips:
    """Stands in for QToolTip: hears every text, and lets Qt show it."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}

    def showText(self, place: QPoint, text: str, widget: QWidget) -> None:
        """Note a text that is shown, and let Qt show each text once: what it does with it does not change."""
        if text not in self.said:
            self.said[text] = None
            QToolTip.showText(place, text, widget)

    def hideText(self) -> None:
        """Take the tip away."""
        QToolTip.hideText()


@pytest.fixture
def tips(monkeypatch: pytest.MonkeyPatch) -> Tips:
    made = Tips()
    monkeypatch.setattr(plain_text, "QToolTip", made)
    return made


@pytest.fixture
def probe(tmp_path: Path) -> Iterator[tuple[Path, Watch]]:
    """A picture that markup asks for, and who opens it."""
    path = tmp_path / "probe.png"
    picture = QPixmap(4, 4)
    picture.fill(Qt.GlobalColor.red)
    assert picture.save(str(path))
    with watched(path) as watch:
        yield path, watch


def test_the_watch_sees_what_qt_loads(probe: tuple[Path, Watch], qtbot: QtBot) -> None:
    path, watch = probe
    assert not watch.was_opened()
    label = QLabel(markup(path))
    qtbot.addWidget(label)
    label.show()
    label.grab()
    assert watch.was_opened(), "a raw label does what the issue says"


def walk(app: App, tips: Tips, where: str) -> None:
    """Every panel in front once, every widget, every place the mouse can rest at."""
    seen: set[QWidget] = set()
    for name, dock in app.window.workspace.docks.items():
        show_panel(app, name)
        for widget in [dock.panel, *dock.panel.findChildren(QWidget)]:
            check_widget(widget)
            seen.add(widget)
            if widget.isVisible():
                rest_the_mouse(widget)
        check(dock.windowTitle(), name)
        dock.panel.grab()
    for widget in {app.window, *app.window.findChildren(QWidget), *QApplication.topLevelWidgets()} - seen:
        check_widget(widget)
    for text in tips.said:
        check(text, f"{where}, a tooltip")


@pytest.mark.parametrize("sample", ["markers", "counters", "pc_sampling"])
def test_nothing_of_a_capture_becomes_markup(
    sample: str, probe: tuple[Path, Watch], tips: Tips, *, tmp_path: Path, qtbot: QtBot, reused: Reused
) -> None:
    """`counters` is `matmul_small`, with counters beside all its other texts."""
    path, watch = probe
    folder = hostile(tmp_path / "captures", sample, path)
    watch.was_opened()
    with reused() as app:
        open_sample(app, folder)
        trace, session = app.ui.session.trace.value, app.ui.session
        assert CONTROLS in "".join(trace.code.text)
        if len(trace.waves):
            session.select_wave(trace.waves.id(0))
        waits = [row for row, text in enumerate(trace.code.text) if "waitcnt" in text] or [1]
        session.select_line(waits[0])
        settle(app)
        walk(app, tips, sample)
        assert not watch.was_opened()
    assert sample != "counters" or any("img src" in text for text in tips.said), "tips say it"


def test_a_comparison_shows_texts_as_they_are(
    blank: App, probe: tuple[Path, Watch], tips: Tips, tmp_path: Path
) -> None:
    path, watch = probe
    folder, other = (hostile(tmp_path / side, "matmul_small", path) for side in "ab")
    watch.was_opened()
    open_sample(blank, folder)
    blank.window.baseline.open(other)
    settle(blank)
    for name in ("compare", "flamegraph", "trust"):
        panel = show_panel(blank, name)
        check_all([panel, *panel.findChildren(QWidget)], is_touched=True)
    for text in tips.said:
        check(text, "a tooltip")
    assert not watch.was_opened()


def check_all(widgets: Iterable[QWidget], is_touched: bool = False) -> None:
    for widget in widgets:
        check_widget(widget)
        if is_touched and widget.isVisible():
            rest_the_mouse(widget)


def test_dialogs_show_texts_as_they_are(
    probe: tuple[Path, Watch], tips: Tips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, watch = probe
    folder = hostile(tmp_path / "a", "matmul_small", path)
    hostile(folder.parent / "<b>second", "matmul_small", path)
    asked: list[str] = []

    def ask(*words: object) -> tuple[str, str]:
        asked.extend(map(str, words))
        return "", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    watch.was_opened()
    with window(is_painted=IS_PAINTED) as app:
        app.window.opener.open(folder.parent)  # two captures: the chooser
        settle(app)
        menus_of(app.window)  # with what is in them
        check_all(app.window.findChildren(QWidget))
        open_sample(app, folder)
        error = NotATrace(folder, markup(path) + CONTROLS)
        error.hint, error.detail = markup(path), markup(path) + CONTROLS
        app.window.palette_.open("<img")
        app.window.status.show_saved(folder / "<img src=x>.html")
        app.ui.commands.run("export.report")
        app.ui.commands.run("view.settings")
        export = ExportDialog(app.window.exporter, app.window)
        for box in (ErrorBox(error, str(folder), app.window), AboutBox(app.window), export):
            box.show()
            box.grab()
        check_all([app.window, *app.window.findChildren(QWidget), *QApplication.topLevelWidgets()])
        app.window.grab()
        for text in tips.said:
            check(text, "a tooltip")
        assert asked
        assert not watch.was_opened()
