"""The window on a kernel that no GPU has run: what it shows, and what it does not pretend."""

from pathlib import Path

from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.features.isa.rows import HELD
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import Panel
from tests.ui.window import settle, show_panel

BUILT = Path(__file__).parents[1] / "formats" / "compiled"
KERNEL = BUILT / "changed_gfx942.co" / "gfx942" / "sum_rows"
TIMED = ("hotspot", "why", "roofline", "latency", "wave_picker")


def shown_panel(app: App, name: str) -> Panel:
    show_panel(app, name)
    return app.window.workspace.panel(name)


def test_a_library_offers_its_kernels_and_opens_the_chosen_one(blank: App) -> None:
    blank.window.opener.open(BUILT / "libtiny.so")
    settle(blank)
    assert blank.window.pages.currentWidget() is blank.window.pages.chooser
    entries = blank.window.pages.chooser.entries
    assert {(entry.kernel, entry.path.parent.name) for entry in entries} == {
        (kernel, target)
        for kernel in ("vector_add", "sum_rows")
        for target in ("gfx942", "gfx950", "gfx1100", "gfx1201")
    }
    blank.window.pages.chooser.chosen.emit(entries[0].path)
    settle(blank)
    trace = blank.ui.session.trace.value
    assert trace.path == entries[0].path
    assert trace.title == "vector_add · gfx1100 · libtiny.so"


def test_the_listing_has_waits_and_registers_and_no_costs(blank: App) -> None:
    blank.window.opener.open(KERNEL)
    settle(blank)
    view = shown_panel(blank, "isa").view
    table = view.table
    shown = {one.id for one in table.columns if not view.isColumnHidden(table.column_of(one.id))}
    assert not shown & {"cost", "hits", "latency", "stall", "idle", "share_of_total"}
    assert not view.legend.swatches  # of stall, issue and idle, in pictures, too
    assert shown_panel(blank, "isa").caption() == ""
    arrows = set(zip(view.arrows.source.tolist(), view.arrows.target.tolist(), strict=True))
    assert {(21, 28), (22, 28)} <= arrows  # two loads, and s_waitcnt vmcnt(0)
    held = live_registers(blank.ui.session.trace.value.code).pressure[:, 0]
    assert table.columns[table.column_of(HELD)].values.tolist() == held.tolist()


def test_panels_about_time_say_that_nothing_was_measured(blank: App) -> None:
    blank.window.opener.open(KERNEL)
    settle(blank)
    for name in TIMED:
        panel = shown_panel(blank, name)
        settle(blank)
        assert "has not run" in panel.empty.sentence.text(), name


def test_loops_have_their_work_and_lead_to_their_first_instruction(blank: App) -> None:
    blank.window.opener.open(KERNEL)
    settle(blank)
    panel = shown_panel(blank, "loops")
    settle(blank)
    assert panel.program.isVisible()
    assert "modelled" in panel.phases.text()
    panel.program.chosen.emit(0)
    assert blank.ui.session.selection.value.line == 21
