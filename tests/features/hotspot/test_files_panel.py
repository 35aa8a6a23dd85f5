"""Files: where the time went, by place, and one click to get there."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest

from rcv_py.analysis.cost.explorer import CostNode
from rcv_py.features.hotspot.files_panel import FilesPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.ui.core.panel import UiContext
from tests.support.code_samples import ROWS, code_table, trace, two_waves
from tests.support.mouse import left_click
from tests.support.window_fixtures import Settled, opened_fixture, panel_fixture

BAR = 2


explorer = panel_fixture(FilesPanel, 360, 300, "tree.rows")
opened = opened_fixture("explorer", lambda: (trace(), [two_waves()]))


def index_of(panel: FilesPanel, name: str) -> QModelIndex:
    place = next(place for place in panel.tree.rows.tree.root.walk() if place.name.startswith(name))
    return panel.tree.rows.index_of(place)


def outline(place: CostNode, depth: int = 0) -> list[str]:
    lines = [] if depth == 0 else ["  " * (depth - 1) + f"{place.name} {place.cost}"]
    return lines + [line for child in place.children for line in outline(child, depth + 1)]


def click(panel: FilesPanel, name: str) -> None:
    at = panel.tree.visualRect(index_of(panel, name)).center()
    left_click(panel.tree.viewport(), at)


def test_the_tree_folds_folders_and_ranks_lines(explorer: FilesPanel, open_settled: Callable) -> None:
    assert "Ctrl+O" in explorer.empty.sentence.text()
    open_settled(trace())
    assert outline(explorer.tree.rows.tree.root) == [
        "/src 3050",
        "  kernels 2450",
        "    attn.py 2450",
        "      :3  return a  # a value 2310",
        "      :2  def load(a): 140",
        "  lib 600",
        "    attn.py 600",
        "      :2  return a * b 600",
        "    lost.py 0",
        "<no source> 60",
    ]


def test_a_file_opens_at_its_hottest_line_and_a_line_at_itself(opened: FilesPanel) -> None:
    click(opened, "attn.py")
    assert opened.session.selection.value.source == (0, 3)
    opened.tree.expand(index_of(opened, "attn.py"))
    click(opened, ":2  def load")
    assert opened.session.selection.value.source == (0, 2)
    assert opened.session.selection.value.line == 1
    click(opened, "<no source>")
    assert opened.session.selection.value.line == 6


def test_the_selected_file_is_marked(opened: FilesPanel) -> None:
    opened.session.select_line(4)
    current = opened.tree.rows.node(opened.tree.currentIndex())
    assert (current.name, current.file) == ("attn.py", 1), "its line is in a closed branch"
    opened.tree.expandAll()
    opened.session.select_line(3)
    assert opened.tree.rows.node(opened.tree.currentIndex()).line == 3


def test_a_folder_that_was_closed_stays_closed(opened: FilesPanel, settled: Settled) -> None:
    assert opened.tree.isExpanded(index_of(opened, "kernels"))
    opened.tree.collapse(index_of(opened, "kernels"))
    opened.ui.settings["isa.show_idle"] = not opened.ui.settings["isa.show_idle"]
    settled()
    assert not opened.tree.isExpanded(index_of(opened, "kernels"))
    assert opened.tree.isExpanded(index_of(opened, "/src"))


def test_widths_are_remembered_of_columns_that_have_no_room(opened: FilesPanel) -> None:
    opened.tree.setColumnWidth(BAR, 77)
    opened.resize(200, 300)
    assert opened.tree.isColumnHidden(BAR)
    state = opened.save_state()
    opened.tree.setColumnWidth(BAR, 50)
    opened.load_state(state)
    opened.resize(360, 300)
    assert opened.tree.columnWidth(BAR) == 77


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_arrows_move_and_a_key_opens(key: Qt.Key, opened: FilesPanel) -> None:
    opened.activateWindow()
    opened.tree.setFocus()
    QTest.qWaitForWindowActive(opened)
    opened.tree.setCurrentIndex(index_of(opened, "kernels"))
    QTest.keyClick(opened.tree, Qt.Key.Key_Down)
    assert opened.session.selection.value.source is None, "who looks through files changes nothing elsewhere"
    QTest.keyClick(opened.tree, key)
    assert opened.session.selection.value.source == (0, 3)


def test_without_sources_labels_and_instructions_are_ranked(
    explorer: FilesPanel, ui: UiContext, open_settled: Callable
) -> None:
    label = ("label_7:", TokenKind.NONE, 0, 0, 0, 0, ())
    code = code_table((*ROWS[:4], label, *ROWS[4:]), has_source=False)
    code.is_label[4] = True
    open_settled(trace(code, sources=()), [two_waves()])
    assert "-g" in explorer.note.text()
    assert not explorer.note.isHidden()
    assert outline(explorer.tree.rows.tree.root)[:3] == [
        "my_kernel 2450", "  3  s_waitcnt lgkmcnt(0) 2010", "  2  ds_read_b128 v[0:3], v9 300",
    ]  # fmt: skip
    click(explorer, "3  s_waitcnt")
    assert ui.session.selection.value.line == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_of_the_tree_have_the_colours_of_kinds(
    explorer: FilesPanel, ui: UiContext, open_settled: Callable, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    open_settled(trace())
    explorer.tree.setCurrentIndex(QModelIndex())
    image = explorer.tree.viewport().grab().toImage()
    box = explorer.tree.visualRect(index_of(explorer, "attn.py").siblingAtColumn(BAR))
    colors = {image.pixelColor(x, box.center().y()).rgb() for x in range(box.left(), box.right())}
    assert ui.theme.kind(TokenKind.IMMED).rgb() in colors
    assert ui.theme.kind(TokenKind.LDS).rgb() in colors


def test_the_sheet_lists_every_place(explorer: FilesPanel, open_settled: Callable) -> None:
    assert explorer.sheet() is None
    open_settled(trace())
    rows = list(explorer.sheet().rows)
    assert len(rows) == 10
    assert rows[0][2:] == (3050, pytest.approx(3050 / 3110))


def test_a_program_that_never_ran_is_explained(explorer: FilesPanel, open_settled: Callable) -> None:
    idle = tuple((row[0], row[1], 0, 0, 0, 0, row[6]) for row in ROWS)
    open_settled(trace(code_table(idle)))
    assert explorer.tree.rows.tree.root.cost == 0
    assert np.all(explorer.tree.rows.tree.root.by_kind == 0)
