"""Blocks of the instruction table fold: by click, by key, by cost; nothing gets lost in them."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from rcv_py.features.isa.fold_view import IsaFolds
from rcv_py.features.isa.panel import IsaPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import LazyPanel, UiContext
from tests.support.code_samples import code_table, trace, two_waves
from tests.support.mouse import left_click
from tests.support.window_fixtures import Settled, opened_fixture, panel_fixture

PLACES = ((0, 2),)
PROGRAM = (
    ("; my_kernel", TokenKind.NONE, 0, 0, 0, 0, ()),  # block 0
    ("s_load_dword s4, s[0:1], 0x3c", TokenKind.SMEM, 2, 40, 20, 100, PLACES),
    ("ds_read_b128 v[0:3], v9", TokenKind.LDS, 4, 300, 200, 0, PLACES),  # block 1, the loop
    ("s_waitcnt lgkmcnt(0)", TokenKind.IMMED, 4, 2000, 1990, 10, PLACES),
    ("v_mfma_f32_32x32x16_bf16 v[80:95], v[0:3], v[4:7], v[80:95]", TokenKind.MATRIX, 4, 600, 0, 0, PLACES),
    ("s_nop 0", TokenKind.IMMED, 4, 10, 0, 0, ()),
    ("s_cbranch_scc1 65531", TokenKind.JUMP, 4, 50, 0, 0, ()),
    ("v_rare v1, v2", TokenKind.VALU, 0, 0, 0, 0, ()),  # block 2, never executed
    ("s_branch 1", TokenKind.JUMP, 0, 0, 0, 0, ()),
    ("s_endpgm", TokenKind.MSG, 2, 10, 0, 0, ()),  # block 3
)


def capture():
    """The program above in words of four bytes, and two waves that went round twice."""
    from msgspec.structs import replace

    code = code_table(PROGRAM)
    address = np.array([0x1000, 0x1000, *(0x1000 + 4 * at for at in range(1, 9))], dtype=np.uint64)
    code = replace(code, address=address)
    return trace(code)


def waves():
    from tests.support.code_samples import batch, wave

    drawing = "cC..lLL|iiiiiI|MMM|I|J|lLL|iiI|MMM|I|N|I"
    lines = [1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 9]
    return batch(wave(0, drawing, lines[: len(drawing.split("|")) + 1]), wave(1, drawing, lines))


isa_alone = panel_fixture(IsaPanel, 1000, 400, "view.table")
isa = opened_fixture("isa_alone", lambda: (capture(), [waves()]))


def shown(panel: IsaPanel) -> list[int]:
    return panel.view.table.data_rows.tolist()


def cell(panel: IsaPanel, row: int, column: str) -> str:
    return panel.view.table.text(row, panel.view.table.column_of(column))


def triangle(panel: IsaPanel, row: int) -> None:
    box = panel.view.cell_rect(row, "fold")
    at = QPoint(box.left() + 8, box.center().y())
    left_click(panel.view.viewport(), at)


def test_sections_of_one_row_do_not_fold_and_rows_are_found_again() -> None:
    folds = IsaFolds()
    folds.set_sections(np.array([0, 2, 3]), np.array([2, 3, 6]))
    assert folds.visible() is None
    folds.fold_where(np.array([True, True, True]))
    assert folds.visible().tolist() == [0, 2, 3]
    assert folds.shown_as.tolist() == [0, 0, 2, 3, 3, 3]
    assert not folds.is_fold(2)
    assert list(folds.rows_of(3)) == [3, 4, 5]
    assert folds.reveal(4)
    assert not folds.reveal(4)
    assert folds.visible().tolist() == [0, 2, 3, 4, 5]
    folds.set_sections(np.array([0, 2, 4]), np.array([2, 4, 6]))
    assert folds.folded.tolist() == [True, False, False], "what began a fold still does"


def test_a_click_on_the_triangle_folds_and_sums_up(isa: IsaPanel, ui: UiContext) -> None:
    before = ui.session.selection.value
    triangle(isa, 2)
    assert shown(isa) == [0, 1, 2, 7, 8, 9]
    assert ui.session.selection.value == before, "folding selects nothing"
    assert cell(isa, 2, "text") == "block 1 · 5 instructions"
    assert (cell(isa, 2, "hits"), cell(isa, 2, "latency"), cell(isa, 2, "stall")) == ("4", "2,960", "2,190")
    assert cell(isa, 2, "share_of_total") == "95.2"  # (2960 + 10) of 3010 + 110
    assert "most of it: 3 <tt>s_waitcnt" in isa.view.tip(2, "text")
    triangle(isa, 2)
    assert shown(isa) == list(range(10))
    assert cell(isa, 2, "latency") == "300"


def test_a_double_click_unfolds(isa: IsaPanel) -> None:
    triangle(isa, 2)
    at = isa.view.cell_rect(2, "text").center()
    left_click(isa.view.viewport(), at)
    assert shown(isa) == [0, 1, 2, 7, 8, 9], "a click selects the fold"
    QTest.mouseDClick(isa.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert shown(isa) == list(range(10))


def test_keys_fold_walk_and_unfold(isa: IsaPanel, ui: UiContext) -> None:
    ui.session.select_line(4)
    QTest.keyClick(isa.view, Qt.Key.Key_Left)
    assert shown(isa) == [0, 1, 2, 7, 8, 9]
    assert (isa.view.current, ui.session.selection.value.line) == (2, 2)
    QTest.keyClick(isa.view, Qt.Key.Key_Down)
    assert ui.session.selection.value.line == 7
    QTest.keyClick(isa.view, Qt.Key.Key_Up)
    assert ui.session.selection.value.line == 2
    assert shown(isa) == [0, 1, 2, 7, 8, 9], "walking over a fold leaves it folded"
    QTest.keyClick(isa.view, Qt.Key.Key_Right)
    assert shown(isa) == list(range(10))
    QTest.keyClick(isa.view, Qt.Key.Key_Left)
    QTest.keyClick(isa.view, Qt.Key.Key_Return)
    assert shown(isa) == list(range(10))


def test_all_none_and_what_is_cold(isa: IsaPanel, ui: UiContext) -> None:
    commands = {command.id: command for command in isa.commands(isa.ui, LazyPanel.of(isa))}
    commands["isa.fold_all"].run()
    assert shown(isa) == [0, 2, 7, 9]
    assert "never executed" in cell(isa, 7, "text")
    commands["isa.unfold_all"].run()
    assert shown(isa) == list(range(10))
    commands["isa.fold_cold"].run()
    assert shown(isa) == [0, 1, 2, 3, 4, 5, 6, 7, 9]
    ui.settings["isa.cold_permille"] = 100
    commands["isa.fold_cold"].run()
    assert shown(isa) == [0, 2, 3, 4, 5, 6, 7, 9], "block 0 costs less than a tenth"
    commands["isa.fold_by"].run()
    assert shown(isa) == list(range(10))
    commands["isa.fold_all"].run()
    assert shown(isa) == [0]
    assert cell(isa, 0, "text").startswith("my_kernel · 9 instructions")


def test_what_is_selected_elsewhere_unfolds(isa: IsaPanel, ui: UiContext) -> None:
    isa.view.fold_all()
    ui.session.select_line(4)
    assert shown(isa) == [0, 2, 3, 4, 5, 6, 7, 9]
    assert isa.view.current == 4
    isa.view.fold_all()
    assert isa.view.current == 2, "the fold has the accent of the line inside it"
    isa._take_rows(isa._rows)
    assert shown(isa) == [0, 2, 7, 9], "new numbers unfold nothing"


def test_search_walks_through_folds_and_a_filter_overrides_them(isa: IsaPanel, settled: Settled) -> None:
    isa.view.fold_all()
    isa.focus_search()
    QTest.keyClicks(isa.find_bar.field, "s_")
    settled()
    assert isa.find_bar.count.text() == "3 of 7", "the row that is selected when a capture opens"
    seen = []
    for _ in range(3):
        QTest.keyClick(isa.find_bar.field, Qt.Key.Key_Return)
        seen.append(isa.session.selection.value.line)
    assert seen == [5, 6, 8]
    assert {5, 6, 8} <= set(shown(isa))
    isa.find_bar.filter.click()
    assert shown(isa) == [1, 2, 3, 5, 6, 8, 9]
    isa.find_bar.filter.click()
    assert 1 not in shown(isa), "folds are back"


def test_sorting_shows_every_row_and_program_order_the_folds(isa: IsaPanel) -> None:
    isa.view.fold_all()
    at = isa.view.table.column_of("latency")
    isa.view.header.setSortIndicator(at, Qt.SortOrder.DescendingOrder)
    assert shown(isa)[:2] == [3, 4]
    assert len(shown(isa)) == 10
    assert cell(isa, 2, "latency") == "300"
    isa.view.header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    assert shown(isa) == [0, 2, 7, 9]


def test_a_click_on_the_numbers_of_rows_gives_program_order_with_arrows(isa: IsaPanel, ui: UiContext) -> None:
    view, number = isa.view, isa.view.table.column_of("instruction")
    ui.session.select_line(3)
    for before in (view.table.column_of("latency"), number):
        view.header.setSortIndicator(before, Qt.SortOrder.DescendingOrder)
        at = QPoint(view.columnViewportPosition(number) + 8, view.header.height() // 2)
        left_click(view.header.viewport(), at)
        assert view.table.sorting is None
        assert shown(isa) == list(range(10))
        assert len(view.placed_arrows().number)
        assert view.viewport().rect().contains(view.row_rect(view.table.view_row(3)).center())


def test_arrows_lead_to_the_fold(isa: IsaPanel) -> None:
    assert set(zip(isa.view.arrows.source.tolist(), isa.view.arrows.target.tolist(), strict=True)) >= {(2, 3)}
    whole = len(isa.view.placed_arrows().number)
    isa.view.fold_all()
    placed = isa.view.placed_arrows()
    assert len(placed.number) < whole, "arrows inside a fold are gone"
    middle = isa.view.row_rect(2).center().y()
    for number, y in zip(placed.number.tolist(), placed.y_target.tolist(), strict=True):
        if isa.view.arrows.target[number] in range(2, 7):
            assert abs(y - middle) <= 1


def test_copies_and_sheets_hold_what_is_folded(isa: IsaPanel) -> None:
    isa.view.fold_all()
    at = isa.view.cell_rect(2, "text").center()
    left_click(isa.view.viewport(), at)
    isa.view.copy_rows()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert len(lines) == 1 + 5
    assert "s_cbranch_scc1" in lines[-1]
    sheet = isa.sheet()
    rows = list(sheet.rows)
    assert len(rows) == 10
    assert rows[2][sheet.headers.index("latency (cycles)")] == 300


def test_loops_have_brackets_with_their_rounds(isa: IsaPanel) -> None:
    ((_, _, top, bottom),) = isa.view.placed_loops()
    assert isa.view.view_row_at(int(top)) == 2
    assert isa.view.view_row_at(int(bottom)) == 6
    assert isa.view.notes(2) == ("loop ×2",)


def test_the_strip_shows_the_heat_of_folds(isa: IsaPanel) -> None:
    isa.view.fold_all()
    assert isa.strip._cost[2] == 2010
    assert not isa.strip._cost[3]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_folds_are_drawn_in_both_themes(isa: IsaPanel, ui: UiContext, theme: str) -> None:
    ui.settings["look.theme"] = theme
    isa.view.fold_all()
    image = isa.view.viewport().grab().toImage()
    box = isa.view.cell_rect(2, "fold")
    inked = [
        image.pixelColor(x, box.center().y()).rgb() == ui.theme.role("muted").rgb()
        for x in range(box.left() + 4, box.left() + 14)
    ]
    assert sum(inked) >= 2, "a triangle"
    bar = isa.view.cell_rect(2, "cost")
    assert image.pixelColor(bar.left() + 12, bar.center().y()).rgb() == ui.theme.role("stall").rgb()


def test_another_program_starts_unfolded(isa: IsaPanel, open_settled: Callable) -> None:
    isa.view.fold_all()
    open_settled(trace(), [two_waves()])
    assert len(shown(isa)) == 8


@pytest.fixture
def mostly_cold() -> Trace:
    """A hundred blocks of fifty instructions, of which the first and the last two ran."""

    def block(hits: int) -> tuple:
        texts = [*(f"v_mov_b32 v{at}, 0" for at in range(49)), "s_branch 0"]
        kinds = [*[TokenKind.VALU] * 49, TokenKind.JUMP]
        return tuple((*one, hits, 20 * hits, 10 * hits, 0, ()) for one in zip(texts, kinds, strict=True))

    return trace(code_table(2 * block(2) + 96 * block(0) + 2 * block(2)))


def test_thousands_of_rows_that_never_ran_are_one_key_away(
    new_panel: Callable, open_settled: Callable, mostly_cold: Trace
) -> None:
    panel = new_panel(IsaPanel, 900, 500)
    open_settled(mostly_cold)
    rows = len(mostly_cold.code)
    assert len(shown(panel)) == rows > 4900
    panel.view.fold_cold(0.005)
    assert len(shown(panel)) < 320
    executed = np.flatnonzero(mostly_cold.code.hits)
    assert len(executed)
    assert set(executed.tolist()) <= set(shown(panel))
