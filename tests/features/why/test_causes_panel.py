"""The causes panel: what made waves wait, in numbers that add up, one click from the instruction to blame."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.features.line.token_panel import TokenDetailsPanel
from rcv_py.features.why.grouping import WIDTHS, WhyNode
from rcv_py.features.why.panel import WhyPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.ui.core.panel import UiContext
from tests.analysis import build
from tests.support.mouse import left_click
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import SAMPLES, legend_names

NAME, BAR, STALL, SHARE, IDLE, TIMES = map(
    list(WIDTHS).index, ("name", "bar", "cycles", "share", "idle", "hits")
)

TEXTS = [
    "; kernel", "global_load_dword v0, v1, s[2:3]", "ds_read_b32 v1, v2", "s_waitcnt vmcnt(0)",
    "s_waitcnt lgkmcnt(0)", "s_endpgm",
]  # fmt: skip
KINDS = [TokenKind.NONE, TokenKind.FLAT, TokenKind.LDS, TokenKind.IMMED, TokenKind.IMMED, TokenKind.MSG]


def sample(waves: int = 2) -> tuple[Trace, WaveBatch]:
    """Waves that load, read LDS, wait 12 cycles for LDS and 20 for memory."""
    code = build.code(TEXTS, kinds=KINDS)
    picture = "FF|LL|iiiiiiiiiiii|iiiiiiiiiiiiiiiiiiii|I"
    made = [
        build.wave(picture, [1, 2, 4, 3, 5], row=row, begin=1000 * row, place=(0, 0, row, 0))
        for row in range(waves)
    ]
    return build.trace(code, made), build.batch(*made)


causes = panel_fixture(WhyPanel, 1000, 320, "tree.rows")


@pytest.fixture
def shown(causes: WhyPanel, open_settled: Callable) -> WhyPanel:
    trace, batch = sample()
    open_settled(trace, [batch])
    return causes


def outline(node: WhyNode, depth: int = 0) -> list[str]:
    """Cause or line, stall and times of every node, indented."""
    name = Cause(node.cause).name if depth == 1 else str(node.line)
    own = [] if depth == 0 else ["  " * (depth - 1) + f"{name} {node.stall} {node.times}"]
    return own + [line for child in node.children for line in outline(child, depth + 1)]


def cell(panel: WhyPanel, index: QModelIndex, column: int) -> str:
    return panel.tree.rows.data(index.siblingAtColumn(column))


def click(panel: WhyPanel, node: WhyNode) -> None:
    at = panel.tree.visualRect(panel.tree.rows.index_of(node)).center()
    left_click(panel.tree.viewport(), QPoint(80, at.y()))


def test_causes_are_ranked_with_late_and_blamed_lines(shown: WhyPanel) -> None:
    assert outline(shown.tree.rows.tree.root) == [
        "WAIT_LOAD 40 2", "  3 40 2", "    1 40 2", "WAIT_LDS 24 2", "  4 24 2", "    2 24 2",
    ]  # fmt: skip
    load = shown.tree.rows.index_of(shown.tree.rows.tree.root.children[0])
    cells = [cell(shown, load, column) for column in (NAME, STALL, SHARE, IDLE, TIMES)]
    assert cells == ["vector load", "40", "62.5", "", "2"]
    assert shown.note.text() == "100.0 % of 64 stalled cycles explained"
    assert legend_names(shown.legend) == ("vector load", "LDS access")
    assert "attributed, not elapsed" in shown.assumption.text()


def test_a_producer_that_is_a_guess_says_so(causes: WhyPanel, open_settled: Callable) -> None:
    code = build.code(["; kernel", TEXTS[1]], kinds=KINDS[:2])
    wave = build.wave("FF|FF|FF|FF|ffffffffffffFF", [1, 1, 1, 1, 1])
    open_settled(build.trace(code, [wave]), [build.batch(wave)])
    queue = causes.tree.rows.tree.root.children[0]
    assert Cause(queue.cause) is Cause.MEMORY_QUEUE
    blamed = queue.children[0].children[0]
    assert cell(causes, causes.tree.rows.index_of(blamed), NAME) == f"← perhaps 1  {TEXTS[1]}"
    sheet = causes.sheet()
    assert [dict(zip(sheet.headers, row, strict=True))["guessed"] for row in sheet.rows] == [12]


def test_bars_tips_and_names_for_readers(shown: WhyPanel, ui: UiContext) -> None:
    node = shown.tree.rows.tree.root.children[0]
    bar = shown.tree.rows.tree.columns[BAR].parts
    assert bar is not None
    assert bar(node)[0] == (40, ui.theme.cause(Cause.WAIT_LOAD))
    tip = shown.tree.rows.data(shown.tree.rows.index_of(node), Qt.ItemDataRole.ToolTipRole)
    assert "a load from memory had not returned" in tip
    assert "Evidence" in tip
    spoken = shown.tree.rows.data(shown.tree.rows.index_of(node), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "vector load, 40 stalled, 0 idle cycles"


def test_late_and_blamed_lines_are_selected_by_a_click(shown: WhyPanel, ui: UiContext) -> None:
    shown.tree.expandAll()
    late = shown.tree.rows.tree.root.children[0].children[0]
    click(shown, late.children[0])
    assert ui.session.selection.value.line == 1
    click(shown, late)
    assert ui.session.selection.value.line == 3
    click(shown, shown.tree.rows.tree.root.children[1])
    assert ui.session.selection.value.line == 3, "a cause is not a place"


def test_the_keyboard_walks_and_selects(shown: WhyPanel, qtbot: QtBot, settled: Settled) -> None:
    shown.tree.expandAll()
    shown.tree.setCurrentIndex(shown.tree.rows.index_of(shown.tree.rows.tree.root.children[0]))
    shown.activateWindow()  # or the focus stays with a window of the test before
    shown.tree.setFocus()
    qtbot.waitUntil(shown.tree.hasFocus)
    for line in (3, 1):
        QTest.keyClick(shown.tree, Qt.Key.Key_Down)
        settled()
        assert shown.session.selection.value.line == line


def test_columns_sort_and_are_remembered(shown: WhyPanel) -> None:
    shown.tree.sortByColumn(STALL, Qt.SortOrder.AscendingOrder)
    assert [node.stall for node in shown.tree.rows.tree.root.children] == [24, 40]
    state = shown.save_state()
    shown.tree.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
    shown.load_state(state)
    assert [node.stall for node in shown.tree.rows.tree.root.children] == [24, 40]
    shown.load_state({"sort": [99, True]})


def test_names_have_room_in_a_narrow_panel(shown: WhyPanel, settled: Settled) -> None:
    columns = shown.tree.rows.tree.columns
    there = [at for at, column in enumerate(columns) if column.is_there]
    assert [columns[at].id for at in there] == ["name", "bar", "cycles", "share", "idle", "hits", "source"]
    for width, hidden in ((1000, 0), (760, 1), (420, 4)):
        shown.resize(width, 300)
        settled()
        assert sum(shown.tree.isColumnHidden(column) for column in there) == hidden
        assert sum(shown.tree.isColumnHidden(at) for at in range(len(columns))) == hidden + 4


def test_the_sheet_holds_every_row(shown: WhyPanel) -> None:
    sheet = shown.sheet()
    names = ("cause", "instruction", "producer", "stall", "idle", "hits")
    rows = [dict(zip(sheet.headers, row, strict=True)) for row in sheet.rows]
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("wait_load", 3, 1, 40, 0, 2),
        ("wait_lds", 4, 2, 24, 0, 2),
    ]


def test_a_capture_without_waves_says_so(causes: WhyPanel, open_in: Callable) -> None:
    open_in(open_trace(SAMPLES / "placeholder"), [])
    assert causes.empty.is_empty
    assert causes.empty.sentence.text()
    assert causes.sheet() is None


def test_the_instruction_panel_says_why_it_stalled(
    ui: UiContext, qtbot: object, open_in: Callable, settled: Settled
) -> None:
    panel = TokenDetailsPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    trace, batch = sample()
    open_in(trace, [batch])
    ui.session.select_token(batch.waves[0].id, 3)
    qtbot.waitUntil(lambda: panel.facts is not None and bool(panel.facts.causes))
    settled()
    text = panel.text.toPlainText()
    assert "stalled 20 cycles because a load from memory had not returned" in text
    assert "certain: a replay of the counters" in text
