"""One tree of what made waves wait: one order, one filter, one selection, whatever it is grouped by."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.features.why.panel import WhyPanel
from rcv_py.ui.core.panel import UiContext
from tests.features.why.test_causes_panel import sample


@pytest.fixture
def why(new_panel: Callable, open_settled: Callable) -> WhyPanel:
    panel = new_panel(WhyPanel, 1000, 320)
    trace, batch = sample()
    open_settled(trace, [batch])
    return panel


def rows(panel: WhyPanel) -> list[tuple[int, float]]:
    return [(node.line, node.cycles) for node in panel.tree.rows.tree.root.children]


def shown(panel: WhyPanel) -> list[str]:
    columns = panel.tree.rows.tree.columns
    return [column.id for at, column in enumerate(columns) if not panel.tree.isColumnHidden(at)]


def test_groupings_share_the_tree(why: WhyPanel, qtbot: QtBot) -> None:
    tree = why.tree
    assert rows(why) == [(-1, 40), (-1, 24)]
    assert shown(why) == ["name", "bar", "cycles", "share", "idle", "hits", "source"]
    assert why.assumption.isVisible()
    QTest.mouseClick(why.choice.buttons["waits"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: rows(why) == [(3, 40), (4, 24)])
    assert shown(why) == ["name", "bar", "cycles", "share", "hits", "median", "p90", "source"]
    assert not why.assumption.isVisible()
    assert "assumption" not in why.note.text()
    why.show_part("bubbles")
    qtbot.waitUntil(lambda: why.chosen_part == "bubbles" and bool(rows(why)))
    assert shown(why) == ["name", "bar", "cycles", "share", "stall", "idle", "drain", "source"]
    assert why.tree is tree
    assert why.part("causes") is why


def test_a_row_is_copied_as_its_columns_show_it(why: WhyPanel) -> None:
    why.tree.setCurrentIndex(why.tree.rows.index_of(why.tree.rows.tree.root.children[0]))
    QTest.keyClick(why.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    cells = dict(zip(shown(why), QGuiApplication.clipboard().text().split("\t"), strict=True))
    assert (cells["cycles"], cells["name"]) == ("40", why.grouping.name(why.tree.rows.tree.root.children[0]))


def test_the_order_and_what_is_open_stay(why: WhyPanel, qtbot: QtBot) -> None:
    tree = why.tree
    tree.expand(tree.rows.index_of(tree.rows.tree.root.children[1]))
    tree.sortByColumn(tree.rows.column_of("cycles"), Qt.SortOrder.AscendingOrder)
    assert [cycles for _, cycles in rows(why)] == [24, 40]
    why.show_part("waits")
    qtbot.waitUntil(lambda: rows(why) == [(4, 24), (3, 40)])
    why.show_part("causes")
    qtbot.waitUntil(lambda: [cycles for _, cycles in rows(why)] == [24, 40])
    first = [tree.isExpanded(tree.rows.index_of(node)) for node in tree.rows.tree.root.children]
    assert first == [True, False], "what was open is open again"


def test_an_order_by_what_a_grouping_lacks_becomes_the_usual_one(why: WhyPanel, qtbot: QtBot) -> None:
    why.show_part("waits")
    qtbot.waitUntil(lambda: rows(why) == [(3, 40), (4, 24)])
    why.tree.sortByColumn(why.tree.rows.column_of("median"), Qt.SortOrder.AscendingOrder)
    why.show_part("causes")
    qtbot.waitUntil(lambda: rows(why) == [(-1, 40), (-1, 24)])
    assert why.tree.rows.sorting == ("bar", Qt.SortOrder.DescendingOrder)
    assert why.tree.header().sortIndicatorSection() == why.tree.rows.column_of("bar")


def test_only_the_result_that_is_shown_is_kept_up_to_date(why: WhyPanel, ui: UiContext, qtbot: QtBot) -> None:
    wanted = {name: ui.results._results[name] for name in why.result_names()}
    assert [name for name, one in wanted.items() if why.visibility in one.wanted_by] == ["attribution"]
    why.show_part("waits")
    qtbot.waitUntil(lambda: rows(why) == [(3, 40), (4, 24)])
    assert [name for name, one in wanted.items() if why.visibility in one.wanted_by] == ["waits"]


def test_a_selection_marks_its_row_in_each_grouping(why: WhyPanel, ui: UiContext, qtbot: QtBot) -> None:
    for name, text in (("waits", "4  s_waitcnt lgkmcnt(0)"), ("bubbles", "4  s_waitcnt lgkmcnt(0)")):
        why.show_part(name)
        qtbot.waitUntil(lambda: bool(rows(why)))
        ui.session.select_line(3)
        ui.session.select_line(4)
        qtbot.waitUntil(lambda text=text: why.tree.currentIndex().siblingAtColumn(0).data() == text)


def test_an_empty_tree_says_that_it_is_computed(ui: UiContext, open_settled: Callable, qtbot: QtBot) -> None:
    panel = WhyPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    said: list[tuple[str, bool]] = []
    say = panel.empty.say
    panel.empty.say = lambda sentence: (
        said.append((str(sentence), bool(panel.tree.rows.tree.root.children))),
        say(sentence),
    )
    trace, batch = sample()
    open_settled(trace, [batch])
    assert panel.empty.currentIndex() == 0
    assert any(sentence.startswith("Computing") for sentence, _ in said)
    before = [sentence for sentence, has_rows in said if not has_rows]
    assert all(before[:-1]), "an empty table is never without a sentence"
