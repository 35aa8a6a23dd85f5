"""Without sight or mouse: every control has a name, says why it is greyed, and shows the focus."""

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from PySide6 import QtWidgets
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics
from pytestqt.qtbot import QtBot

from rcv_py.features.time.overview_panel import OverviewStrip
from rcv_py.ui.app import App
from rcv_py.ui.core.export import picture
from rcv_py.ui.flame.flame_view import FlameView
from rcv_py.ui.plot.bar_chart import BarChart
from rcv_py.ui.shell.docks import Dock
from rcv_py.ui.shell.focus_order import tab_stops
from rcv_py.ui.shell.layouts import LAYOUTS
from rcv_py.ui.shell.toolbar import MAX_SIBLINGS
from rcv_py.ui.timeline.time_plot import TimePlot
from rcv_py.ui.widgets.legend import Legend
from tests.ui.window import menus_of, settings_in, settle, show_panel, window

IS_PAINTED = True  # legends name what is painted
CONTROLS = (
    QtWidgets.QAbstractButton, QtWidgets.QAbstractItemView, QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox,
    QtWidgets.QLineEdit, QtWidgets.QPlainTextEdit, QtWidgets.QTabBar,
    QtWidgets.QTextEdit,
)  # fmt: skip
KINDS = (
    TimePlot, FlameView, BarChart, OverviewStrip, Legend, QtWidgets.QAbstractButton,
    QtWidgets.QAbstractItemView, QtWidgets.QComboBox, QtWidgets.QLineEdit, QtWidgets.QTabBar,
)  # fmt: skip
NOT_NOW = "Not now: "
NAME, DESCRIPTION = QAccessible.Text.Name, QAccessible.Text.Description


def controls(part: QtWidgets.QWidget) -> Iterator[QtWidgets.QWidget]:
    """Yield what is seen of a part and takes keys or clicks, and is not a piece of another control."""
    for widget in part.findChildren(QtWidgets.QWidget):
        takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        is_piece = widget.objectName().startswith("qt_") or isinstance(
            widget, QtWidgets.QHeaderView | QtWidgets.QMenu
        )
        is_piece = is_piece or isinstance(
            widget.parent(), QtWidgets.QComboBox | QtWidgets.QAbstractSpinBox | QtWidgets.QTabBar
        )
        is_piece = is_piece or widget.focusProxy() is not None
        if widget.isVisible() and not is_piece and (takes_keys or isinstance(widget, CONTROLS)):
            yield widget


def spoken(widget: QtWidgets.QWidget, what: QAccessible.Text = NAME) -> str:
    """Return what a screen reader says of a widget."""
    face = QAccessible.queryAccessibleInterface(widget)
    return face.text(what) if face is not None else ""


def told(widget: QtWidgets.QWidget) -> str:
    """Return where a widget is, for the message of a test."""
    path = []
    while widget is not None:
        path.append(f"{type(widget).__name__}#{widget.objectName()}")
        widget = widget.parentWidget()
    return " < ".join(path[:5])


def looks(app: App) -> Iterator[str]:
    """Show each layout of the window, then each panel that none of them showed; yield what is shown."""
    workspace, seen = app.window.workspace, set()
    for layout in LAYOUTS:
        workspace.use_layout(layout)
        settle(app)
        seen |= {name for name, dock in workspace.docks.items() if dock.is_seen and not dock.parts}
        yield layout.title
    workspace.use_layout(LAYOUTS[0])
    for name in workspace.homes:
        if name not in seen:
            show_panel(app, name)
            yield name


def nameless(seen: Iterable[QtWidgets.QWidget]) -> set[str]:
    """Return the controls of which a screen reader says nothing."""
    return {told(widget) for widget in seen if not spoken(widget).strip()}


def unexplained(seen: Iterable[QtWidgets.QWidget]) -> set[str]:
    """Return the disabled controls whose tooltip does not say why."""
    return {told(one) for one in seen if not one.isEnabled() and NOT_NOW not in one.toolTip()}


def wrong(part: QtWidgets.QWidget) -> set[str]:
    """Return the controls of a part that are nameless or unexplained."""
    seen = list(controls(part))
    return nameless(seen) | unexplained(seen)


