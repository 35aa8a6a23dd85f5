"""The window looks tomorrow as it looks today: what it does not wear out by being used."""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.base.languages import use
from rcv_py.base.text import speak
from rcv_py.ui.app import App
from rcv_py.ui.shell.layouts import LAYOUTS
from tests.support.mouse import left_click
from tests.support.window_fixtures import Reused
from tests.ui.window import (
    SAMPLE,
    SAMPLES,
    box,
    open_sample,
    run_command,
    settings_in,
    settle,
    show_panel,
    window,
)

LEAST_ROWS = {1080: 12, 900: 12, 800: 8}  # of the listing, by the height of the window


def rows(app: App) -> int:
    view = app.window.workspace.docks["isa"].panel.view
    return view.viewport().height() // view.row_height


def click_tab(app: App, area: str, name: str) -> None:
    """Click the tab of a panel with the mouse."""
    workspace = app.window.workspace
    (bar,) = (one for one in workspace.tab_bars() if one.objectName() == f"tabs_{area}")
    at = [dock.info.id for dock in workspace.group(area)].index(name)
    left_click(bar, bar.tabRect(at).center())


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 800)])
def test_the_bottom_opens_at_the_height_it_had(app: App, size: tuple[int, int]) -> None:
    heights, workspace = set(), app.window.workspace
    for name in ("why", "why", "loops", "loops", "hotspot", "hotspot", "why", "summary"):
        click_tab(app, "bottom", name)
        settle(app)
        if not workspace.is_bottom_folded:
            heights.add(box(app, name).height())
            assert rows(app) >= LEAST_ROWS[size[1]], name
    assert len(heights) == 1
    assert heights.pop() <= workspace.height() / 2


def test_five_starts_of_a_maximised_window_are_the_same(tmp_path: Path) -> None:
    seen = []
    for _ in range(5):
        with window(settings_in(tmp_path), None) as app:
            app.window.showMaximized()
            open_sample(app)
            docks = app.window.workspace.docks
            names = ("isa", "source", "compute_unit")
            seen.append([(name, docks[name].width(), docks[name].height()) for name in names])
    assert seen == seen[:1] * 5


def test_no_layout_enlarges_a_small_window(reused: Reused) -> None:
    with reused(size=(640, 480), sample=True) as app:
        size = app.window.size()
        for layout in LAYOUTS:
            app.window.workspace.use_layout(layout)
            for side in ("left", "right", "bottom"):
                app.window.workspace.fold(side, False)
                settle(app)
                assert app.window.size() == size, (layout.id, side)


def test_the_source_gives_way_where_instructions_would_be_cut(reused: Reused) -> None:
    """A scale of 200 % leaves 960 by 540 pixels; Findings are open."""
    with reused(size=(960, 540), sample=True) as app:
        app.window.workspace.fold("left", False)
        settle(app)
        docks = app.window.workspace.docks
        view = docks["isa"].panel.view
        assert view.columnWidth(view.table.column_of("text")) >= 150
        assert docks["source"].width() < docks["isa"].width() / 2


def test_a_handle_moves_what_is_beside_it_and_stays_after_a_restart(tmp_path: Path) -> None:
    with window(settings_in(tmp_path), (1600, 900)) as app:
        open_sample(app)
        before = {name: box(app, name) for name in ("triage", "isa", "source", "compute_unit")}
        handle = app.window.workspace.splitters["main"].handle(1)
        QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=QPoint(2, 200))
        QTest.mouseMove(handle, QPoint(62, 200))
        QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(62, 200))
        settle(app)
        assert box(app, "triage").width() == pytest.approx(before["triage"].width() + 60, abs=3)
        assert box(app, "compute_unit").height() == before["compute_unit"].height()
        after = {name: box(app, name) for name in before}
    with window(settings_in(tmp_path), (1600, 900)) as app:
        open_sample(app)
        assert {name: box(app, name) for name in before} == after


