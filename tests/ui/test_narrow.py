"""Columns give way to what matters when there is little room."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.features.hotspot.files_panel import FilesPanel
from rcv_py.features.isa.panel import IsaPanel
from rcv_py.features.isa.rows import LEAST_PX
from rcv_py.features.source.panel import SourcePanel
from rcv_py.formats.open import open_trace
from rcv_py.ui.core.panel import LazyPanel, UiContext
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from tests.support.paths import ROOT


def shown(panel: object) -> list[str]:
    view = panel.view
    return [column.id for at, column in enumerate(view.table.columns) if not view.isColumnHidden(at)]


def place_of(view: RowsView, column: str) -> int:
    return [one.id for one in view.table.columns].index(column)


@pytest.fixture
def settle(ui: UiContext, open_settled: Callable[..., None], qtbot: object) -> Callable[..., None]:
    def show(panel: object, width: int) -> None:
        qtbot.addWidget(panel)
        panel.resize(width, 500)
        panel.show()
        open_settled(open_trace(ROOT / "sample_traces" / "matmul_tiled"))

    return show


def test_source_text_keeps_its_room(ui: UiContext, settle: Callable[..., None], qtbot: object) -> None:
    panel = SourcePanel(ui)
    settle(panel, 330)
    assert "cost" not in shown(panel)
    assert {"line", "bar", "text"} <= set(shown(panel)), "the bar says most in few pixels"
    panel.resize(900, 500)
    qtbot.waitUntil(lambda: "cost" in shown(panel))


def test_costs_of_instructions_stay_in_sight_beside_open_findings(
    ui: UiContext, settle: Callable[..., None]
) -> None:
    """Where no column is left that yields, the text of instructions does, before the table is too wide."""
    panel = IsaPanel(ui)
    settle(panel, 460)
    view = panel.view
    assert shown(panel)[-2:] == ["share_of_total", "cost"]
    assert view.horizontalScrollBar().maximum() == 0
    assert view.columnWidth(place_of(view, "text")) >= LEAST_PX


def test_a_column_the_user_hid_stays_hidden(
    ui: UiContext, settle: Callable[..., None], qtbot: object
) -> None:
    panel = SourcePanel(ui)
    settle(panel, 900)
    at = place_of(panel.view, "cost")
    panel.view.header._show(at, False)
    panel.resize(330, 500)
    panel.resize(900, 500)
    qtbot.wait(20)
    assert "cost" not in shown(panel)


def test_the_tree_of_files_keeps_names(ui: UiContext, settle: Callable[..., None]) -> None:
    panel = FilesPanel(ui)
    settle(panel, 200)
    assert panel.tree.columnWidth(panel.tree.rows.column_of("name")) >= 60
    assert not panel.tree.isColumnHidden(panel.tree.rows.column_of("share"))


def test_a_file_opens_at_its_hottest_line(ui: UiContext, settle: Callable[..., None], qtbot: object) -> None:
    panel = SourcePanel(ui)
    settle(panel, 700)
    lines, view = panel.view.lines, panel.view
    top = view.row_top(int(lines.cost.argmax()))
    qtbot.waitUntil(lambda: 0 <= view.row_top(int(lines.cost.argmax())) < view.viewport().height() or top < 0)
    assert 0 <= view.row_top(int(lines.cost.argmax())) < view.viewport().height()


def test_what_gave_way_comes_back_in_a_wider_window(ui: UiContext, settle: Callable[..., None]) -> None:
    narrow, wide = SourcePanel(ui), SourcePanel(ui)
    settle(narrow, 330)
    assert "cost" not in shown(narrow)
    wide.view.load_state(narrow.view.save_state())
    settle(wide, 900)
    assert "cost" in shown(wide)


def test_widths_of_a_wide_window_do_not_stay_in_a_narrow_one(
    ui: UiContext, settle: Callable[..., None]
) -> None:
    wide, narrow = SourcePanel(ui), SourcePanel(ui)
    settle(wide, 600)
    settle(narrow, 260)
    narrow.view.load_state(wide.view.save_state())
    narrow.view.widths.stretch()
    at = place_of(narrow.view, "text")
    end = narrow.view.columnViewportPosition(at) + narrow.view.columnWidth(at)
    assert end <= narrow.view.viewport().width() + 1


def test_a_width_by_hand_is_kept(ui: UiContext, settle: Callable[..., None]) -> None:
    first, second = SourcePanel(ui), SourcePanel(ui)
    settle(first, 1000)
    settle(second, 1000)
    at = place_of(first.view, "cost")
    first.view.setColumnWidth(at, 133)
    second.view.load_state(first.view.save_state())
    assert second.view.columnWidth(at) == 133
    second.resize(1100, 500)
    assert second.view.columnWidth(at) == 133


def test_columns_grow_with_their_numbers(ui: UiContext, qtbot: object) -> None:
    view = RowsView(ui.theme, ui.settings)
    qtbot.addWidget(view)
    view.show_columns((Column("hits", "hits", np.array([8, 2]), is_number=True, width=30),))
    before = view.columnWidth(0)
    view.show_columns((Column("hits", "hits", np.array([123_456_789_012, 2]), is_number=True, width=30),))
    assert view.columnWidth(0) > before
    view.setColumnWidth(0, 40)
    view.show_columns((Column("hits", "hits", np.array([123_456_789_013, 2]), is_number=True, width=30),))
    assert view.columnWidth(0) == 40


def test_hits_stay_as_long_as_there_is_room_for_stall(ui: UiContext, settle: Callable[..., None]) -> None:
    panel = IsaPanel(ui)
    for width in (1300, 760, 640, 560):
        if panel.view.rows is None:
            settle(panel, width)
        panel.resize(width, 500)
        QApplication.processEvents()
        seen = shown(panel)
        order = ["address", "idle", "stall", "hits", "latency"]
        there = [name in seen for name in order]
        assert there == sorted(there), (width, seen)
    assert "address" not in seen


def test_long_instructions_are_scrolled_to_on_request(ui: UiContext, settle: Callable[..., None]) -> None:
    isa = IsaPanel(ui)
    settle(isa, 560)
    ui.settings["isa.whole_text"] = True
    QApplication.processEvents()
    view = isa.view
    assert view.columnWidth(place_of(view, "text")) >= max(map(len, view.rows.text)) * view.char_px
    assert view.horizontalScrollBar().maximum() > 0
    ui.settings["isa.whole_text"] = False
    QApplication.processEvents()
    assert not view.horizontalScrollBar().maximum()


def test_dense_rows_are_of_14_px_and_letters_fit(ui: UiContext, settle: Callable[..., None]) -> None:
    isa = IsaPanel(ui)
    settle(isa, 900)
    view = isa.view
    before = view.row_height
    ui.settings["look.dense_rows"] = True
    QApplication.processEvents()
    assert view.row_height == 14 < before
    ascent = view.baseline
    assert ascent + QFontMetrics(view._mono).descent() <= 15
    assert view._mono.pointSizeF() > 4
    assert view.char_px < 8
    ui.settings["look.dense_rows"] = False
    QApplication.processEvents()
    assert view.row_height == before


def test_addresses_and_source_places_are_a_command_away(ui: UiContext, settle: Callable[..., None]) -> None:
    isa = IsaPanel(ui)
    settle(isa, 600)
    commands = {one.id: one for one in isa.commands(ui, LazyPanel.of(isa))}
    for name in ("address", "source"):
        command = commands[f"isa.{name}"]
        for is_shown in (True, False):
            command.run()
            assert isa.view.header.is_shown(name) is command.is_checked() is is_shown


def test_source_places_come_where_all_instructions_fit(ui: UiContext, settle: Callable[..., None]) -> None:
    isa = IsaPanel(ui)
    settle(isa, 1900)
    assert {"source", "address", "stall"} <= set(shown(isa))
    isa.resize(700, 500)
    QApplication.processEvents()
    assert not {"source", "address"} & set(shown(isa))


def test_headings_of_bars_are_whole(ui: UiContext, settle: Callable[..., None]) -> None:
    panel = IsaPanel(ui)
    settle(panel, 600)
    ui.settings["look.text_size"] = 0
    panel.set_annotation(Annotation.REASONS)
    view = panel.view
    column = view.table.columns[place_of(view, "cost")]
    assert view.columnWidth(place_of(view, "cost")) >= view.header.needed(column)
