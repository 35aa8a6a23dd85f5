"""Named layouts, a second time view, sides that fold to icons, and what comes back at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect, QSettings, QSize
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.shell.layouts import BY_ID, LAYOUTS, SIDES, shares
from tests.ui.conftest import Reused
from tests.ui.window import open_sample, settle, window

IS_PAINTED = True

FULL_HD = (1920, 1080)


def box(app: App, name: str) -> QRect:
    dock = app.window.workspace.docks[name]
    assert dock.is_seen, name
    return dock.geometry()


@pytest.mark.parametrize("folded", [frozenset(), frozenset({"bottom"}), frozenset((*SIDES, "bottom"))])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_a_layout_gives_away_no_more_than_there_is(layout: object, folded: frozenset[str]) -> None:
    size = QSize(*FULL_HD)
    given = shares(layout, size, folded)  # type: ignore[arg-type]
    assert sum(given.widths.values()) + sum(given.code_widths.values()) == size.width()
    middle = sum(given.heights[place] for place in ("time", "time_below", "code", "bottom"))
    assert middle <= size.height()
    assert all(pixels >= 0 for pixels in (*given.heights.values(), *given.widths.values()))


def test_the_layout_time_has_two_time_views_and_code_below_them(qtbot: QtBot, reused: Reused) -> None:
    with reused(size=FULL_HD) as app:
        open_sample(app, qtbot)
        app.ui.commands.run("view.layout_time")
        settle(app, qtbot)
        unit, device, isa = (box(app, name) for name in ("compute_unit", "global_timeline", "isa"))
        assert unit.bottom() < device.top() < isa.top()
        assert unit.height() + device.height() > isa.height()
        app.ui.commands.run("view.layout_code")
        settle(app, qtbot)
        assert not app.window.workspace.group("time_below")
        assert box(app, "isa").height() > 1.5 * box(app, "compute_unit").height()


def test_triage_and_compare_bring_forward_what_they_are_about(qtbot: QtBot, reused: Reused) -> None:
    with reused(size=FULL_HD) as app:
        open_sample(app, qtbot)
        for name, front, least in (("triage", "causes", 300), ("compare", "compare", 440)):
            app.ui.commands.run(f"view.layout_{name}")
            settle(app, qtbot)
            assert box(app, front).height() >= least
            assert app.window.workspace.layout_ is BY_ID[name]
            assert app.ui.commands[f"view.layout_{name}"].is_checked()
        assert box(app, "triage").width() < 400, "findings are wide in the layout Triage alone"


def test_a_second_time_view_is_pinned_below_the_first_and_put_back(qtbot: QtBot, reused: Reused) -> None:
    with reused(size=FULL_HD) as app:
        open_sample(app, qtbot)
        app.window.workspace.show_panel("utilization")
        settle(app, qtbot)
        app.ui.commands.run("view.pin_time")
        settle(app, qtbot)
        assert box(app, "utilization").top() > box(app, "compute_unit").bottom()
        app.ui.commands.run("view.pin_time")
        settle(app, qtbot)
        assert not app.window.workspace.group("time_below")
        box(app, "utilization")


def test_folded_sides_come_back_folded_with_all_they_had(tmp_path: Path, qtbot: QtBot) -> None:
    file = str(tmp_path / "rcv.ini")
    with window(QSettings(file, QSettings.Format.IniFormat), FULL_HD) as app:
        open_sample(app, qtbot)
        app.ui.commands.run("view.fold_left")
        settle(app, qtbot)
        wide = box(app, "isa").width()
    with window(QSettings(file, QSettings.Format.IniFormat), FULL_HD) as app:
        open_sample(app, qtbot)
        workspace = app.window.workspace
        assert workspace.folded == {"left", "bottom"}
        assert workspace.bars["left"].isVisible()
        assert abs(box(app, "isa").width() - wide) < 40
        workspace.bars["left"].buttons["explorer"].click()
        settle(app, qtbot)
        assert box(app, "explorer").width() > 250
        assert workspace.is_shown("triage")
        assert not workspace.bars["left"].isVisible()


def test_a_dock_taken_out_of_the_folded_bottom_shows_all(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        open_sample(app, qtbot)
        dock = app.window.workspace.docks["summary"]
        dock.setFloating(True)
        assert dock.maximumHeight() > 1000
        dock.setFloating(False)
        settle(app, qtbot)
        assert dock.maximumHeight() < 10
