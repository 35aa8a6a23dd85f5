"""Named layouts, a second time view, sides that fold to icons, and what comes back at the next start."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.shell import workspace as workspace_module
from rcv_py.ui.shell.layouts import (
    APART,
    CODE_AREAS,
    EMPTY_PX,
    LAYOUTS,
    LEAST_ROWS_PX,
    MIDDLE,
    SIDES,
    TITLES,
    WAVE_PX,
    Layout,
    Shown,
    code_widths,
    dragged,
    heights,
    right_heights,
    widths,
)
from tests.support.fixtures import fixture_of
from tests.support.source_places import without_sources
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLES, box, open_sample, run_command, settings_in, settle, show_panel, window

FULL_HD = (1920, 1080)


size = fixture_of(lambda: FULL_HD)  # Of the window


@pytest.mark.parametrize("size", [FULL_HD, (1280, 800), (640, 480), (200, 90)])
@pytest.mark.parametrize("folded_px", [0, 22])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_a_layout_gives_away_what_there_is(layout: Layout, folded_px: int, size: tuple[int, int]) -> None:
    width, height = size
    assert sum(widths(layout, width, Shown([*TITLES]))) == width
    assert sum(code_widths(layout, width, Shown(CODE_AREAS))) == width
    assert sum(right_heights(layout, height, Shown(SIDES["right"]))) == height
    for places in (MIDDLE, ("time", "code", "bottom"), ("time", "bottom"), ("code",)):
        given = heights(layout, height, Shown(places, {}, folded_px))
        assert sum(given) == height, places
        assert min(given) >= 0
        if folded_px and "bottom" in places:
            assert given[-1] == folded_px


@pytest.mark.parametrize("place", ["left", "right", "wave", "time", "time_below", "bottom", "source"])
@pytest.mark.parametrize("most", [{}, {"time": 200, "source": 170, "wave": 110}])
def test_a_size_that_a_user_gave_is_the_size_that_comes_back(place: str, most: dict[str, int]) -> None:
    width, height = FULL_HD

    def size(layout: Layout) -> int:
        left, _, right = widths(layout, width, Shown([*TITLES]))
        middle = dict(zip(MIDDLE, heights(layout, height, Shown((place, "code"), most)), strict=True))
        wave, _ = right_heights(layout, height, Shown(SIDES["right"], most))
        _, source = code_widths(layout, width, Shown(CODE_AREAS, most))
        return {"left": left, "right": right, "wave": wave, "source": source, **middle}[place]

    layout, room = LAYOUTS[0], width if place in ("source", "left", "right") else height
    for px in (size(layout) + 30, size(layout) + 31, size(layout) + 3):
        layout = dragged(layout, place, px, room, most)
        assert abs(size(layout) - px) <= 1
    if place in most and most[place] < 300:
        assert dragged(LAYOUTS[0], place, 150, room, most).code == LAYOUTS[0].code, "only for such captures"


def test_the_layout_time_has_two_time_views_and_code_below_them(app: App) -> None:
    run_command(app, "view.layout_time")
    unit, device, isa = (box(app, name) for name in ("compute_unit", "global_timeline", "isa"))
    assert unit.bottom() < device.top() < isa.top()
    assert unit.height() + device.height() > isa.height()
    run_command(app, "view.layout_code")
    assert not app.window.workspace.group("time_below")
    assert box(app, "isa").height() > 1.5 * box(app, "compute_unit").height()


def test_triage_and_compare_bring_forward_what_they_are_about(app: App) -> None:
    for name, front, least in (("triage", "why", 300), ("compare", "compare", 440)):
        run_command(app, f"view.layout_{name}")
        assert box(app, front).height() >= least
        assert app.window.workspace.layout_.id == name
        assert app.ui.commands[f"view.layout_{name}"].is_checked()
    assert box(app, "triage").width() < 400, "findings are wide in the layout Triage alone"


def test_a_second_time_view_that_was_not_in_front_is_not_when_it_is_put_back(app: App) -> None:
    app.window.workspace.show_panel("compute_unit")
    for _ in range(2):
        run_command(app, "view.pin_time")
        assert app.window.workspace.docks["compute_unit"].is_seen


def test_a_pinned_time_view_leaves_the_own_arrangement_as_it_is(app: App) -> None:
    workspace = app.window.workspace
    docks = workspace.docks
    workspace.move_panel("search", "code")
    workspace.move_panel("summary", APART)
    workspace.docks["source"].take_focus()
    workspace.grow(120, 0)
    workspace.docks["triage"].take_focus()
    workspace.grow(60, 0)
    app.ui.commands.run("view.fold_right")
    workspace.show_panel("search")
    show_panel(app, "utilization")
    kept = ("search", "source", "triage")
    widths = {name: docks[name].width() for name in kept}
    before = box(app, "compute_unit" if docks["compute_unit"].is_seen else "utilization")
    for is_pinned in (True, False):
        run_command(app, "view.pin_time")
        assert {name: box(app, name).width() for name in kept} == pytest.approx(widths, abs=4)
        assert docks["search"].area == docks["isa"].area
        assert docks["summary"].isWindow()
        assert "right" in workspace.folded
        assert bool(workspace.group("time_below")) is is_pinned
        assert {dock.info.id for dock in workspace.group("time") if dock.is_open} >= {
            "compute_unit", "global_timeline", "occupancy",
        }  # fmt: skip
        if is_pinned:
            assert box(app, "utilization").top() > box(app, "compute_unit").bottom()
            assert box(app, "compute_unit").height() == pytest.approx(before.height(), abs=40)
    assert box(app, "utilization").height() == pytest.approx(before.height(), abs=40)
    titles = [dock.info.title for dock in workspace.group("time")]
    assert titles in [[bar.tabText(at) for at in range(bar.count())] for bar in workspace.tab_bars()]


def test_a_layout_is_told_after_a_restart_and_its_second_time_view_can_be_put_back(tmp_path: Path) -> None:
    store = settings_in(tmp_path)
    with window(store, FULL_HD) as app:
        app.ui.commands.run("view.layout_time")
    with window(store, FULL_HD) as app:
        open_sample(app)
        assert app.ui.commands["view.layout_time"].is_checked()
        assert not app.ui.commands["view.layout_code"].is_checked()
        assert [dock.info.id for dock in app.window.workspace.group("time_below")] == ["global_timeline"]
        run_command(app, "view.pin_time")
        docks = app.window.workspace.docks
        assert docks["global_timeline"].area == docks["compute_unit"].area


def test_an_arrangement_of_nonsense_is_left_out(empty_app: App) -> None:
    workspace = empty_app.window.workspace
    workspace.reset_layout()
    before = {**workspace.save(), "sizes": workspace.load({}) or workspace.save()["sizes"]}
    for kept in (
        {},
        {
            "layout": "spiral",
            "areas": 3,
            "order": ["isa", "sky", 4],
            "windows": {"isa": [1, 2], "source": [0, 0, 9, 10**20]},
        },
        {
            "sizes": {"below": "much", "left": -4, "code": True},
            "areas": {"isa": "sky", "no": "time", "source": []},
        },
        {
            "open": {"no": True, "events": True},
            "front": ["no", 3, []],
            "limited": {"sky": 4},
            "folded": ["isa", {}],
        },
    ):
        workspace.load({"folded": ["bottom"], **kept})
        workspace.folded = frozenset({"bottom"})
        assert {**workspace.save(), "order": before["order"]} == before


def test_a_panel_on_a_screen_that_is_gone_comes_back_where_panels_appear(app: App) -> None:
    workspace = app.window.workspace
    screen = workspace.screen().geometry()
    beside = [screen.right() + 200, screen.top() + 100, 400, 300]
    inside = [screen.left() + 40, screen.top() + 50, 400, 300]
    shown = []
    for windows in ({}, {"summary": beside}, {"summary": inside}):
        workspace.reset_layout()
        workspace.load({"areas": {"summary": APART}, "open": {"summary": True}, "windows": windows})
        assert workspace.docks["summary"].isVisible()
        shown.append(workspace.docks["summary"].geometry())
    workspace.reset_layout()
    assert shown[1] == shown[0]
    assert shown[2] == QRect(*inside)


def test_the_layout_triage_shows_findings_in_a_small_window(reused: Reused) -> None:
    with reused(size=(1280, 800), sample=True) as app:
        assert {"left", "right"} <= app.window.workspace.folded
        run_command(app, "view.layout_triage")
        assert box(app, "triage").width() > 300
        assert "right" in app.window.workspace.folded
        run_command(app, "view.layout_code")
        assert "left" in app.window.workspace.folded


def test_the_selected_row_stays_in_sight_when_the_layout_changes(app: App) -> None:
    view = app.window.workspace.docks["isa"].panel.view
    last = view.view_row_at(view.viewport().height() - 2 * view.row_height)
    app.ui.session.select_line(view.table.data_row(last))
    settle(app)
    row = view.current
    assert row >= 0
    for name in ("compare", "triage", "time", "code"):
        run_command(app, f"view.layout_{name}")
        here = view.row_rect(row)
        assert here.top() >= 0, name
        assert here.bottom() <= view.viewport().height(), name


def test_a_panel_is_moved_to_another_place_and_back(app: App) -> None:
    workspace, dock = app.window.workspace, app.window.workspace.docks["summary"]
    for area, other in (("time", "compute_unit"), ("source", "source"), (APART, ""), ("details", "")):
        (move,) = (one for one in workspace.menu_of(dock).actions() if one.menu() is not None)
        (action,) = (one for one in move.menu().actions() if one.text() == TITLES[area])
        action.trigger()
        settle(app)
        assert dock.is_seen
        assert dock.isWindow() is (area == APART)
        assert dock.area == area
        if other:
            assert not workspace.docks[other].is_seen
    workspace.move_panel("summary", APART)
    dock.close()  # as its window does
    settle(app)
    assert (dock.area, dock.is_open) == ("bottom", True)


def test_folded_sides_come_back_with_all_they_had(tmp_path: Path) -> None:
    with window(settings_in(tmp_path), FULL_HD) as app:
        open_sample(app)
        run_command(app, "view.fold_left")
        wide = box(app, "isa").width()
    with window(settings_in(tmp_path), FULL_HD) as app:
        open_sample(app)
        workspace = app.window.workspace
        assert workspace.folded == {"left", "bottom"}
        assert workspace.bars["left"].isVisible()
        assert box(app, "isa").width() == wide
        workspace.bars["left"].buttons["explorer"].click()
        settle(app)
        assert box(app, "explorer").width() > 250
        assert workspace.is_shown("triage")
        assert not workspace.bars["left"].isVisible()


def test_the_panel_that_was_closed_last_comes_back_where_it_was(app: App) -> None:
    commands, workspace = app.ui.commands, app.window.workspace
    assert commands["view.reopen_panel"].why_not()
    before = box(app, "source")
    order = [dock.info.id for dock in workspace.group("bottom")]
    workspace.docks["source"].close()
    workspace.docks["loops"].close()
    settle(app)
    assert commands["view.reopen_panel"].why_not() == ""
    commands.run("view.reopen_panel")
    assert workspace.is_shown("loops")
    assert not workspace.is_shown("source")
    run_command(app, "view.reopen_panel")
    after = box(app, "source")  # lower: with the loops the bottom opened
    assert (after.left(), after.width()) == (before.left(), before.width())
    assert [dock.info.id for dock in workspace.group("bottom")] == order
    assert commands["view.reopen_panel"].why_not(), "nothing is closed any more"
    run_command(app, "view.fold_left")
    assert commands["view.reopen_panel"].why_not(), "what is folded away is not closed"
    run_command(app, "view.fold_left")


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 800)])
def test_the_bottom_takes_its_room_from_the_code_and_gives_it_back(app: App, size: tuple[int, int]) -> None:
    workspace = app.window.workspace
    time, code = (workspace.docks[name] for name in ("compute_unit", "isa"))
    before = time.height(), code.height()
    show_panel(app, "hotspot")
    assert workspace.docks["hotspot"].height() >= 250
    least = before[0] - 2 if size[1] > 1000 else 138
    assert before[0] + 2 >= time.height() >= least
    assert code.height() >= 170
    workspace.fold("bottom", True)
    settle(app)
    assert (time.height(), code.height()) == pytest.approx(before, abs=2)
    workspace.reset_layout()  # what was open then has no height that counts now
    settle(app)
    before = time.height(), code.height()
    show_panel(app, "hotspot")
    assert code.height() >= 170
    assert time.height() + code.height() + workspace.docks["hotspot"].height() <= sum(before) + 2


def test_a_side_that_opens_takes_its_room_from_code_and_source_alike(reused: Reused) -> None:
    with reused(size=(1280, 800), sample=True) as app:
        workspace = app.window.workspace
        for side in SIDES:
            workspace.fold(side, True)
        settle(app)
        code, source = (workspace.docks[name] for name in ("isa", "source"))
        before = code.width() / (code.width() + source.width())
        for is_folded in (False, True):
            for side in SIDES:
                workspace.fold(side, is_folded)
                settle(app)
                now = code.width() / (code.width() + source.width())
                assert now == pytest.approx(before, abs=0.08), (side, is_folded)
            if not is_folded:
                wave, details = (workspace.docks[name] for name in ("wave_picker", "token_details"))
                assert details.height() > 0.7 * wave.height()


# -- what a capture has nothing for --------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A capture without sources, of waves that take four rows."""
    return without_sources("straggler", tmp_path / "ui_output_agent_1_dispatch_1")


