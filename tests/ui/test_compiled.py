"""The window on a kernel that no GPU has run: what it shows, and what it does not pretend."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.features.isa.rows import HELD
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import Panel
from tests.support.window_fixtures import Reused
from tests.ui.window import settle, show_panel

BUILT = Path(__file__).parents[1] / "formats" / "compiled"
KERNEL = BUILT / "changed_gfx942.co" / "gfx942" / "sum_rows"
TIMED = ("hotspot", "why", "roofline", "latency", "wave_picker")


def shown_panel(app: App, qtbot: QtBot, name: str) -> Panel:
    show_panel(app, qtbot, name)
    return app.window.workspace.panel(name)


def test_a_library_offers_its_kernels_and_opens_the_chosen_one(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        app.window.opener.open(BUILT / "libtiny.so")
        settle(app, qtbot)
        assert app.window.pages.currentWidget() is app.window.pages.chooser
        entries = app.window.pages.chooser.entries
        assert {(entry.kernel, entry.path.parent.name) for entry in entries} == {
            (kernel, target)
            for kernel in ("vector_add", "sum_rows")
            for target in ("gfx942", "gfx950", "gfx1100", "gfx1201")
        }
        app.window.pages.chooser.chosen.emit(entries[0].path)
        settle(app, qtbot)
        trace = app.ui.session.trace.value
        assert trace is not None
        assert trace.path == entries[0].path
        assert trace.title == "vector_add · gfx1100 · libtiny.so"


def test_the_listing_has_waits_and_registers_and_no_costs(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        app.window.opener.open(KERNEL)
        settle(app, qtbot)
        view = shown_panel(app, qtbot, "isa").view
        table = view.table
        shown = {one.id for one in table.columns if not view.isColumnHidden(table.column_of(one.id))}
        assert not shown & {"cost", "hits", "latency", "stall", "idle", "share_of_total"}
        assert not view.legend.swatches  # of stall, issue and idle, in pictures, too
        assert shown_panel(app, qtbot, "isa").caption() == ""
        arrows = set(zip(view.arrows.source.tolist(), view.arrows.target.tolist(), strict=True))
        assert {(21, 28), (22, 28)} <= arrows  # two loads, and s_waitcnt vmcnt(0)
        held = live_registers(app.ui.session.trace.value.code).pressure[:, 0]
        assert table.columns[table.column_of(HELD)].values.tolist() == held.tolist()


def test_panels_about_time_say_that_nothing_was_measured(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        app.window.opener.open(KERNEL)
        settle(app, qtbot)
        for name in TIMED:
            panel = shown_panel(app, qtbot, name)
            settle(app, qtbot)
            assert "has not run" in panel.empty.sentence.text(), name


def test_loops_have_their_work_and_lead_to_their_first_instruction(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        app.window.opener.open(KERNEL)
        settle(app, qtbot)
        panel = shown_panel(app, qtbot, "loops")
        settle(app, qtbot)
        assert panel.program.isVisible()
        assert "modelled" in panel.phases.text()
        panel.program.chosen.emit(0)
        assert app.ui.session.selection.value.line == 21