@pytest.mark.parametrize("name", ["view.settings", "help.keys", "help.about", "export.dialog", "go.palette"])
def test_dialogs_have_names(app: App, name: str) -> None:
    app.ui.commands.run(name)
    (shown,) = [
        one for one in QtWidgets.QApplication.topLevelWidgets() if one.isVisible() and is_over(one, app)
    ]
    try:
        assert not wrong(shown)
        assert list(controls(shown)) or name == "help.keys"
    finally:
        shown.close()


def is_over(widget: QtWidgets.QWidget, app: App) -> bool:
    parent = widget.parentWidget()
    return parent is not None and parent.window() is app.window and not isinstance(widget, Dock)


def test_no_menu_has_more_than_twenty_rows(app: App) -> None:
    window = app.window
    entry = window.opener.siblings[0]
    window.opener.siblings = tuple(entry._replace(path=entry.path / str(at)) for at in range(400))
    window.top_bar.capture.menu().aboutToShow.emit()
    assert len(rows(window.top_bar.capture.menu())) == MAX_SIBLINGS + 1
    menus = {**menus_of(window), "": window.top_bar.capture.menu()}
    assert not {path: len(rows(menu)) for path, menu in menus.items() if len(rows(menu)) > 20}


def rows(menu: QtWidgets.QMenu) -> list[str]:
    return [one.text() for one in menu.actions() if not one.isSeparator() and one.isVisible()]


def test_the_window_fits_half_of_a_full_hd_screen(app: App) -> None:
    """A scale of 200 % leaves 960 by 540 pixels."""
    window = app.window
    before = window.size()
    try:
        for layout in LAYOUTS:
            window.workspace.use_layout(layout)
            settle(app)
            window.resize(960, 540)
            settle(app)
            assert (window.width(), window.height()) == (960, 540), layout.id
            assert window.minimumSizeHint().width() <= 960
    finally:
        window.resize(before)
        window.workspace.reset_layout()


def test_the_field_that_finds_everything_shows_its_keys(app: App) -> None:
    window, before = app.window, app.window.size()
    window.resize(1000, 760)
    try:
        settle(app)
        field = window.top_bar.field
        assert field.width() >= field.sizeHint().width()
    finally:
        window.resize(before)


def test_the_text_of_the_whole_window_grows(app: App) -> None:
    window, settings = app.window, app.ui.settings
    isa = window.workspace.panel("isa").view

    def measured() -> tuple[int, ...]:
        settle(app)
        field = window.top_bar.field
        tab = window.workspace.tab_bars()[0]
        least = tab.fontMetrics().height(), window.menu_bar.fontMetrics().height()
        assert field.height() >= field.fontMetrics().height()
        assert window.menu_bar.height() >= least[1]
        assert isa.row_height >= QFontMetrics(app.ui.theme.mono).height()
        assert isa.header.height() >= QFontMetrics(isa.header.font()).height()
        for label in window.workspace.panel("wave_picker").findChildren(QtWidgets.QPushButton):
            assert label.height() >= label.fontMetrics().height(), label.text()
        return (*least, isa.row_height, isa.header.height(), isa.fontMetrics().height())

    usual = measured()
    isa.verticalScrollBar().setValue(50 * isa.row_height)
    try:
        settings["look.text_size"] = 3
        app.ui.commands.run("view.font_bigger")
        assert settings["look.text_size"] == 4
        assert all(now > before for now, before in zip(measured(), usual, strict=True))
        assert isa.verticalScrollBar().value() // isa.row_height == 50, "the rows in view stay"
    finally:
        settings["look.text_size"] = 0
    assert measured() == usual


def test_the_bars_of_a_start_have_the_kept_text_size(tmp_path: Path) -> None:
    """As everything below them has: they are made before the window has its style."""
    store = settings_in(tmp_path)
    store.setValue("look/text_size", 14)
    with window(store) as made:
        top, below = made.window.top_bar, made.window.status
        parts = (made.window.menu_bar, top.field, top.capture, below)
        sizes = [part.font().pointSizeF() for part in parts]
        made.ui.settings["look.text_size"] = 0
        usual = QtWidgets.QLabel().font().pointSizeF()
        assert sizes == [usual + 14] * len(parts)


