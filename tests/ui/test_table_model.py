"""A table keeps its promises to Qt, sorts back to program order, copies and remembers its columns."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest

from rcv_py.base.tree import TreeNode
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.table.cost_bars import MIN_PX, bar_length, heat
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import VALUE_ROLE, Column, TableModel, grouped
from rcv_py.ui.table.tree_table import Tree, TreeColumn, TreeTable
from tests.support.mouse import left_click


def columns(cost: tuple[int, ...] = (30, 2000, 30, 5)) -> tuple[Column, ...]:
    return (
        Column("gutter", "", (), has_values=False),
        Column("name", "name", ("pear", "apple", "fig", "date")),
        Column("cost", "cost", np.array(cost), grouped, is_number=True),
    )


@pytest.fixture
def model() -> TableModel:
    model = TableModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.set_columns(columns())
    return model


@pytest.fixture
def view(ui: UiContext, qtbot: object) -> RowsView:
    view = RowsView(ui.theme, ui.settings)
    qtbot.addWidget(view)
    view.resize(500, 200)
    view.show_columns(columns())
    view.show()
    return view


def names(model: TableModel) -> list[str]:
    return [model.index(row, 1).data() for row in range(model.rowCount())]


def test_numbers_are_grouped_right_aligned_and_sorted_from_the_largest(model: TableModel) -> None:
    assert model.index(1, 2).data() == "2,000"
    assert model.index(1, 2).data(VALUE_ROLE) == 2000
    assert model.index(1, 2).data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    first = model.headerData(2, Qt.Orientation.Horizontal, Qt.ItemDataRole.InitialSortOrderRole)
    assert first == Qt.SortOrder.DescendingOrder


def test_sorting_is_stable_both_ways_and_ends_in_program_order(model: TableModel) -> None:
    model.sort(2, Qt.SortOrder.DescendingOrder)
    assert names(model) == ["apple", "pear", "fig", "date"]
    model.sort(2, Qt.SortOrder.AscendingOrder)
    assert names(model) == ["date", "pear", "fig", "apple"]
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert names(model) == ["apple", "date", "fig", "pear"]
    model.sort(-1)
    assert names(model) == ["pear", "apple", "fig", "date"]


def test_a_persistent_index_follows_its_row_through_sorting_and_new_values(model: TableModel) -> None:
    from PySide6.QtCore import QPersistentModelIndex

    kept = QPersistentModelIndex(model.index(1, 1))
    model.sort(2, Qt.SortOrder.AscendingOrder)
    assert kept.data() == "apple"
    assert kept.row() == 3
    model.set_columns(columns((1, 0, 3, 9)))
    assert kept.data() == "apple"
    assert kept.row() == 0


def test_a_filter_hides_rows_and_keeps_the_order(model: TableModel) -> None:
    model.sort(2, Qt.SortOrder.DescendingOrder)
    model.set_filter(np.array([0, 1, 3]))
    assert names(model) == ["apple", "pear", "date"]
    assert model.view_row(2) == -1
    assert model.data_row(0) == 1
    model.set_filter(None)
    assert len(names(model)) == 4


def test_addresses_beyond_63_bits_sort_right() -> None:
    model = TableModel()
    model.set_columns((Column("a", "a", np.array([2**64 - 1, 0, 5], dtype=np.uint64), is_number=True),))
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert model.data_rows.tolist() == [0, 2, 1]


def test_home_and_end_go_to_the_first_and_last_row(view: RowsView) -> None:
    chosen: list[int] = []
    view.chosen.connect(chosen.append)
    view.selectRow(1)
    for key, row in ((Qt.Key.Key_End, 3), (Qt.Key.Key_Home, 0)):
        QTest.keyClick(view, key)
        assert view.currentIndex().row() == row
        assert [index.row() for index in view.selectionModel().selectedRows()] == [row]
    assert chosen == [1, 3, 0]
    view.table.sort(2, Qt.SortOrder.DescendingOrder)
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.current == 3, "the last in the order of the rows: date costs least"
    view.table.set_columns(())
    QTest.keyClick(view, Qt.Key.Key_End)  # there is no row: nothing happens


def test_ctrl_with_left_and_right_scrolls_by_columns(view: RowsView) -> None:
    view.resize(100, 200)
    for at in range(3):
        view.setColumnWidth(at, 100)
    bar, second = view.horizontalScrollBar(), view.header.sectionPosition(1)
    view.selectRow(1)
    assert 0 < second < bar.maximum()
    seen = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left):
        QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
        seen.append(bar.value())
    assert seen == [second, min(bar.maximum(), view.header.sectionPosition(2)), second, 0]
    assert view.currentIndex().row() == 1


def test_the_third_click_on_a_header_returns_to_program_order(view: RowsView) -> None:
    orders = []
    for _ in range(3):
        header = view.header
        at = QPoint(header.sectionViewportPosition(2) + 20, 10)
        left_click(header.viewport(), at)
        orders.append(view.table.data_rows.tolist())
    assert orders == [[1, 0, 2, 3], [3, 0, 2, 1], [0, 1, 2, 3]]


def test_copy_gives_tab_separated_rows_with_headers(view: RowsView) -> None:
    view.selectRow(0)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "pear\t30"
    view.selectAll()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0] == "name\tcost"
    assert lines[2] == "apple\t2000"
    assert len(lines) == 5


def test_columns_are_hidden_by_the_menu_and_remembered(view: RowsView, ui: UiContext, qtbot: object) -> None:
    menu = view.header.menu()
    next(action for action in menu.actions() if action.text() == "cost").trigger()
    assert view.isColumnHidden(2)
    view.setColumnWidth(1, 123)
    view.header.moveSection(1, 0)
    state = view.save_state()
    other = RowsView(ui.theme, ui.settings)
    qtbot.addWidget(other)
    other.load_state(state)  # before there are columns: kept until there are
    other.show_columns(columns())
    assert other.isColumnHidden(2)
    assert other.columnWidth(1) == 123
    assert other.header.visualIndex(1) == 0
    other.load_state({"columns": {"cost": ["x", -3, None], "gone": [0, 10, True]}, "sort": ["gone", True]})


def test_rows_are_chosen_by_mouse_and_keyboard(view: RowsView) -> None:
    chosen: list[int] = []
    view.chosen.connect(chosen.append)
    at = QPoint(60, view.row_top(2) + 5)
    left_click(view.viewport(), at)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert chosen == [2, 1]
    view.set_current(3)
    assert chosen == [2, 1], "the session's own changes are not echoed"
    assert view.current == 3


@pytest.mark.parametrize("key", [Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier])
def test_a_row_that_is_selected_from_elsewhere_is_the_only_one_whatever_keys_are_held(
    view: RowsView, key: Qt.KeyboardModifier
) -> None:
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, key, QPoint(60, view.row_top(0) + 5))
    assert QGuiApplication.keyboardModifiers() == key
    view.set_current(3)
    assert view.selected_rows() == [3]
    view.set_current(2)
    assert view.selected_rows() == [2]
    view.set_current(-1)
    assert view.selected_rows() == []
    assert not view.currentIndex().isValid()


def test_bars_grow_with_the_value_and_nothing_is_not_something() -> None:
    lengths = [bar_length(value, 1_000_000, 100) for value in (0, 1, 100_000, 500_000, 1_000_000)]
    assert lengths == [0, MIN_PX, 10, 50, 100]
    assert bar_length(5, 0, 100) == 0


def test_heat_keeps_the_hottest_row_of_every_pixel() -> None:
    cost = np.zeros(1000, dtype=np.int64)
    cost[[3, 999]] = [50, 100]
    strip = heat(cost, 100)
    assert strip[0] == 0.5
    assert strip[99] == 1.0
    assert np.count_nonzero(strip) == 2
    assert heat(np.array([4, 8]), 4).tolist() == [0.5, 0.5, 1.0, 1.0]
    assert heat(np.zeros(0, dtype=np.int64), 3).tolist() == [0, 0, 0]


def test_other_values_behind_a_filter_that_hides_all_rows_name_no_cell(model: TableModel) -> None:
    """The tester aborts on a change of cells that do not exist."""
    model.set_filter(np.zeros(0, dtype=np.int64))
    model.set_columns(columns((1, 2, 3, 4)))
    assert model.rowCount() == 0
    model.set_filter(None)
    assert model.index(0, 2).data() == "1"


def test_a_tree_takes_no_name_of_a_column_it_lacks(ui: UiContext, qtbot: object) -> None:
    columns = (TreeColumn("name", "name"), TreeColumn("cost", "cost", width=60))
    tree = Tree(TreeNode(), columns, lambda node: "", lambda node: "", lambda node: node.row)
    table = TreeTable(tree, ui, yields={"cost": 100})
    qtbot.addWidget(table)
    with pytest.raises(ValueError, match="is called count"):
        TreeTable(tree, ui, yields={"count": 100})
