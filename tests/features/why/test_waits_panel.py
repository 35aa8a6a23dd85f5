"""The waits panel: who made waits wait, in numbers that add up, and one click to get there."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.features.line.token_panel import TokenDetailsPanel
from rcv_py.features.why.grouping import WIDTHS, WhyNode
from rcv_py.features.why.panel import WhyPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.ui.core.panel import UiContext
from tests.analysis import build
from tests.features.why.test_causes_panel import TEXTS, sample
from tests.support import code_samples
from tests.support.mouse import left_click
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import SAMPLES, legend_names

NAME, BAR, STALL, SHARE, TIMES, MEDIAN = map(
    list(WIDTHS).index, ("name", "bar", "cycles", "share", "hits", "median")
)

waits = panel_fixture(lambda ui: WhyPanel(ui).part("waits"), 920, 320, "tree.rows")


@pytest.fixture
def shown(waits: WhyPanel, ui: UiContext, open_settled: Callable) -> WhyPanel:
    trace, batch = sample()
    open_settled(trace, [batch])
    return waits


def outline(node: WhyNode, depth: int = 0) -> list[str]:
    """Line, times and stall of every node, indented."""
    own = [] if depth == 0 else ["  " * (depth - 1) + f"{node.line} {node.times} {node.stall}"]
    return own + [line for child in node.children for line in outline(child, depth + 1)]


def index_of(panel: WhyPanel, line: int) -> QModelIndex:
    node = next(
        node
        for wait in panel.tree.rows.tree.root.children
        for node in (wait, *wait.children)
        if node.line == line
    )
    return panel.tree.rows.index_of(node)


def click(panel: WhyPanel, line: int) -> None:
    at = panel.tree.visualRect(index_of(panel, line)).center()
    left_click(panel.tree.viewport(), QPoint(40, at.y()))


def test_waits_are_ranked_with_what_they_waited_for(shown: WhyPanel) -> None:
    assert outline(shown.tree.rows.tree.root) == ["3 2 40", "  1 2 40", "4 2 24", "  2 2 24"]
    load = index_of(shown, 1)
    cells = [load.siblingAtColumn(column).data() for column in (NAME, STALL, TIMES, MEDIAN)]
    assert cells == [f"1  {TEXTS[1]}", "40", "2", "34"]
    assert shown.note.text() == "64 cycles of stall in 2 waves"
    assert legend_names(shown.legend) == ("FLAT", "LDS")


def test_the_bar_has_the_colour_of_what_is_charged(shown: WhyPanel, ui: UiContext) -> None:
    bar = shown.tree.rows.tree.columns[BAR].parts
    assert bar is not None
    assert bar(shown.tree.rows.tree.root.children[0])[0] == (40, ui.theme.kind(TokenKind.FLAT))
    assert "median 34" in shown.tree.rows.data(index_of(shown, 1), Qt.ItemDataRole.ToolTipRole)
    assert "waits" in shown.tree.rows.data(index_of(shown, 3), Qt.ItemDataRole.AccessibleTextRole)
    assert all(
        shown.tree.rows.headerData(at, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for at, column in enumerate(shown.tree.rows.tree.columns)
        if column.is_there
    )


def test_a_click_selects_the_line_everywhere_and_a_selection_moves_the_row(shown: WhyPanel) -> None:
    click(shown, 4)
    assert shown.session.selection.value.line == 4
    click(shown, 1)
    assert shown.session.selection.value.line == 1
    shown.session.select_line(3)
    assert shown.tree.rows.node(shown.tree.currentIndex()).line == 3
    shown.session.select_line(5)
    assert not shown.tree.currentIndex().isValid()


def test_the_keyboard_walks_and_selects(shown: WhyPanel, ui: UiContext, qtbot: QtBot) -> None:
    ui.session.select_line(3)
    shown.activateWindow()  # or the focus stays with a window of the test before
    shown.tree.setFocus()
    qtbot.waitUntil(shown.tree.hasFocus)
    for line in (1, 4, 2):
        QTest.keyClick(shown.tree, Qt.Key.Key_Down)
        assert ui.session.selection.value.line == line


def test_columns_sort_both_levels(shown: WhyPanel) -> None:
    shown.tree.sortByColumn(NAME, Qt.SortOrder.DescendingOrder)
    assert [node.line for node in shown.tree.rows.tree.root.children] == [4, 3]
    state = shown.save_state()
    shown.tree.sortByColumn(STALL, Qt.SortOrder.DescendingOrder)
    assert [node.line for node in shown.tree.rows.tree.root.children] == [3, 4]
    shown.load_state(state)
    assert [node.line for node in shown.tree.rows.tree.root.children] == [4, 3]
    shown.load_state({"widths": [1, "x"], "sort": [99, True]})


def test_what_is_closed_stays_closed(shown: WhyPanel, ui: UiContext, settled: Settled) -> None:
    assert shown.tree.isExpanded(index_of(shown, 3))
    shown.tree.collapse(index_of(shown, 3))
    ui.results.cell("waits").notify()
    settled()
    assert not shown.tree.isExpanded(index_of(shown, 3))
    assert shown.tree.isExpanded(index_of(shown, 4))


def test_instructions_have_room_in_a_narrow_panel(shown: WhyPanel, settled: Settled) -> None:
    there = [at for at, column in enumerate(shown.tree.rows.tree.columns) if column.is_there]
    assert len(there) == 8
    for width, hidden in ((920, 0), (690, 2), (420, 4)):
        shown.resize(width, 300)
        settled()
        assert sum(shown.tree.isColumnHidden(column) for column in there) == hidden
        assert shown.tree.columnWidth(NAME) >= 180
    shown.resize(920, 300)
    settled()
    assert shown.tree.columnWidth(BAR) == WIDTHS["bar"]


def test_waves_that_stream_in_are_added(waits: WhyPanel, open_in: Callable, qtbot: object) -> None:
    trace, batch = sample()
    open_in(trace)
    assert waits.empty.sentence.text() == "Reading waves, 0 of 2, for waits …"
    assert waits.session.store is not None
    for wave, text in zip(
        batch.waves, ("partial: 1 of 2 waves read", "64 cycles of stall in 2 waves"), strict=True
    ):
        waits.session.store.add(build.batch(wave))
        waits.session.wave_loaded()
        qtbot.waitUntil(lambda text=text: waits.note.text() == text)


def test_the_sheet_has_a_row_a_producer(shown: WhyPanel) -> None:
    sheet = shown.sheet()
    rows = list(sheet.rows)
    assert [len(row) for row in rows] == [len(sheet.headers)] * 2
    names = ("instruction", "text", "hits", "stall")
    row = dict(zip(sheet.headers, rows[0], strict=True))
    assert tuple(row[name] for name in names) == (3, TEXTS[3], 2, 40)
    of_producer = ("producer", "producer_text", "producer_hits", "producer_stall", "median_latency")
    assert tuple(row[name] for name in of_producer) == (1, TEXTS[1], 2, 40, 34.0)


def test_an_empty_view_says_why(waits: WhyPanel, open_in: Callable, qtbot: object) -> None:
    assert "Ctrl+O" in waits.empty.sentence.text()
    assert waits.sheet() is None
    open_in(build.trace(build.code(TEXTS), []))
    assert "no traced waves" in waits.empty.sentence.text()
    code = build.code(["v_mov_b32 v0, v1"])
    made = [build.wave("VV|", [0])]
    open_in(build.trace(code, made), [build.batch(*made)])
    qtbot.waitUntil(lambda: "No wave ran a wait" in waits.empty.sentence.text())


def test_pc_samples_have_no_waits(waits: WhyPanel, open_in: Callable) -> None:
    open_in(open_trace(SAMPLES / "pc_sampling"))
    assert waits.empty.is_empty


def test_the_instruction_panel_links_executions(ui: UiContext, open_in: Callable, qtbot: object) -> None:
    panel = TokenDetailsPanel(ui)
    qtbot.addWidget(panel)
    trace, batch = sample()
    open_in(trace, [batch])
    ui.session.select_line(3)
    ui.session.select_hit(0)
    qtbot.waitUntil(lambda: "Waited for: 1" in panel.text.toPlainText())
    assert "issued at 0, 16 cycles before the wait, by vmcnt · ended the wait" in panel.text.toPlainText()
    panel.text.anchorClicked.emit(QUrl("token:0"))
    qtbot.waitUntil(lambda: "Released by: 1" in panel.text.toPlainText())
    assert (ui.session.selection.value.line, ui.session.token()[1]) == (1, 0)
    assert "latency 34 cycles, by vmcnt: the wait ended with it" in panel.text.toPlainText()
    panel.text.anchorClicked.emit(QUrl("token:999"))
    assert ui.session.token()[1] == 0


def test_the_arrows_of_made_up_waves_are_replayed(ui: UiContext, open_in: Callable, settled: Settled) -> None:
    from rcv_py.features.isa.arrows import wait_arrows

    wave = code_samples.two_waves().waves[0]
    found = wait_arrows(wave, code_samples.trace())
    assert sorted(found.rows.source.tolist()) == [1, 2]
    assert set(found.rows.target.tolist()) == {3}