def test_a_capture_without_sources_gives_their_room_to_the_code(tmp_path: Path, bare: Path) -> None:
    with window(settings_in(tmp_path), FULL_HD) as app:
        open_sample(app)
        before = box(app, "source").width(), box(app, "isa").width()
        open_sample(app, bare)
        assert box(app, "source").width() <= 310
        assert box(app, "isa").width() >= sum(before) - 320
        run_command(app, "view.reset_layout")
        assert box(app, "source").width() <= 310, "also when it is laid out anew"
    with window(settings_in(tmp_path), FULL_HD) as app:
        open_sample(app)
        assert abs(box(app, "source").width() - before[0]) <= 12, "and back, at the next start, too"


COMPILED = SAMPLES / "compiled_rms_norm" / "rms_norm_gfx942.co"


@pytest.mark.parametrize("capture", [SAMPLES / "pc_sampling", COMPILED], ids=lambda path: path.name)
def test_a_capture_without_time_gives_its_room_to_the_code(reused: Reused, capture: Path) -> None:
    with reused(size=(1280, 800), sample=True) as app:
        docks, before = app.window.workspace.docks, box(app, "compute_unit").height()
        open_sample(app, capture)
        shown = [dock.info.id for dock in docks.values() if dock.isVisible()]
        assert not {"overview", "compute_unit", "wave_picker"} & {*shown}
        assert box(app, "isa").top() <= box(app, "source").top() <= 30, "below their tabs"
        run_command(app, "view.panel_compute_unit")
        assert docks["compute_unit"].isVisible(), "asked for, it says why it is empty"
        kept = app.window.workspace.save()
        app.window.workspace.reset_layout()
        assert not docks["compute_unit"].isVisible()
        app.window.workspace.load(kept)
        assert docks["compute_unit"].isVisible(), "also tomorrow"
        open_sample(app)
        assert abs(box(app, "compute_unit").height() - before) <= 12


