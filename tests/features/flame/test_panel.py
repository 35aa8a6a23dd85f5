"""The flamegraph panel: what it shows and selects, and what it says where there is nothing."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.analysis.flame.flame import Metric, What
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.base.colors import contrast
from rcv_py.features.flame.choices import Content
from rcv_py.features.flame.panel import NO_PLACE, NOT_IN_RANGE, FlamegraphPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.flame.flame_paint import MATCH, QUIET, FlamePainter
from tests.support.code_samples import code_table, trace
from tests.support.flames import (
    LOAD,
    MFMA,
    WAIT,
    Settled,
    box_of,
    choose,
    click,
    double_click,
    flames,
    frame,
    hover,
    key,
    opened,
    way,
)
from tests.support.opened import all_waves
from tests.support.samples import sample_path

__all__ = ["flames", "opened"]


# -- showing ------------------------------------------------------------------------------------------


def test_files_lines_and_instructions_lie_inside_each_other(opened: FlamegraphPanel) -> None:
    scene = opened.view.scene
    assert scene.boxes.whole == 3110
    wait = frame(opened, WAIT)
    assert [scene.labels[one] for one in scene.tree.ancestors(wait)] == [
        "kernels/attn.py", "kernels/attn.py:3", WAIT,
    ]  # fmt: skip
    inner, outer = box_of(opened.view, wait), box_of(opened.view, frame(opened, "kernels/attn.py"))
    assert inner[1] > outer[1], "roots hang on top"
    assert outer[0] <= inner[0]
    assert inner[0] + inner[2] <= outer[0] + outer[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_frames_have_the_colours_of_their_kinds_also_after_a_switch(
    opened: FlamegraphPanel, ui: UiContext, settled: Settled, theme: str
) -> None:
    ui.settings["look.theme"] = "dark" if theme == "light" else "light"
    opened.grab()
    ui.settings["look.theme"] = theme
    settled()
    image = opened.view.viewport().grab().toImage()
    for text, kind in ((WAIT, TokenKind.IMMED), (MFMA, TokenKind.MATRIX), (LOAD, TokenKind.LDS)):
        left, top, width, height = box_of(opened.view, frame(opened, text))
        found = image.pixelColor(round(left + width - 4), round(top + height - 3))
        assert found.name() == ui.theme.kind(kind).name()
    assert image.pixelColor(5, image.height() - 5).name() == ui.theme.role("canvas").name()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_every_frame_can_be_read(ui: UiContext, theme: str) -> None:
    ui.settings["look.theme"] = theme
    painter = FlamePainter(ui.theme)
    for code in (*range(QUIET + 1), MATCH):
        ratio = contrast(painter.ink(code).name(), painter.fill(code).name())
        assert ratio >= 4 or code < 14, (code, ratio)
        assert ratio >= 3, (code, ratio)


def test_measures_and_orders_change_the_widths_and_places(opened: FlamegraphPanel, settled: Settled) -> None:
    choose(opened, settled, metrics=Metric.STALL)
    assert opened.view.scene.boxes.whole == 2210
    choose(opened, settled, metrics=Metric.HITS, orders=SiblingOrder.EXECUTION)
    scene = opened.view.scene
    assert scene.boxes.whole == 20
    assert scene.boxes.begin[frame(opened, "s_load_dword")] == 0
    choose(opened, settled, orders=SiblingOrder.NAME)
    roots = [scene.labels[at] for at in opened.view.scene.by_row[0].tolist()]
    assert roots == sorted(roots)


def test_what_is_hidden_is_computed_when_it_is_wanted(
    opened: FlamegraphPanel, ui: UiContext, settled: Settled, qtbot: QtBot
) -> None:
    assert ui.results.cell("hidden").value is None
    choose(opened, settled, metrics=Metric.NONHIDDEN)
    settled()
    qtbot.waitUntil(lambda: opened.view.scene.tree.has_hidden)
    hidden = ui.results.cell("hidden").value.hidden(trace().code)
    assert opened.view.scene.boxes.whole == 3110 - int(hidden.sum())
    assert opened.note.text() == ui.results.cell("hidden").value.assumption
    ui.session.clock_range.set(TimeWindow(0, 600))
    qtbot.waitUntil(lambda: opened.note.text() == NOT_IN_RANGE)


def test_idle_counts_if_the_option_says_so(opened: FlamegraphPanel, ui: UiContext, qtbot: QtBot) -> None:
    ui.settings["isa.show_idle"] = False
    qtbot.waitUntil(lambda: opened.view.scene.boxes.whole == 3000)


# -- selecting ----------------------------------------------------------------------------------------


def test_a_click_on_an_instruction_selects_it_everywhere(opened: FlamegraphPanel) -> None:
    click(opened, WAIT)
    selection = opened.session.selection.value
    assert (selection.line, selection.source) == (3, (0, 3))
    assert selection.hit is not None
    assert opened.view._selected[frame(opened, WAIT)]


def test_a_click_on_a_line_or_file_selects_a_source_line(opened: FlamegraphPanel) -> None:
    click(opened, "lib/attn.py:2")
    assert opened.session.selection.value.source == (1, 2)
    click(opened, "kernels/attn.py")
    assert opened.session.selection.value.source == (0, 3), "its most expensive line"


def test_what_is_selected_elsewhere_is_outlined(opened: FlamegraphPanel, ui: UiContext) -> None:
    ui.session.select_line(4)
    at = frame(opened, MFMA)
    image = opened.view.viewport().grab().toImage()
    left, top, _, height = box_of(opened.view, at)
    assert image.pixelColor(round(left), round(top + height / 2)).name() == ui.theme.role("accent").name()


def test_hovering_tells_everything(opened: FlamegraphPanel) -> None:
    hover(opened, LOAD)
    assert opened.view.hover_frame == frame(opened, LOAD)
    assert "300 cycles" in opened.detail.text()
    assert opened.session.hover.value == Hover(line=2)
    tip = opened.view.tip(frame(opened, LOAD))
    for part in (LOAD, "instruction 2", "9.6 % of all", "100.0 % of its parent", "stall 200", "executions 4"):
        assert part in tip, part
    tip = opened.view.tip(frame(opened, "lib/attn.py:2"))
    for part in ("/src/lib/attn.py:2", "return a * b", "MFMA/WMMA: 66.7 %"):
        assert part in tip, part
    hover(opened, "lib/attn.py:2")
    assert opened.session.hover.value == Hover(source=(1, 2))
    QApplication.sendEvent(opened.view, QEvent(QEvent.Type.Leave))
    assert opened.session.hover.value is None
    event = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), opened.view.mapToGlobal(QPoint(5, 5)))
    assert opened.view.viewportEvent(event)


# -- sandwich, markers, kernels -----------------------------------------------------------------------


def test_a_sandwich_shows_callers_above_and_callees_below_the_selected_line(
    opened: FlamegraphPanel, ui: UiContext, settled: Settled, qtbot: QtBot
) -> None:
    choose(opened, settled, contents=Content.SANDWICH)
    assert opened.empty.sentence.text() == NO_PLACE
    ui.session.select_source(0, 3)
    qtbot.waitUntil(lambda: not opened.empty.is_empty)
    scene = opened.view.scene
    assert scene.labels[0] == "kernels/attn.py:3"
    assert scene.boxes.whole == 2010 + 300
    above = [scene.labels[at] for at in scene.by_row[-1 - scene.low].tolist()]
    assert above == ["kernels/attn.py", "lib/attn.py:2"]
    assert {scene.labels[at] for at in scene.by_row[1 - scene.low].tolist()} == {WAIT, LOAD}
    click(opened, WAIT)
    settled()
    assert ui.session.selection.value.line == 3
    assert opened.view.scene is scene, "a click inside keeps the place in the middle"
    opened.view.set_focus_frame(0)
    key(opened, Qt.Key.Key_Up)
    assert scene.boxes.row[opened.view.focus_frame] == -1
    key(opened, Qt.Key.Key_Down)
    assert opened.view.focus_frame == 0
    ui.session.select_source(1, 2)
    qtbot.waitUntil(lambda: opened.view.scene.labels[0] == "lib/attn.py:2")


def test_the_menu_copies_and_puts_a_frame_into_the_middle(opened: FlamegraphPanel, settled: Settled) -> None:
    menu = opened.menu_for(frame(opened, LOAD))
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy stack"].trigger()
    stack = QGuiApplication.clipboard().text().split("\n")
    assert stack == ["/src/lib/attn.py", "/src/lib/attn.py:2", "/src/kernels/attn.py:3", LOAD]
    actions["Callers and callees"].trigger()
    settled()
    assert opened.choices.content is Content.SANDWICH
    assert opened.view.scene.labels[0] == LOAD
    file = int(np.flatnonzero(opened.view.scene.tree.what == What.FILE)[0])
    assert not opened.menu_for(file).actions()[1].isEnabled(), "a file is not called"


def test_code_without_sources_shows_kernels_and_blocks(
    flames: FlamegraphPanel, ui: UiContext, open_settled: Callable
) -> None:
    open_settled(trace(code_table(has_source=False)))
    assert "No source places" in flames.note.text()
    assert flames.view.scene.labels[0] == "my_kernel"
    assert "lines 0 to 6" in flames.view.tip(frame(flames, "entry"))
    click(flames, "entry")
    assert ui.session.selection.value.lines == (0, 7)
    click(flames, "my_kernel")
    assert ui.session.selection.value.lines == (0, 8)


def test_scopes_of_markers(
    flames: FlamegraphPanel, ui: UiContext, open_in: Callable, settled: Settled, qtbot: QtBot
) -> None:
    real = open_trace(sample_path("markers"))
    open_in(real, [all_waves(real)])
    choose(flames, settled, metrics=Metric.STALL, contents=Content.MARKERS)
    assert flames.choices.metrics.currentText() == "Duration", "scopes have no stall"
    qtbot.waitUntil(lambda: flames.view.scene is not None and not flames.empty.is_empty)
    qtbot.waitUntil(lambda: flames.view.scene.labels[0] == "matmul_wmma")
    before = ui.session.selection.value
    click(flames, "WaveTile::load")
    assert ui.session.selection.value == before
    choose(flames, settled, contents=Content.MARKED)
    scene = flames.view.scene
    matrix = frame(flames, "v_wmma")
    assert [scene.labels[one] for one in scene.tree.ancestors(matrix)][:3] == [
        "matmul_wmma", "multiply", "matmul_wmma.hip",
    ]  # fmt: skip


def test_without_markers_it_says_how_to_get_some(opened: FlamegraphPanel, settled: Settled) -> None:
    for content in (Content.MARKERS, Content.MARKED):
        choose(opened, settled, contents=content)
        assert opened.empty.is_empty
        assert "s_ttracedata" in opened.empty.sentence.text()
    choose(opened, settled, contents=Content.SOURCE)
    assert not opened.empty.is_empty


def test_samples_have_two_measures(flames: FlamegraphPanel, open_settled: Callable) -> None:
    table = code_table()
    nothing = np.zeros(8, dtype=np.int64)
    samples = np.array([0, 1, 2, 0, 5, 0, 0, 9])
    code = replace(
        table, latency=nothing, stall=nothing, idle=nothing, samples_issued=samples, samples_stalled=samples
    )
    open_settled(trace(code, has_thread_trace=False, has_pc_samples=True))
    assert flames.view.scene.boxes.whole == 34
    texts = [flames.choices.metrics.itemText(at) for at in range(4)]
    assert texts[::2] == ["Samples", "Stalled samples"]
    enabled = [flames.choices.metrics.model().item(at).isEnabled() for at in range(4)]
    assert enabled == [True, False, True, False]
    assert " samples: " in flames.view.tip(0)
    assert "executions" not in flames.view.tip(0)


def test_code_that_never_ran_says_so(flames: FlamegraphPanel, open_settled: Callable) -> None:
    rows = ((("s_nop 0"), TokenKind.IMMED, 0, 0, 0, 0, ((0, 2),)),)
    open_settled(trace(code_table(rows)))
    assert "No instruction was executed" in flames.empty.sentence.text()
    open_settled(trace(code_table(())))
    assert "no instructions" in flames.empty.sentence.text()


# -- the rest -----------------------------------------------------------------------------------------


def test_the_caption_names_the_choices(opened: FlamegraphPanel) -> None:
    assert opened.caption() == "Source and ISA, Total latency, Left heavy"


def test_the_choices_are_kept(opened: FlamegraphPanel, settled: Settled) -> None:
    choose(opened, settled, contents=Content.KERNEL, metrics=Metric.STALL, orders=SiblingOrder.NAME)
    state = opened.save_state()
    choose(opened, settled, contents=Content.SOURCE, metrics=Metric.TOTAL, orders=SiblingOrder.HEAVY)
    opened.load_state({"content": 7, "metric": None})
    assert opened.choices.content is Content.SOURCE
    opened.load_state(state)
    settled()
    assert opened.save_state() == state
    assert opened.view.scene.labels[0] == "my_kernel"


def test_another_capture_forgets_zoom_and_place(opened: FlamegraphPanel, open_settled: Callable) -> None:
    double_click(opened, LOAD)
    open_settled(trace())
    assert way(opened) == ["All"]
    assert opened.session.selection.value == Selection(trace().waves.id(0))


def test_everything_has_a_name_for_readers_of_screens(opened: FlamegraphPanel) -> None:
    choices = opened.choices
    for widget in (choices.contents, choices.metrics, choices.orders):
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    hover(opened, LOAD)
    assert "300 cycles" in opened.view.accessibleDescription()
    assert opened.crumbs.accessibleName()


def test_it_says_that_it_is_computed(ui: UiContext, qtbot: QtBot, open_in: Callable) -> None:
    panel = FlamegraphPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    open_in(open_trace(sample_path("matmul_small")), [])
    assert panel.view.scene is None
    assert panel.view.frame_text() == ""
    assert panel.empty.sentence.text() == "Computing the flame graph …"
    qtbot.waitUntil(lambda: panel.view.scene is not None)
    assert panel.empty.currentIndex() == 0
