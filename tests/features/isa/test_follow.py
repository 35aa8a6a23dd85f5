"""Following code in the listing: whole instructions, arrows with ends, registers, headings, walks."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.program.registers import operands
from rcv_py.features.isa.arrows import MAX_PX, MIN_PX, ArrowRows, GutterArrows
from rcv_py.features.isa.panel import IsaPanel, row_menu
from rcv_py.features.isa.register_cursor import operand_at
from rcv_py.features.isa.rows import TIGHTEST
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import LazyPanel, UiContext
from tests.support.code_samples import batch, code_table, trace, two_waves, waits, wave
from tests.support.mouse import left_click, move_mouse
from tests.support.window_fixtures import Reused, Settled
from tests.ui.window import open_sample, settle

LOAD = "buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen offset:16"
MFMA = "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]"
ROWS = 120
HOT = 70  # in the loop from LOOP[0] to LOOP[1]
LOOP = (40, 90)


def listing(hot: int = HOT, chain: tuple = ()) -> Trace:
    """A kernel of 120 instructions with a loop, loads, a hot row, and registers that are written and read."""
    rows: list[tuple] = [("; my_kernel", TokenKind.NONE, 0, 0, 0, 0, ())]
    for at in range(1, ROWS):
        text, kind = f"v_add_u32_e32 v{100 + at % 9}, v20, v21", TokenKind.VALU
        if at == LOOP[1]:
            text, kind = f"s_cbranch_scc1 {65536 - (LOOP[1] - LOOP[0] + 1)}", TokenKind.JUMP
        elif at in (10, 44):
            text, kind = LOAD, TokenKind.VMEM
        elif at == 50:
            text, kind = MFMA, TokenKind.MATRIX
        elif at == 60:
            text, kind = "v_mov_b32_e32 v30, v9", TokenKind.VALU
        elif at == ROWS - 1:
            text, kind = "s_endpgm", TokenKind.MSG
        latency = 634_567 if at == hot else 4
        rows.append((text, kind, 1_020, latency, 0, 0, chain))
    code = code_table(tuple(rows))
    return trace(replace(code, address=np.arange(ROWS, dtype=np.uint64) * 4 + 0xFFC))


@pytest.fixture
def isa(new_panel: Callable, open_settled: Callable) -> IsaPanel:
    panel = new_panel(IsaPanel, 745, 500)
    open_settled(listing())
    return panel


def show_arrows(panel: IsaPanel, *pairs: tuple[int, int], slots: tuple[int, ...] = ()) -> None:
    """Show arrows (source, target) beside each other."""
    source, target = (np.array(ends, dtype=np.int64) for ends in zip(*pairs, strict=True))
    slot = np.array(slots or range(len(pairs)), dtype=np.int64)
    rows = ArrowRows(source, target, slot, np.zeros(len(pairs), dtype=np.int64), target)
    tips = tuple(f"{a}\n→ {b}\nthrough vmcnt\nclick" for a, b in pairs)
    panel.view.set_arrows(GutterArrows("", rows, tips))
    panel.view.fit_gutter()


def scroll_to(panel: IsaPanel, row: int) -> None:
    panel.view.verticalScrollBar().setValue(row * panel.view.row_height)


def width(panel: IsaPanel, column: str) -> int:
    return panel.view.columnWidth(panel.view.table.column_of(column))


# -- columns ----------------------------------------------------------------------------------------


def test_operands_are_whole_beside_hits_and_latency(isa: IsaPanel) -> None:
    isa.resize(790, 500)
    view = isa.view
    for text in (LOAD, MFMA):
        char_px = view.spacing(text, width(isa, "text"))
        assert char_px >= TIGHTEST * view.char_px
        assert len(text) * char_px <= width(isa, "text") - 8, text
    assert width(isa, "gutter") >= MIN_PX
    assert all(width(isa, name) for name in ("hits", "latency", "share_of_total", "cost"))
    assert not view.horizontalScrollBar().maximum()
    isa.resize(690, 500)
    assert width(isa, "latency")
    assert not width(isa, "hits"), "it yields first"
    assert width(isa, "text") >= 340


def test_columns_yield_and_come_back(isa: IsaPanel) -> None:
    order = ("idle", "stall", "hits", "latency")
    seen = []
    for pane in range(1400, 500, -20):
        isa.resize(pane, 300)
        seen.append(tuple(name for name in order if width(isa, name)))
    assert seen[0] == order
    assert set(seen) <= {order[at:] for at in range(len(order) + 1)}, "the first one yields first"
    assert seen[-1] == ()
    isa.resize(1400, 300)
    assert tuple(name for name in order if width(isa, name)) == order


def test_numbers_are_as_wide_as_the_widest(isa: IsaPanel) -> None:
    isa.resize(1400, 300)
    for name, longest in (("hits", "1,020"), ("latency", "634,567")):
        needed = len(longest) * isa.view.char_px
        title = isa.view.header.needed(isa.view.table.columns[isa.view.table.column_of(name)])
        assert needed <= width(isa, name) - 8
        assert width(isa, name) <= max(needed + 12, title)


def test_columns_on_demand_stay_and_are_remembered(new_panel: Callable, isa: IsaPanel, qtbot: object) -> None:
    def tick(panel: IsaPanel, title: str) -> None:
        next(one for one in panel.view.header.menu().actions() if one.text() == title).trigger()

    assert not width(isa, "address")
    tick(isa, "address")
    tick(isa, "stall")
    isa.resize(600, 400)
    assert width(isa, "address")
    assert width(isa, "stall"), "asked for, so it does not yield"
    other = new_panel(IsaPanel, 600, 400)
    other.load_state(isa.save_state())
    qtbot.waitUntil(lambda: other.view.rows is not None)
    assert width(other, "address")
    assert width(other, "stall")
    assert not width(other, "hits")


def test_the_header_says_and_changes_what_is_shown(isa: IsaPanel, settled: Settled, qtbot: object) -> None:
    header, view = isa.view.header, isa.view
    at = view.table.column_of("latency")
    isa.resize(1400, 400)
    right = header.sectionViewportPosition(at) + header.sectionSize(at)
    assert header.menu_at(QPoint(right - 8, 10)) == "latency", "the triangle opens the menu"
    assert header.menu_at(QPoint(right - 40, 10)) == "", "the title sorts"
    actions = {action.text(): action for action in header.column_menu("latency").actions()}
    assert actions["Sum (all waves)"].isChecked()
    actions["Mean (all waves)"].trigger()
    assert isa.session.latency_mode.value is LatencyMode.MEAN_ALL
    qtbot.waitUntil(lambda: view.table.columns[at].heading == "latency · mean")
    header.column_menu("gutter").actions()[1].trigger()
    settled()
    assert view.arrow_mode == "branches"
    assert view.table.columns[view.table.column_of("gutter")].heading == "branches"
    everything = [action.text() for action in header.menu().actions()]
    assert {"Latency mode", "Arrows", "Bars", "Fold", "Instructions"} <= set(everything), "for the keyboard"


# -- opening ----------------------------------------------------------------------------------------


def in_sight(panel: IsaPanel, row: int) -> bool:
    top = panel.view.row_top(panel.view.table.view_row(row))
    return panel.view.covered_px <= top <= panel.view.viewport().height() - panel.view.row_height


def test_a_resize_goes_to_no_row_of_the_capture_before(isa: IsaPanel, open_settled: Callable) -> None:
    """Without costs there is no hottest row: the place of the capture before, which had more, stayed."""
    long = tuple((f"v_mov_b32 v{n}, v1", 1, 2, 100 * n, 10 * n, 0, ()) for n in range(20))
    open_settled(trace(code_table(long)))
    assert isa.view._opened_at[0] == 19
    short = tuple((text, kind, 0, 0, 0, 0, chain) for text, kind, *_, chain in long[:4])
    open_settled(trace(code_table(short), is_static=True))
    isa.resize(isa.width() - 40, isa.height() - 40)
    assert isa.view.verticalScrollBar().value() == 0


def test_every_capture_opens_at_its_hottest_row(isa: IsaPanel, open_settled: Callable) -> None:
    assert in_sight(isa, HOT)
    heading = isa.view.heading()
    assert heading.row == LOOP[0]
    open_settled(listing(5))
    assert in_sight(isa, 5)
    assert isa.view.verticalScrollBar().value() == 0, "the heading of the block is its first row"
    open_settled(listing())
    assert in_sight(isa, HOT)


def test_a_click_moves_time_to_an_execution_that_was_too_small_to_be_seen(
    new_panel: Callable, ui: UiContext, open_settled: Callable, settled: Settled
) -> None:
    panel = new_panel(IsaPanel, 745, 500)
    open_settled(trace(), [two_waves()])
    ui.session.set_view(ui.session.outer(ui.session.trace.value))
    before = ui.session.view.value
    left_click(panel.view.viewport(), panel.view.cell_rect(4, "text").center())
    settled()
    wave, row = ui.session.token()
    span, view = wave.tokens.span(row), ui.session.view.value
    assert span.width * 250 < before.width, "else the test shows nothing"
    assert view.contains(span.begin)
    assert span.width * 30 >= view.width


def test_back_in_program_order_the_selected_row_is_in_sight(isa: IsaPanel, ui: UiContext) -> None:
    header = isa.view.header
    isa.resize(745, 260)

    def click(name: str) -> None:
        x = header.sectionViewportPosition(isa.view.table.column_of(name)) + 8
        left_click(header.viewport(), QPoint(x, 10))

    for line in (ROWS - 1, 3, HOT):
        ui.session.select_line(line)
        for back in ("instruction", "share_of_total"):
            click("share_of_total")
            isa.view.verticalScrollBar().setValue(0)
            assert isa.view.table.sorting is not None
            for _ in range(1 if back == "instruction" else 2):
                click(back)
            assert isa.view.table.sorting is None
            assert isa.view.current == line
            assert in_sight(isa, line)


def test_focus_selects_and_scrolls_nothing(isa: IsaPanel, ui: UiContext) -> None:
    before = ui.session.selection.value, isa.view.verticalScrollBar().value()
    isa.view.clearFocus()
    isa.view.setFocus(Qt.FocusReason.TabFocusReason)
    assert isa.view.hasFocus()
    assert (ui.session.selection.value, isa.view.verticalScrollBar().value()) == before


def test_the_keyboard_begins_in_sight(isa: IsaPanel, ui: UiContext) -> None:
    ui.session.select(Selection(ui.session.selection.value.wave))
    scroll_to(isa, 60)
    QTest.keyClick(isa.view, Qt.Key.Key_Down)
    assert ui.session.selection.value.line == 61, "60 is behind the heading"
    assert isa.view.verticalScrollBar().value() == 60 * isa.view.row_height
    QTest.keyClick(isa.view, Qt.Key.Key_Down)
    assert ui.session.selection.value.line == 62


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_selected_row_is_the_strongest_and_the_rows_of_a_bar_have_a_bracket(
    isa: IsaPanel, ui: UiContext, open_in: Callable, settled: Settled, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    open_in(listing(chain=((1, 2),)))  # all rows come from the same source line
    ui.session.select_lines(HOT - 4, HOT + 3)
    settled()
    view, role = isa.view, ui.theme.role
    view.clearFocus()
    image = view.viewport().grab().toImage()
    base, accent = role("base"), role("accent")

    def apart(one: QColor, other: QColor) -> int:
        return sum(abs(a - b) for a, b in zip(one.getRgb(), other.getRgb(), strict=True))

    def color(row: int, x: int = image.width() - 2) -> QColor:
        return image.pixelColor(x, view.row_top(view.table.view_row(row)) + view.row_height // 2)

    assert ui.session.selection.value.source == (1, 2)
    others = [apart(color(row), base) for row in range(HOT - 6, HOT + 6) if row != HOT]
    assert max(others) <= 0.05 * apart(accent, base) + 3, "rows of the same line and of the bar are pale"
    assert apart(color(HOT), base) >= 3 * max(others)
    is_in = [apart(color(row, 1), accent) == 0 for row in range(HOT - 6, HOT + 6)]
    assert is_in == [False] * 2 + [True] * 7 + [False] * 3
    top, bottom = view.row_top(HOT - 4), view.row_top(HOT + 3) - 1
    assert apart(image.pixelColor(6, top), accent) == apart(image.pixelColor(6, bottom), accent) == 0
    ui.session.select_line(HOT + 2)
    settled()
    image = view.viewport().grab().toImage()
    assert apart(color(HOT - 2, 1), accent) > 0, "another selection has no bracket"


# -- headings ---------------------------------------------------------------------------------------


def test_the_heading_of_the_topmost_row_stays_folds_and_leads(isa: IsaPanel, ui: UiContext) -> None:
    view = isa.view
    scroll_to(isa, LOOP[0])
    assert view.heading() is None, "the block begins there"
    scroll_to(isa, 60)
    heading = view.heading()
    assert heading.text.endswith(f"{LOOP[0]} to {LOOP[1]}")
    assert heading.note.startswith(f"loop {LOOP[0]} to {LOOP[1]}")
    middle = QPoint(view.column_rect("text").center().x(), view.row_height // 2)
    image = view.viewport().grab().toImage()
    assert image.pixelColor(middle.x(), 1).rgb() == ui.theme.role("raised").rgb()
    left_click(view.viewport(), middle)
    assert ui.session.selection.value.line == LOOP[0]
    assert in_sight(isa, LOOP[0])
    scroll_to(isa, 60)
    triangle = QPoint(view.column_rect("fold").left() + 8, view.row_height // 2)
    left_click(view.viewport(), triangle)
    assert view.is_fold(LOOP[0])
    assert ui.session.selection.value.line == LOOP[0]


def test_what_is_selected_is_not_behind_the_heading(isa: IsaPanel, ui: UiContext) -> None:
    scroll_to(isa, 60)
    ui.session.select_line(60)
    assert in_sight(isa, 60)


@pytest.mark.parametrize("grows", [20, -20])
def test_a_selected_row_half_below_the_heading_comes_out_at_a_resize(isa: IsaPanel, grows: int) -> None:
    view = isa.view
    isa.session.select_line(60)
    scroll_to(isa, 60)
    view.verticalScrollBar().setValue(view.verticalScrollBar().value() - view.row_height // 2)
    assert view.heading() is not None
    assert not in_sight(isa, 60)
    isa.resize(isa.width(), isa.height() + grows)
    assert in_sight(isa, 60)


def test_sorted_rows_have_no_heading(isa: IsaPanel) -> None:
    scroll_to(isa, 60)
    isa.view.header.setSortIndicator(isa.view.table.column_of("latency"), Qt.SortOrder.DescendingOrder)
    scroll_to(isa, 60)
    assert isa.view.heading() is None


# -- arrows -----------------------------------------------------------------------------------------


def test_the_gutter_grows_with_the_arrows_in_sight(isa: IsaPanel) -> None:
    isa.resize(1200, 500)
    scroll_to(isa, 41)
    show_arrows(isa, (45, 50))
    assert width(isa, "gutter") == MIN_PX
    show_arrows(isa, *((42 + at, 62) for at in range(16)))
    grown = width(isa, "gutter")
    assert MIN_PX < grown <= MAX_PX
    placed = isa.view.placed_arrows()
    assert np.abs(np.diff(np.sort(placed.x))).min() >= 5
    show_arrows(isa, *((42, 62 + at % 2) for at in range(80)))
    assert width(isa, "gutter") == MAX_PX
    isa.resize(560, 500)
    assert width(isa, "gutter") == MIN_PX, "instructions have their room first"


def test_an_end_out_of_sight_has_its_number_and_leads(isa: IsaPanel, ui: UiContext) -> None:
    scroll_to(isa, 60)
    show_arrows(isa, (10, 66), (12, 66), (66, 110), (20, 30))
    labels = {label.text: label for label in isa.view.placed_arrows().labels}
    assert set(labels) == {"↑12+1", "↓110"}, "not of those that are wholly in or out of sight"
    box = labels["↑12+1"].box
    assert abs(box.center().y() - isa.view.row_rect(66).center().y()) <= 1
    assert isa.view.label_at(box.center().toPoint()) == labels["↑12+1"]
    left_click(isa.view.viewport(), box.center().toPoint())
    assert ui.session.selection.value.line == 12
    assert in_sight(isa, 12)


def gutter_ink(panel: IsaPanel, ui: UiContext, number: int) -> int:
    """How far the ink of the vertical part of an arrow is from the background."""
    placed = panel.view.placed_arrows()
    at = int(np.flatnonzero(placed.number == number)[0])
    x, y = placed.x[at], (placed.y_source[at] + placed.y_target[at]) / 2
    image = panel.view.viewport().grab().toImage()
    base = ui.theme.role("base")
    return max(
        sum(
            abs(a - b)
            for a, b in zip(image.pixelColor(round(x) + dx, round(y)).getRgb(), base.getRgb(), strict=True)
        )
        for dx in (-1, 0)
    )


def test_the_mouse_on_a_row_or_an_arrow_dims_the_others(isa: IsaPanel, ui: UiContext) -> None:
    scroll_to(isa, 41)
    show_arrows(isa, (45, 50), (46, 60), slots=(0, 4))
    quiet = gutter_ink(isa, ui, 0), gutter_ink(isa, ui, 1)
    move_mouse(isa.view.viewport(), isa.view.cell_rect(50, "text").center())
    near, far = gutter_ink(isa, ui, 0), gutter_ink(isa, ui, 1)
    assert near >= quiet[0]
    assert far < quiet[1] / 2
    placed = isa.view.placed_arrows()
    move_mouse(isa.view.viewport(), QPointF(placed.x[1], placed.y_source[1] + 100).toPoint())
    assert gutter_ink(isa, ui, 1) > 2 * gutter_ink(isa, ui, 0)
    tip = isa.view.tip(50, "gutter")
    assert "through vmcnt" in tip
    assert "60 costs 4 cycles" in tip
    ui.session.hover.set(Hover(line=45))
    isa.view.hover, isa.view._hovered_arrow = 45, -1
    assert gutter_ink(isa, ui, 0) > gutter_ink(isa, ui, 1), "also of a row that another panel points at"


def test_the_gutter_explains_its_lines(isa: IsaPanel) -> None:
    show_arrows(isa, (45, 50))
    assert "dashed" in isa.view.tip(3, "gutter")
    assert "dashed" in isa.view.table.columns[0].tip


# -- registers --------------------------------------------------------------------------------------


def character(panel: IsaPanel, row: int, at: int) -> QPoint:
    """The middle of a character of an instruction."""
    box, text = panel.view.cell_rect(row, "text"), panel.view.rows.text[row]
    return QPoint(
        round(box.left() + 4 + (at + 0.5) * panel.view.spacing(text, box.width())), box.center().y()
    )


def ink_at(panel: IsaPanel, row: int, at: int) -> int:
    spot = character(panel, row, at)
    return (
        panel.view.viewport()
        .grab()
        .toImage()
        .pixelColor(spot.x(), panel.view.cell_rect(row, "text").top() + 3)
        .rgb()
    )


def test_the_register_under_the_mouse_is_marked_where_it_is_written_and_read(isa: IsaPanel) -> None:
    isa.resize(900, 700)
    scroll_to(isa, 43)
    written, read, plain = LOAD.index("v[8:11]"), "v_mov_b32_e32 v30, v9".index("v9"), LOAD.index("v2")
    before = [ink_at(isa, 44, written), ink_at(isa, 60, read)]
    move_mouse(isa.view.viewport(), character(isa, 60, read))
    after = [ink_at(isa, 44, written), ink_at(isa, 60, read)]
    assert after[0] != before[0]
    assert after[1] != before[1]
    assert after[0] != after[1], "what is written has another ink than what is read"
    assert ink_at(isa, 44, plain) == before[0], "others have none"
    tip = isa.view.tip(60, "text")
    assert tip.startswith("v9: written at 44  buffer_load_dwordx4")
    move_mouse(isa.view.viewport(), isa.view.cell_rect(60, "share_of_total").center())
    assert isa.view.register is None
    assert ink_at(isa, 44, written) == before[0]


def test_a_mnemonic_stands_for_what_it_is_there_for() -> None:
    names = ("s_cbranch_scc1 5", "s_cmp_lt_i32 s1, s2", "s_add_u32 s0, s0, s1", "s_addc_u32 s0, s0, s1")
    assert [operand_at(text, 3) is not None for text in names] == [True, True, False, True]
    assert all(operand_at(text, len(text) - 1) is not None for text in names[1:])


def run(panel: IsaPanel, name: str) -> str:
    """Run a command if it can be run; return why not."""
    command = next(one for one in panel.commands(panel.ui, LazyPanel.of(panel)) if one.id == name)
    why = command.why_not()
    if not why:
        command.run()
    return why


def test_keys_walk_along_registers(isa: IsaPanel, ui: UiContext, settled: Settled) -> None:
    ui.session.select(Selection(ui.session.selection.value.wave))
    assert run(isa, "isa.next_register") == "Select an instruction first."
    assert "X" in run(isa, "isa.definition")
    ui.session.select_line(60)
    settled()
    run(isa, "isa.next_register")
    assert isa.view.register.operand == operands("v_mov_b32_e32 v30, v9")[0]
    run(isa, "isa.next_register")
    assert not run(isa, "isa.definition")
    settled()
    assert ui.session.selection.value.line == 44
    assert isa.view.register.operand.start == LOAD.index("v[8:11]"), "the cursor goes along"
    assert "v[8:11]: written here; next read at 60" in isa.view.accessibleDescription()
    assert not run(isa, "isa.next_use")
    settled()
    assert ui.session.selection.value.line == 60
    ui.session.back()
    settled()
    assert ui.session.selection.value.line == 44, "Back returns"
    run(isa, "isa.previous_register")
    assert run(isa, "isa.definition") == "Nothing in this kernel writes s[4:7]."
    ui.session.select_line(ROWS - 1)
    settled()
    assert run(isa, "isa.next_register") == f"Instruction {ROWS - 1} reads and writes no register."


# -- waits ------------------------------------------------------------------------------------------


def test_keys_walk_along_waits_in_every_mode_and_back(
    new_panel: Callable, ui: UiContext, open_settled: Callable, settled: Settled
) -> None:
    panel = new_panel(IsaPanel, 745, 500)
    assert run(panel, "isa.producer") == "Select an instruction first."
    open_settled(trace())
    ui.session.select_line(3)
    settled()
    assert "not read yet" in run(panel, "isa.producer")
    ui.session.store.add(
        batch(wave(0, "cC..lLL|iiiiiI|MMM|I", [1, 2, 3, 4, 7], waits((3, (1, 2)))), wave(1, "I", [7]))
    )
    ui.session.wave_loaded()
    panel.set_arrows("none")
    settled()
    ui.session.select_line(3)
    settled()
    assert not run(panel, "isa.producer")
    settled()
    assert ui.session.selection.value.line == 2, "the last one above"
    assert run(panel, "isa.producer") == "Instruction 2 waited for none in the selected wave."
    assert not run(panel, "isa.waiter")
    settled()
    assert ui.session.selection.value.line == 3
    assert run(panel, "isa.waiter") == "No instruction waited for 3 in the selected wave."
    ui.session.back()
    assert ui.session.selection.value.line == 2


# -- the menu of a row ------------------------------------------------------------------------------


def test_the_menu_of_a_row_copies_goes_and_says_why_not(isa: IsaPanel, settled: Settled) -> None:
    actions = {action.text(): action for action in row_menu(isa, 44).actions()}
    actions["Copy address"].trigger()
    assert QGuiApplication.clipboard().text() == f"{44 * 4 + 0xFFC:#x}"
    assert not actions["Go to source"].isEnabled()
    assert "source" in actions["Go to source"].toolTip()
    assert not actions["What this waits for"].isEnabled()
    asked: list[str] = []
    isa.wants.connect(asked.append)
    actions["All executions, by duration"].trigger()
    settled()
    assert asked == ["distribution"]
    assert isa.session.selection.value.line == 44
    actions["Fold this block"].trigger()
    assert isa.view.is_fold(LOOP[0])


def test_the_menu_of_a_register_leads_along_it(isa: IsaPanel, ui: UiContext, settled: Settled) -> None:
    scroll_to(isa, 50)
    at = isa.view.register_at(character(isa, 60, "v_mov_b32_e32 v30, v9".index("v9")))
    actions = {action.text(): action for action in row_menu(isa, 60, at).actions()}
    assert not actions["Where v9 is read next"].isEnabled()
    assert "after instruction 60" in actions["Where v9 is read next"].toolTip()
    actions["Where v9 is written"].trigger()
    settled()
    assert ui.session.selection.value.line == 44


# -- the search field -------------------------------------------------------------------------------


def test_the_search_field_takes_no_room_until_it_is_used(isa: IsaPanel, qtbot: object) -> None:
    rows = isa.view.viewport().height()
    isa.focus_search()
    assert isa.find_bar.isVisible()
    assert isa.view.viewport().height() < rows
    QTest.keyClicks(isa.find_bar.field, "mfma")
    QTest.keyClick(isa.find_bar.field, Qt.Key.Key_Escape)
    assert isa.find_bar.isVisible()
    QTest.keyClick(isa.find_bar.field, Qt.Key.Key_Escape)
    assert not isa.find_bar.isVisible()
    qtbot.waitUntil(lambda: isa.view.viewport().height() == rows)


# -- in a window ------------------------------------------------------------------------------------


def test_keys_of_a_window_follow_the_pointer_and_the_selection(app: App, qtbot: QtBot) -> None:
    session, actions = app.ui.session, app.window.actions_
    panel = app.window.workspace.docks["isa"].panel
    assert isinstance(panel, IsaPanel)
    assert not actions["isa.definition"].isEnabled()
    target = next(
        row
        for row, text in enumerate(session.trace.value.code.text)
        if text.startswith("v_") and operand_at(text, len(text) - 1)
    )
    session.select_line(target)
    qtbot.waitUntil(actions["isa.next_register"].isEnabled)
    actions["isa.previous_register"].trigger()
    at = panel.view.register
    assert at.row == target
    wanted = not panel.walk.register_target(True)[1]
    qtbot.waitUntil(lambda: actions["isa.definition"].isEnabled() is wanted)
    wait = int(panel.walk.arrows.waits.target[0])
    session.select_line(wait)
    qtbot.waitUntil(actions["isa.producer"].isEnabled)
    settle(app)
    actions["isa.producer"].trigger()
    settle(app)
    assert session.selection.value.line in panel.walk.arrows.waits.source
    actions["go.back"].trigger()
    settle(app)
    assert session.selection.value.line == wait


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_first_open_shows_the_hottest_row_with_numbers(reused: Reused, theme: str) -> None:
    with reused(size=(1920, 1080)) as app:
        app.ui.settings["look.theme"] = theme
        open_sample(app)
        panel = app.window.workspace.docks["isa"].panel
        assert isinstance(panel, IsaPanel)
        assert panel.view.viewport().height() // panel.view.row_height >= 29
        rows = panel.view.rows
        assert in_sight(panel, int(np.argmax(np.where(rows.trace.code.is_label, 0, rows.cost))))
        assert all(width(panel, name) for name in ("hits", "latency", "share_of_total", "cost"))
        assert width(panel, "text") >= 270
        assert width(panel, "gutter") >= MIN_PX