@pytest.mark.parametrize("size", [FULL_HD, (1280, 800)])
def test_at_first_code_has_its_rows_and_few_waves_take_few(
    blank: App, size: tuple[int, int], bare: Path
) -> None:
    least = 27 if size == FULL_HD else 18
    open_sample(blank)
    docks = blank.window.workspace.docks
    for name in ("isa", "source"):
        view = docks[name].panel.view
        assert view.viewport().height() // view.row_height >= least, name
    if size == FULL_HD:
        assert abs(docks["wave_picker"].height() - WAVE_PX) <= 30, "it is all that the panel shows"
    code = box(blank, "isa").height()
    open_sample(blank, bare)
    assert box(blank, "compute_unit").height() <= LEAST_ROWS_PX + 2, "four rows"
    assert box(blank, "isa").height() >= code
    assert box(blank, "source").width() <= EMPTY_PX["source"] + 4
    open_sample(blank)
    assert abs(box(blank, "isa").height() - code) <= 4


def test_places_without_data_are_hidden_instead_of_empty(blank: App) -> None:
    open_sample(blank, SAMPLES / "pc_sampling")
    labels = blank.window.findChildren(QLabel, "empty_state")
    said = [label.text() for label in labels if label.isVisible() and label.visibleRegion().boundingRect()]
    assert said == []
    open_sample(blank)
    assert box(blank, "overview").height() > 30