def test_tabs_open_the_bottom_in_every_language() -> None:
    use("zh_CN")
    try:
        with window(size=(1280, 800)) as app:
            open_sample(app)
            click_tab(app, "bottom", "why")
            settle(app)
            assert app.window.workspace.docks["why"].is_seen
            click_tab(app, "bottom", "why")
            assert app.window.workspace.is_bottom_folded
    finally:
        speak(None)


# -- findings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1280, 800), (640, 480)])
def test_a_window_without_room_for_findings_says_their_verdict(app: App, size: tuple[int, int]) -> None:
    line, findings = app.window.status.verdict, app.window.workspace.docks["triage"]
    settle(app)
    assert line.isVisible()
    assert line.fontMetrics().horizontalAdvance(line.shown_text) <= line.contentsRect().width()
    assert line.text() == app.ui.results.cell("findings").value.sentence != ""
    assert app.window.size().toTuple() == size
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    settle(app)
    assert findings.is_seen
    assert not line.isVisible(), "the panel says it"


def test_a_capture_without_waves_says_so_in_a_low_window_and_the_rest_in_a_tip(reused: Reused) -> None:
    with reused(size=(1280, 800)) as app:
        open_sample(app, SAMPLES / "placeholder")
        line = app.window.status.verdict
        assert line.isVisible()
        assert line.text() == "Nothing ran on the traced compute unit, so there is nothing to find."
        assert line.fontMetrics().horizontalAdvance(line.shown_text) <= line.contentsRect().width()
        assert "--att-target-cu" in line.toolTip()


def test_a_new_capture_opens_with_findings_and_a_known_one_as_it_was_left(tmp_path: Path) -> None:
    store = settings_in(tmp_path)
    with window(store, (1920, 1080)) as app:
        open_sample(app)
        show_panel(app, "search")
    with window(store, (1920, 1080)) as app:
        open_sample(app)
        assert app.window.workspace.docks["search"].is_seen
        open_sample(app, SAMPLES / "pc_sampling")
        assert app.window.workspace.docks["triage"].is_seen


def test_what_is_dragged_over_a_window_is_named_until_it_leaves(blank: App) -> None:
    data, shell = QMimeData(), blank.window
    data.setUrls([QUrl.fromLocalFile(str(SAMPLE))])
    how = Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for leave in (QDragLeaveEvent(), QDropEvent(QPointF(50, 50), *how)):
        enter = QDragEnterEvent(QPoint(50, 50), *how)
        QApplication.sendEvent(shell, enter)
        assert enter.isAccepted()
        assert shell.drop_hint.isVisible()
        assert shell.drop_hint.geometry() == shell.rect()
        assert "matmul_tiled" in shell.drop_hint.label.text()
        QApplication.sendEvent(shell, leave)
        assert not shell.drop_hint.isVisible()
    settle(blank)
    assert blank.ui.session.trace.value.path == SAMPLE
    data.setUrls([QUrl("https://example.org/capture")])
    QApplication.sendEvent(shell, QDragEnterEvent(QPoint(50, 50), *how))
    assert not shell.drop_hint.isVisible()


# -- columns ----------------------------------------------------------------------------------------


def columns(app: App) -> list[str]:
    """The columns of the listing that are shown, from the left."""
    view = app.window.workspace.docks["isa"].panel.view
    places = (view.header.logicalIndex(place) for place in range(view.header.count()))
    return [view.table.columns[at].id for at in places if not view.isColumnHidden(at)]


def test_columns_come_back_after_captures_that_lack_them(tmp_path: Path) -> None:
    """Some are hidden for lack of room when another capture is opened, which has none of them."""
    with window(settings_in(tmp_path), (1920, 1080)) as app:
        open_sample(app)
        usual = columns(app)
        assert usual.index("share_of_total") < usual.index("cost")
        app.window.resize(900, 800)
        app.window.workspace.fold("left", False)
        settle(app)
        assert len(columns(app)) < len(usual)
        open_sample(app, SAMPLES / "placeholder")
    for sample in (SAMPLES / "placeholder", SAMPLES / "pc_sampling", SAMPLE):
        with window(settings_in(tmp_path), (900, 800)) as app:
            open_sample(app, sample)
    with window(settings_in(tmp_path), (900, 800)) as app:
        app.window.resize(1920, 1080)
        for sample in (SAMPLES / "placeholder", SAMPLE, SAMPLES / "pc_sampling", SAMPLE):
            open_sample(app, sample)
        assert columns(app) == usual