def test_whoever_has_the_focus_shows_it(app: App) -> None:
    """In both themes, one of each kind of control."""
    window, settings, done = app.window, app.ui.settings, set()
    names = ("compute_unit", "isa", "occupancy", "hotspot", "flamegraph", "search")
    for theme, name in product(("light", "dark"), names):
        settings["look.theme"] = theme
        window.workspace.show_panel(name)
        settle(app)
        for widget in controls(window):
            kind = next((one for one in KINDS if isinstance(widget, one)), None)
            takes_keys = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isEnabled()
            if kind is None or not takes_keys or (theme, kind) in done:
                continue
            done.add((theme, kind))
            window.pages.setFocus()
            without = widget.grab().toImage()
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            assert widget.grab().toImage() != without, (theme, told(widget))
    assert {kind for _, kind in done} == set(KINDS)
    assert len(done) == 2 * len(KINDS)


def test_keys_reach_every_area(app: App, qtbot: QtBot) -> None:
    window = app.window
    workspace = window.workspace
    workspace.fold("left", True)
    workspace.show_main()
    settle(app)
    order = [one for part in workspace.parts() for one in tab_stops(part)]
    assert any(isinstance(one, QtWidgets.QTabBar) for one in order)
    assert set(workspace.bars["left"].buttons.values()) <= set(order)
    assert any(isinstance(one, Legend) for one in order)
    assert any(isinstance(one, OverviewStrip) for one in order)
    reached = []
    for _ in range(len(workspace.parts()) + 2):
        qtbot.keyClick(window, Qt.Key.Key_F6)
        reached.append(QtWidgets.QApplication.focusWidget())
    docks = [dock for dock in workspace.docks.values() if dock.is_seen and not dock.isWindow()]
    assert len(docks) >= 5
    for part in (window.top_bar, *filter(tab_stops, docks)):
        assert any(part.isAncestorOf(one) for one in reached), part
    forth = QtWidgets.QApplication.focusWidget()
    qtbot.keyClick(window, Qt.Key.Key_F6)
    qtbot.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert QtWidgets.QApplication.focusWidget() is forth
    window.top_bar.field.setFocus()
    qtbot.keyClick(window.top_bar.field, Qt.Key.Key_Escape)
    assert workspace.docks["isa"].has_focus()


def test_a_panel_grows_by_keys(app: App, qtbot: QtBot) -> None:
    workspace = app.window.workspace
    workspace.show_main()
    dock = workspace.docks["isa"]
    before = dock.width()
    app.ui.commands.run("view.area_narrower")
    qtbot.waitUntil(lambda: dock.width() < before)


def test_a_picture_has_no_frame_of_the_focus(app: App) -> None:
    workspace = app.window.workspace
    show_panel(app, "hotspot")
    dock, window = workspace.docks["hotspot"], app.window
    window.pages.setFocus()
    without = picture(dock.panel, app.ui.theme, "")
    dock.panel.plot.setFocus()
    assert picture(dock.panel, app.ui.theme, "") == without
    assert dock.panel.plot.hasFocus()


# -- in every place, in the end: what is made for this, all that comes later would have to follow -----


def test_every_control_has_a_name_and_says_why_it_is_greyed(app: App) -> None:
    wordless: dict[str, str] = {}
    mute: dict[str, str] = {}
    undescribed: set[str] = set()
    seen: set[type] = set()
    for place in looks(app):
        there = list(controls(app.window))
        wordless |= dict.fromkeys(nameless(there), place)
        mute |= dict.fromkeys(unexplained(there), place)
        kinds = (TimePlot, BarChart, OverviewStrip, FlameView)
        shown = [one for one in there if isinstance(one, kinds)]
        seen |= {type(one) for one in shown}
        undescribed |= {told(one) for one in shown if "elected" not in spoken(one, DESCRIPTION)}
    assert not wordless
    assert not mute
    assert len(seen) >= 6, seen
    assert not undescribed


def test_an_empty_window_says_it_too(blank: App) -> None:
    window = blank.window
    assert not wrong(window), "the first page"
    window.pages.setCurrentWidget(window.workspace)
    for place in looks(blank):
        assert not wrong(window), place


def test_the_menus_say_why(blank: App) -> None:
    window = blank.window
    window.top_bar.capture.menu().aboutToShow.emit()
    menus = [*menus_of(window).values(), window.top_bar.capture.menu()]
    greyed = [one for menu in menus for one in menu.actions() if not one.isEnabled() and one.text()]
    assert len(greyed) > 20
    assert not [one.text() for one in greyed if NOT_NOW not in one.toolTip()]