def test_only_code_takes_all_the_room_and_gives_it_back(blank: App) -> None:
    open_sample(blank)
    workspace, run = blank.window.workspace, blank.ui.commands.run
    names = ("triage", "compute_unit", "isa", "source", "token_details")
    before = {name: box(blank, name) for name in names}
    run("view.only_code")
    settle(blank)
    view = workspace.docks["isa"].panel.view
    assert view.viewport().height() // view.row_height >= 44, "as many as the other viewer has"
    assert {dock.info.id for dock in workspace.docks.values() if dock.is_seen} == {"isa", "source"}
    assert blank.ui.commands["view.only_code"].is_checked()
    QCursor.setPos(blank.window.mapToGlobal(QPoint(3, 3)))  # over the menus
    window = blank.ui.theme.role("window")
    assert workspace.grab(QRect(workspace.width() // 2, 0, 1, 5)).toImage().pixelColor(0, 2) == window
    for leave in (
        lambda: run("view.only_code"),
        lambda: workspace.show_panel("triage"),
        lambda: workspace.show_panel("time"),
    ):
        leave()
        settle(blank)
        for name in names:
            now = box(blank, name)
            off = [abs(now.width() - before[name].width()), abs(now.height() - before[name].height())]
            assert max(off) <= 8, (name, now, before[name])
        assert not workspace.is_only_code
        run("view.only_code")
    run("view.layout_code")
    settle(blank)
    assert box(blank, "triage").width() > 300


def test_every_panel_says_what_it_shows_and_how_to_read_it(
    reused: Reused, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reused(sample=True) as app:
        workspace = app.window.workspace
        for dock in workspace.docks.values():
            assert dock.info.tip, dock.info.id
            assert dock.info.reading, dock.info.id
        group = workspace._groups["bottom"]
        for at, dock in enumerate(group.docks()):
            assert dock.info.reading.split(" ")[0] in group.tabToolTip(at)
            assert dock.info.tip.split(" ")[0] in group.tabToolTip(at)
        assert workspace.menu_of(workspace.docks["why"]).actions()[0].text() == "What this panel shows"
        shown: list[str] = []
        monkeypatch.setattr(workspace_module, "show_explanation", lambda at, text, dock: shown.append(text))
        workspace.docks["isa"].take_focus()
        app.ui.commands.run("help.panel")
        assert shown == [workspace.docks["isa"].info.about]


def test_hotspot_stands_beside_the_time_views_and_keeps_its_state(qtbot: QtBot, reused: Reused) -> None:
    with reused(sample=True) as app:
        workspace, session = app.window.workspace, app.ui.session
        show_panel(app, "hotspot")
        dock = workspace.docks["hotspot"]
        panel = dock.panel
        qtbot.waitUntil(lambda: len(panel.plot) > 0)
        panel.plot._choose(int(panel.plot.totals.argmax()))
        settle(app)
        lines, state = session.selection.value.lines, panel.save_state()
        workspace.move_panel("hotspot", "time_below")
        settle(app)
        assert dock.area == "time_below"
        assert not panel.visibleRegion().isEmpty()
        assert not workspace.docks["compute_unit"].panel.visibleRegion().isEmpty(), "both are in sight"
        assert dock.panel is panel
        assert panel.save_state() == state
        assert session.selection.value.lines == lines
        assert panel.plot.selected is not None
        assert panel.plot.height() >= 60
        workspace.move_panel("hotspot", "bottom")
        settle(app)
        assert panel.plot.selected is not None