def test_a_window_that_was_wide_folds_its_sides_where_there_is_no_room(tmp_path: Path) -> None:
    for size, folded in (((1920, 1080), set()), ((1280, 800), {"left", "right"}), ((1280, 800), {"right"})):
        with window(settings_in(tmp_path), size) as app:
            open_sample(app)
            assert app.window.workspace.folded == folded | {"bottom"}
            if folded:
                app.window.workspace.fold("left", False)  # which a user may want all the same
                settle(app)


def test_the_row_of_the_selected_wave_is_in_sight_at_the_next_start(tmp_path: Path) -> None:
    for start in range(2):
        with window(settings_in(tmp_path), (1280, 640)) as app:
            open_sample(app)
            panel = app.window.workspace.panel("compute_unit")
            if not start:
                wave, last = max(panel._row_of_wave.items(), key=lambda pair: pair[1])
                app.ui.session.select_wave(app.ui.session.trace.value.waves.id(wave))
                settle(app)
            plot, pitch = panel.timeline.plot, panel.source.shape.pitch
            assert panel.source.selected_row == last
            assert plot.content_height() > plot.box.height(), "else all rows are in sight"
            assert (last + 1) * pitch <= plot.rows.scroll_px + plot.box.height()


def test_columns_that_a_user_moved_keep_their_order_over_captures_without_them(reused: Reused) -> None:
    with reused(size=(1920, 1080), sample=True) as app:
        usual = columns(app)
        view = app.window.workspace.docks["isa"].panel.view
        view.header.moveSection(view.header.visualIndex(view.table.column_of("cost")), 2)
        moved = columns(app)
        assert moved[2] == "cost" != usual[2]
        open_sample(app, SAMPLES / "pc_sampling")
        assert columns(app)[2] == "cost"
        open_sample(app)
        assert columns(app) == moved
        run_command(app, "view.reset_layout")
        assert columns(app) == usual


def test_the_layout_is_reset_with_the_columns_of_panels_that_were_never_seen(tmp_path: Path) -> None:
    state = {"shown": {"hits": False}, "by_hand": {"text": 50}, "order": ["cost", "text"]}
    kept = {"isa": {"table": {"columns": state, "sort": ["cost", True]}}}
    store = settings_in(tmp_path)
    store.setValue("memory/panels", json.dumps(kept))
    with window(store) as app:
        dock = app.window.workspace.docks["isa"]
        assert dock.made is None
        app.ui.commands.run("view.reset_layout")
        assert dock.save_state() == {"table": {"sort": ["cost", True]}}


# -- an hour of use ---------------------------------------------------------------------------------

ACTIONS, SEED = 200, int(os.environ.get("RCV_SEED", "20261129"))
NEAR_PX = 10


