"""The instruction table follows the session, and the session follows it."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest

from rcv_py.features.isa.panel import IsaPanel
from rcv_py.model.kinds import StallReason, TokenKind
from rcv_py.model.modes import LatencyMode
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover, SearchQuery
from rcv_py.ui.core.panel import LazyPanel, UiContext
from tests.support.code_samples import code_table, trace, two_waves
from tests.support.mouse import left_click, move_mouse
from tests.support.window_fixtures import Settled, opened_fixture, panel_fixture

isa = panel_fixture(IsaPanel, 1000, 400, "view.table")
opened = opened_fixture("isa", lambda: (trace(), [two_waves()]))
unread = opened_fixture("isa", lambda: (trace(),))  # Its waves are not read


def cell(panel: IsaPanel, row: int, column: str) -> str:
    return panel.view.table.text(row, panel.view.table.column_of(column))


def click(panel: IsaPanel, row: int, column: str = "text") -> None:
    left_click(panel.view.viewport(), panel.view.cell_rect(row, column).center())


def picture(panel: IsaPanel) -> QImage:
    return panel.view.viewport().grab().toImage()


def has_color(image: QImage, rect, wanted: QColor) -> bool:
    return any(
        image.pixelColor(x, y).rgb() == wanted.rgb()
        for y in range(rect.top(), rect.bottom())
        for x in range(rect.left(), rect.right())
    )


def test_rows_show_costs_shares_and_places(unread: IsaPanel) -> None:
    assert not unread.empty.is_empty
    assert cell(unread, 3, "latency") == "2,000"
    assert cell(unread, 3, "stall") == "1,990"
    assert cell(unread, 3, "share_of_total") == "64.6"  # (2000 + 10) of 3000 + 110
    assert cell(unread, 0, "text") == "my_kernel"
    assert cell(unread, 0, "share_of_total") == "100.0"
    assert cell(unread, 5, "latency") == ""
    assert cell(unread, 2, "source") == "/src/kernels/attn.py:3"
    assert unread.view.table.columns[unread.view.table.column_of("cost")].heading == "cost"


def test_a_click_selects_the_line_and_the_selection_comes_back(opened: IsaPanel) -> None:
    click(opened, 4)
    assert opened.session.selection.value.line == 4
    assert opened.session.selection.value.source == (1, 2)
    assert opened.view.current == 4
    opened.session.select_line(2)
    assert opened.view.current == 2
    assert opened.view.same_source.tolist() == [False, False, True, True, False, False, False, False]
    QTest.keyClick(opened.view, Qt.Key.Key_Down)
    assert opened.session.selection.value.line == 3


def test_a_double_click_fits_the_token(opened: IsaPanel) -> None:
    at = opened.view.cell_rect(3, "text").center()
    left_click(opened.view.viewport(), at)
    QTest.mouseDClick(opened.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    wave, row = opened.session.token()
    span = wave.tokens.span(row)
    view = opened.session.view.value
    assert view.contains(span.begin)
    assert view.width < 500


def test_latency_modes_change_the_columns(opened: IsaPanel, qtbot: object) -> None:
    opened.session.latency_mode.set(LatencyMode.SUM_WAVE)
    qtbot.waitUntil(lambda: cell(opened, 4, "latency") == "6")
    title = opened.view.table.headerData(opened.view.table.column_of("latency"), Qt.Orientation.Horizontal)
    assert title == "latency · wave sum"
    opened.session.latency_mode.set(LatencyMode.MEAN_ALL)
    qtbot.waitUntil(lambda: cell(opened, 4, "latency") == "150")


def test_a_wave_that_is_not_read_is_explained(
    isa: IsaPanel, ui: UiContext, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    open_in(trace())
    ui.session.latency_mode.set(LatencyMode.SUM_WAVE)
    qtbot.waitUntil(lambda: "not read yet" in isa.note.text())
    settled()
    assert "not read yet" in isa.view.gutter_note
    ui.session.store.add(two_waves())
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: cell(isa, 4, "latency") == "6")
    assert not isa.note.text()


def test_a_clock_range_counts_only_its_waves(opened: IsaPanel, qtbot: object) -> None:
    assert cell(opened, 4, "hits") == "4"
    opened.session.clock_range.set(TimeWindow(0, 600))
    qtbot.waitUntil(lambda: cell(opened, 4, "hits") == "2")


def test_hover_goes_out_and_comes_in(unread: IsaPanel) -> None:
    move_mouse(unread.view.viewport(), unread.view.cell_rect(2, "text").center())
    assert unread.session.hover.value == Hover(line=2)
    unread.session.hover.set(Hover(source=(1, 2)))
    assert np.flatnonzero(unread.view.hovered_source).tolist() == [2, 4]
    assert unread.view.hover == -1


def test_search_counts_marks_filters_and_walks(unread: IsaPanel, settled: Settled) -> None:
    assert not unread.find_bar.isVisible(), "rows have its room until something is searched"
    unread.focus_search()
    QTest.keyClicks(unread.find_bar.field, "V_")
    settled()
    assert unread.session.query.value.text == "V_"
    assert unread.matches.tolist() == [4, 5]
    assert unread.find_bar.count.text() == "2 found"
    QTest.keyClick(unread.find_bar.field, Qt.Key.Key_Return)
    assert unread.session.selection.value.line == 4
    assert unread.find_bar.count.text() == "1 of 2"
    QTest.keyClick(unread.find_bar.field, Qt.Key.Key_Return)
    QTest.keyClick(unread.find_bar.field, Qt.Key.Key_Return)
    assert unread.session.selection.value.line == 4, "around the end"
    unread.find_bar.filter.click()
    assert unread.view.table.data_rows.tolist() == [4, 5]
    unread.session.query.set(SearchQuery("("))
    unread.session.query.set(SearchQuery("(", is_regex=True))
    settled()
    assert "not a regular expression" in unread.find_bar.count.toolTip()
    assert len(unread.view.table.data_rows) == 8, "a broken search hides nothing"


def test_the_search_field_takes_over_what_was_chosen_before(isa: IsaPanel) -> None:
    isa.session.query.set(SearchQuery("", is_case_sensitive=True))
    isa.focus_search()
    assert isa.find_bar.case.isChecked()
    QTest.keyClicks(isa.find_bar.field, "v_")
    assert isa.session.query.value == SearchQuery("v_", is_case_sensitive=True)


def test_m_walks_through_the_hottest_rows(isa: IsaPanel, ui: UiContext, open_settled: Callable) -> None:
    for command in isa.commands(isa.ui, LazyPanel.of(isa)):
        ui.commands.register(command)
    assert ui.commands["isa.next_hottest"].why_not()
    open_settled(trace())
    seen = []
    for _ in range(3):
        ui.commands.run("isa.next_hottest")
        seen.append(ui.session.selection.value.line)
    assert seen == [4, 2, 1], "after the hottest row, where the capture opens"
    ui.commands.run("isa.previous_hottest")
    assert ui.session.selection.value.line == 2


def arrow_points(isa: IsaPanel) -> tuple[QPoint, QPoint, QPoint]:
    """The middle of the arrow from row 2 to row 3, its producer end and its waiting end."""
    placed = isa.view.placed_arrows()
    sources = isa.view.arrows.source[placed.number]
    at = int(np.flatnonzero(sources == 1)[0])
    x, y0, y1 = placed.x[at], placed.y_source[at], placed.y_target[at]
    middle = QPointF(x, (y0 + y1) / 2).toPoint()
    return middle, QPointF(x + 1, y0).toPoint(), QPointF(x + 1, y1).toPoint()


def test_arrows_lead_isolate_and_are_released(opened: IsaPanel) -> None:
    pairs = set(zip(opened.view.arrows.source.tolist(), opened.view.arrows.target.tolist(), strict=True))
    assert pairs == {(1, 3), (2, 3)}
    middle, producer, wait = arrow_points(opened)
    port = opened.view.viewport()
    left_click(port, producer)
    assert opened.session.selection.value.line == 3
    left_click(port, wait)
    assert opened.session.selection.value.line == 1
    left_click(port, middle)
    assert opened.session.isolated_wait.value == 3
    assert opened.session.selection.value.line == 1, "isolating selects nothing"
    move_mouse(port, middle)
    assert "lgkmcnt" in opened.view.tip(1, "gutter")
    QTest.keyClick(opened.view, Qt.Key.Key_Escape)
    assert opened.session.isolated_wait.value is None


def test_the_gutter_says_where_its_arrows_are_from(opened: IsaPanel, settled: Settled) -> None:
    opened.session.select_wave(two_waves().waves[1].id)
    settled()
    assert len(opened.view.arrows), "a wave whose file lists no waits has those of a replay"
    assert "replaying" in opened.view.tip(0, "gutter")
    opened.session.select_wave(two_waves().waves[0].id)
    settled()
    opened.view.header.setSortIndicator(opened.view.table.column_of("latency"), Qt.SortOrder.DescendingOrder)
    assert not len(opened.view.placed_arrows().number)
    assert "program order" in opened.view.tip(1, "gutter")


def test_branches_are_the_other_arrows(
    isa: IsaPanel, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    open_in(trace(), [two_waves()])
    isa.set_arrows("branches")
    qtbot.waitUntil(lambda: len(isa.view.arrows) == 1)
    settled()
    assert isa.view.arrows.source.tolist() == [6]
    assert isa.view.arrows.target.tolist() == [2]
    assert "jumped 2 times (50.0 %)" in isa.view.arrow_tips[0]
    assert "not taken 2 times" in isa.view.arrow_tips[0]
    assert "of these 1 in se0/simd0/slot0/wv0" in isa.view.arrow_tips[0]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_kinds_and_selection_have_the_colours_of_the_theme(
    isa: IsaPanel, ui: UiContext, open_settled: Callable, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    open_settled(trace(), [two_waves()])
    ui.session.select_line(3)
    image = picture(isa)
    bar = isa.view.cell_rect(3, "cost")
    assert image.pixelColor(bar.left() + 10, bar.center().y()).rgb() == ui.theme.role("stall").rgb()
    issue = isa.view.cell_rect(4, "cost")
    assert image.pixelColor(issue.left() + 8, issue.center().y()).rgb() == ui.theme.role("issue").rgb()
    never = isa.view.cell_rect(5, "cost")
    assert not has_color(image, never, ui.theme.role("issue")), "zero draws nothing"
    assert image.pixelColor(1, bar.center().y()).rgb() == ui.theme.role("accent").rgb()
    mnemonic = isa.view.cell_rect(4, "text")
    assert has_color(image, mnemonic, ui.theme.kind_text(TokenKind.MATRIX))
    gutter = isa.view.cell_rect(3, "gutter")
    assert has_color(image, gutter, ui.theme.arrow(0))


def test_the_smallest_cost_is_seen(unread: IsaPanel) -> None:
    image, bar = picture(unread), unread.view.cell_rect(7, "cost")
    colored = [
        x
        for x in range(bar.left(), bar.right())
        if image.pixelColor(x, bar.center().y()).rgb() == unread.ui.theme.role("issue").rgb()
    ]
    assert len(colored) == 2


def test_samples_replace_cycles_in_a_sampling_capture(isa: IsaPanel, open_settled: Callable) -> None:
    from msgspec.structs import replace

    table = code_table()
    issued = np.array([0, 1, 2, 0, 5, 0, 0, 0])
    stalled = np.array([0, 0, 3, 9, 0, 0, 0, 0])
    reasons = np.zeros((8, len(StallReason)), dtype=np.int64)
    reasons[3, StallReason.WAITCNT] = 9
    nothing = np.zeros(8, dtype=np.int64)
    code = replace(
        table,
        hits=nothing,
        latency=nothing,
        stall=nothing,
        idle=nothing,
        samples_issued=issued,
        samples_stalled=stalled,
        stall_reasons=reasons,
    )
    open_settled(trace(code, has_thread_trace=False, has_pc_samples=True))
    ids = [column.id for column in isa.view.table.columns]
    assert "hits" not in ids
    assert cell(isa, 3, "samples") == "9"
    assert cell(isa, 3, "reason") == "wait count 100 %"
    assert not isa.view.table.has_column("latency"), "nor its mode"
    mark = isa.view.cell_rect(3, "reason")
    color = picture(isa).pixelColor(mark.left() + 8, mark.center().y())
    assert color.rgb() == isa.ui.theme.reason(StallReason.WAITCNT).rgb()


def test_the_heat_strip_leads_to_hot_rows(unread: IsaPanel) -> None:
    y = unread.strip.y_of(unread.view.table.view_row(3)) + 3
    left_click(unread.strip, QPoint(6, y))
    assert unread.session.selection.value.line == 3


def test_the_menu_copies_filters_and_bookmarks(
    isa: IsaPanel, ui: UiContext, open_settled: Callable, settled: Settled
) -> None:
    from rcv_py.features.isa.panel import row_menu

    open_settled(trace(), [two_waves()])
    actions = {a.text(): a for a in row_menu(isa, 4).actions()}
    actions["Filter to this instruction"].trigger()
    settled()
    assert isa.view.table.data_rows.tolist() == [4]
    actions["Bookmark"].trigger()
    assert ui.session.bookmarks.value[0].line == 4


def test_the_sheet_holds_what_is_shown(unread: IsaPanel) -> None:
    sheet = unread.sheet()
    rows = list(sheet.rows)
    assert len(rows) == 8
    assert rows[3][sheet.headers.index("latency (cycles)")] == 2000


def test_another_trace_starts_afresh(opened: IsaPanel, open_settled: Callable) -> None:
    opened.session.select_line(6)
    open_settled(trace(code_table(code_rows()[:3])))
    assert opened.view.table.rowCount() == 3
    assert opened.view.current == 2, "its own hottest row"
    opened.session.close()
    assert opened.empty.is_empty


def code_rows() -> tuple:
    from tests.support.code_samples import ROWS

    return ROWS


def test_headers_of_the_sheet_say_quantity_and_unit_and_addresses_are_in_hex(unread: IsaPanel) -> None:
    sheet = unread.sheet()
    assert {"hits", "latency (cycles)", "stall (cycles)", "idle (cycles)", "share (%)"} <= set(sheet.headers)
    assert not any("·" in header for header in sheet.headers)
    at, known = sheet.headers.index("address"), trace().code.address.tolist()
    assert {row[at] for row in sheet.rows} == set(map(hex, known))