class User:
    """Uses the window at random, and looks after each action whether it is as it was."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.random, self.stack = Random(SEED), ExitStack()
        self._folder, self._qtbot = folder, qtbot
        self._language, self._size, self._capture = "en", (1920, 1080), SAMPLE
        self._known: dict[tuple[object, ...], tuple[int, dict[str, QSize]]] = {}
        self._all_columns: dict[tuple[int, int], list[str]] = {}  # where there is room, by size of the window
        self._usual_columns: list[str] = []
        self._usual_width = 0
        self.app = self._start()

    def _start(self) -> App:
        use("zh_CN") if self._language == "zh" else speak(None)
        app = self.stack.enter_context(window(settings_in(self._folder), self._size))
        open_sample(app, self._capture)
        return app

    # What a user does; each returns whether sizes must stay as they are.

    def fold(self) -> bool:
        part, workspace = self.random.choice(["left", "right", "bottom"]), self.app.window.workspace
        workspace.fold(part, part not in workspace.folded)
        return False

    def open_tab(self) -> bool:
        panels = self.app.window.workspace.group("bottom")
        click_tab(self.app, "bottom", self.random.choice([dock.info.id for dock in panels if dock.is_open]))
        return False

    def show_side_panel(self) -> bool:
        self.app.window.workspace.show_panel(
            self.random.choice(["triage", "explorer", "search", "wave_picker"])
        )
        return False

    def only_code_and_back(self) -> bool:
        self.app.ui.commands.run("view.only_code")
        settle(self.app)
        if self._capture == SAMPLE:
            self._all_columns[self._size] = self._all_columns.get(self._size) or columns(self.app)
            assert columns(self.app) == self._all_columns[self._size]
        self.app.ui.commands.run("view.only_code")
        return True

    def second_time_view(self) -> bool:
        self.app.ui.commands.run("view.pin_time")
        return False

    def layout(self) -> bool:
        self.app.window.workspace.use_layout(self.random.choice(LAYOUTS))
        return False

    def restart(self) -> bool:
        self.stack.close()
        self.app = self._start()
        return True

    def language(self) -> bool:
        self._language = "en" if self._language == "zh" else "zh"
        return self.restart()

    def capture(self) -> bool:
        self._capture = self.random.choice([SAMPLE, SAMPLES / "placeholder", SAMPLES / "pc_sampling"])
        open_sample(self.app, self._capture)
        return False

    def resize(self) -> bool:
        self._size = (1280, 800) if self._size == (1920, 1080) else (1920, 1080)
        self.app.window.resize(*self._size)
        return False

    # What stays.

    def sizes(self) -> dict[str, QSize]:
        """The sizes of panels in front, and of the place of the tabs that change without this."""
        docks = self.app.window.workspace.docks.values()
        return {dock.area: dock.size() for dock in docks if dock.is_seen and not dock.isWindow()}

    def check(self, step: int, name: str, before: dict[str, QSize] | None) -> None:
        workspace, now = self.app.window.workspace, self.sizes()
        about = f"seed {SEED}, step {step}: {name}"
        isa = workspace.docks["isa"]
        view = isa.panel.view
        shown = (isa.height() - view.header.height()) // view.row_height
        assert shown >= LEAST_ROWS[self._size[1]], about
        assert self.app.window.size().toTuple() == self._size, about
        # The same choices give the same sizes, whatever was done between them.
        pinned = bool(workspace.group("time_below"))
        key = (workspace.layout_.id, workspace.folded, self._capture, pinned, self._size, *sorted(now))
        first, known = self._known.setdefault((*key, workspace.layout_.time), (step, now))
        for area, size in (known if before is None else before).items():
            off = max(abs(size.width() - now[area].width()), abs(size.height() - now[area].height()))
            assert off <= NEAR_PX, f"{about}: {area} is {now[area]}, was {size} at step {first}"
        if self._capture == SAMPLE and isa.width() >= self._usual_width:
            found = columns(self.app)
            self._usual_columns = self._usual_columns or found
            self._usual_width = self._usual_width or isa.width()
            assert [name for name in found if name in self._usual_columns] == self._usual_columns, about


def test_an_hour_of_use_wears_nothing_out(tmp_path: Path, qtbot: QtBot) -> None:
    """Random actions; `RCV_SEED` chooses others."""
    print(f"RCV_SEED={SEED}")
    user = User(tmp_path, qtbot)
    often = [user.fold, user.open_tab, user.show_side_panel, user.only_code_and_back, user.second_time_view]
    often = [*often * 4, *[user.layout, user.capture, user.resize] * 3, user.restart, user.language]
    try:
        user.check(0, "start", None)
        for step in range(1, ACTIONS + 1):
            before, act = user.sizes(), user.random.choice(often)
            stays = act()
            settle(user.app)
            user.check(step, act.__name__, before if stays else None)
    finally:
        user.stack.close()
        speak(None)
