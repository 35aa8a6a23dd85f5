"""The panels of loops and of bubbles: numbers of the analyses, one click to the place, empty states."""

from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.features.loops import panel as loops_panel
from rcv_py.features.loops.panel import IterationStrip, LoopsPanel
from rcv_py.features.loops.result import SEGMENTS as RESULT
from rcv_py.features.why.bubbles_result import BUBBLES
from rcv_py.features.why.panel import WhyPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import UiContext
from tests.analysis import build
from tests.analysis import test_segments as segments_test
from tests.support.command_runs import printed_json
from tests.support.mouse import left_click
from tests.support.opened import all_waves, sample_trace
from tests.support.paths import ROOT
from tests.support.plain_capture import plain
from tests.support.window_fixtures import Settled, panel_fixture

TEXTS = ["s_mov_b32 s0, 0", "v_add_f32 v0, v0, v1", "v_mul_f32 v0, v0, v1", "s_cbranch_scc1 -3", "s_endpgm"]


def sample(rounds: int = 12, waves: int = 2) -> tuple[Trace, WaveBatch]:
    """Waves that run a loop; the last round but one of the second wave stalls for 30 cycles more."""
    made = []
    for row in range(waves):
        parts, lines = ["S"], [0]
        for number in range(rounds):
            is_slow = row == 1 and number == rounds - 2
            parts += ["vV" if not is_slow else "v" * 31 + "V", "VV", "J" if number < rounds - 1 else "N"]
            lines += [1, 2, 3]
        picture = "|".join([*parts, "I"])
        made.append(build.wave(picture, [*lines, 4], row=row, begin=1000 * row, place=(0, row, 0, 0)))
    return build.trace(build.code(TEXTS), made), build.batch(*made)


loops = panel_fixture(LoopsPanel, 1000, 340)


bubbles = panel_fixture(lambda ui: WhyPanel(ui).part("bubbles"), 900, 320)


@pytest.fixture
def shown(loops: LoopsPanel, open_settled: Callable) -> LoopsPanel:
    trace, batch = sample()
    open_settled(trace, [batch])
    return loops


def values(panel: LoopsPanel, name: str) -> list[object]:
    model = panel.view.table
    column = model.columns[model.column_of(name)]
    return [column.values[row] for row in model.data_rows.tolist()]


def test_a_program_that_has_not_run_has_blocks_with_a_best_order(
    loops: LoopsPanel, open_in: Callable, qtbot: QtBot
) -> None:
    path = ROOT / "sample_traces" / "compiled_rms_norm" / "rms_norm_gfx942.co"
    open_in(open_trace(path), [])
    qtbot.waitUntil(lambda: loops.blocks.table.rowCount() > 0)
    table = loops.blocks.table
    names = ("block", "first_instruction", "length", "best")
    shown = [table.columns[table.column_of(name)].values.tolist() for name in names]
    rows = printed_json("schedule", path)["rows"]
    assert shown == [[row[name] for row in rows] for name in names]
    assert any(best < length for length, best in zip(*shown[2:], strict=True))
    loops.blocks.chosen.emit(1)
    assert loops.session.selection.value.line == rows[1]["first_instruction"]


def test_loops_and_iterations_are_listed(shown: LoopsPanel) -> None:
    table = shown.loops.table
    assert [table.text(0, table.column_of(name)) for name in ("loop", "taken", "waves", "median", "max")] == [
        "1 – 3", "22", "2", "5", "35",
    ]  # fmt: skip
    assert len(shown.strip) == len(shown.rows) == 24
    assert values(shown, "note").count("entry") == 2
    assert "24 iterations, 1 outlier" in shown.note.text()
    assert "prologue" in shown.phases.text()


def test_a_click_on_a_column_selects_its_wave_and_shows_its_time(shown: LoopsPanel, ui: UiContext) -> None:
    box = shown.strip.bar_rect(14)
    left_click(shown.strip, box.center().toPoint())
    one, row = shown.result.loops.iterations, int(shown.rows[14])
    selection = ui.session.selection.value
    assert (selection.wave.simd, selection.line, selection.hit) == (1, 1, 2)
    window = ui.session.window.value
    assert window.begin <= one.begin[row] < one.end[row] <= window.end
    assert window.width <= 40
    assert shown.strip.selected == (14, 15)
    assert shown.view.current == 14


def test_a_click_on_a_row_does_the_same(shown: LoopsPanel, ui: UiContext) -> None:
    view = shown.view
    left_click(view.viewport(), QPoint(20, view.row_top(1) + view.row_height // 2))
    assert shown.strip.selected == (1, 2)
    assert ui.session.selection.value.hit == 1


def test_arrow_keys_step_through_iterations(shown: LoopsPanel, ui: UiContext) -> None:
    shown.strip.setFocus()
    for _ in range(3):
        QTest.keyClick(shown.strip, Qt.Key.Key_Right)
    assert (ui.session.selection.value.hit, 3) == shown.strip.selected
    QTest.keyClick(shown.strip, Qt.Key.Key_End)
    assert shown.strip.selected == (23, 24)


def test_the_sheet_is_what_is_listed(shown: LoopsPanel) -> None:
    sheet = shown.sheet()
    rows = list(sheet.rows)
    assert len(rows) == 24
    assert sheet.headers[:3] == ("wave", "iteration", "start")


def test_tips_name_what_cycles_were_spent_on(shown: LoopsPanel) -> None:
    assert shown.strip.tip(0).splitlines()[0].endswith("iteration 0: 5 cycles")
    assert "VALU: 4  (80 %)" in shown.strip.tip(0)
    assert shown.strip.tip(-1) == ""


def test_many_iterations_behind_a_pixel_show_the_longest(ui: UiContext, qtbot: object) -> None:
    strip = IterationStrip(ui.theme)
    qtbot.addWidget(strip)
    strip.resize(260, 100)
    cycles = np.ones((5000, 14), dtype=np.int64)
    cycles[1234, int(TokenKind.VALU)] = 500
    strip.show_stacks(cycles, tuple(range(14)), np.zeros(0, dtype=np.int64), ("",) * 5000)
    assert strip.bar_at(strip.bar_rect(1234).left()) == 1234
    assert not strip.grab().isNull()


@pytest.mark.parametrize(
    ("lines", "sentence"), [([1, 2, 4], loops_panel.NO_LOOP), (None, "so nothing is known about loops.")]
)
def test_it_says_why_it_is_empty(
    lines: list[int] | None, sentence: str, loops: LoopsPanel, open_in: Callable, qtbot: object
) -> None:
    made = [] if lines is None else [build.wave("V|V|I", lines)]
    open_in(build.trace(build.code(TEXTS), made), [build.batch(*made)] if made else [])
    qtbot.waitUntil(lambda: sentence in loops.empty.sentence.text())
    assert loops.sheet() is None


def test_segments_between_barriers_are_the_other_table(
    loops: LoopsPanel, ui: UiContext, open_in: Callable, qtbot: object, settled: Settled
) -> None:
    """Two waves that take turns: the numbers are those of the drawing in the test of the analysis."""
    waves = [segments_test.ONE, segments_test.OTHER]
    open_in(build.trace(segments_test.CODE, waves), [build.batch(*waves)])
    qtbot.waitUntil(lambda: loops.empty.sentence.text() == loops_panel.NO_LOOP)
    loops.listed.choose("segments")
    settled()
    assert "6 segments" in loops.note.text()
    table = loops.segments.table
    names = ("first_instruction", "last_instruction", "hits", "cycles", "barrier_wait", "meanwhile")
    rows = [[table.text(row, table.column_of(name)) for name in names] for row in range(6)]
    assert ["1", "3", "2", "10", "2", "3 → 1 (100 %)"] in rows
    assert ["3", "1", "2", "10", "7", "1 → 3 (100 %)"] in rows
    loops.segments.chosen.emit(rows.index(["1", "3", "2", "10", "2", "3 → 1 (100 %)"]))
    assert ui.session.selection.value.line == 3
    assert not loops.grab().isNull()
    sheet = loops.sheet()
    assert len(list(sheet.rows)) == 6
    assert "--by=segments" in (loops.command_line() or ())
    open_in(*one_batch(*sample()))
    qtbot.waitUntil(lambda: RESULT.nothing in loops.empty.sentence.text())
    loops.listed.choose("loops")
    qtbot.waitUntil(lambda: len(loops.rows) == 24)
    settled()


def one_batch(trace: Trace, batch: WaveBatch) -> tuple[Trace, list[WaveBatch]]:
    return trace, [batch]


def test_another_capture_replaces_the_first(shown: LoopsPanel, open_in: Callable, qtbot: object) -> None:
    trace, batch = sample(rounds=5, waves=1)
    open_in(trace, [batch])
    qtbot.waitUntil(lambda: len(shown.rows) == 5)


# -- bubbles -------------------------------------------------------------------------------------------


def test_bubbles_are_ranked_and_a_click_selects(
    bubbles: WhyPanel, ui: UiContext, open_settled: Callable
) -> None:
    trace, batch = sample()
    open_settled(trace, [batch])
    model = bubbles.tree.rows
    first = model.index_of(model.tree.root.children[0])
    names = ("name", "cycles", "stall")
    assert [first.siblingAtColumn(model.column_of(name)).data() for name in names] == [
        f"1  {TEXTS[1]}", "54", "54",
    ]  # fmt: skip
    assert "54 of " in bubbles.note.text()
    at = bubbles.tree.visualRect(first).center()
    left_click(bubbles.tree.viewport(), QPoint(80, at.y()))
    assert ui.session.selection.value.line == 1
    sheet = bubbles.sheet()
    assert len(list(sheet.rows)) == 1
    assert not bubbles.grab().isNull()


def test_bubbles_say_why_there_are_none(bubbles: WhyPanel, open_settled: Callable, qtbot: object) -> None:
    busy = build.wave("V|V|I", [1, 2, 4])
    open_settled(build.trace(build.code(TEXTS), [busy]), [build.batch(busy)])
    qtbot.waitUntil(lambda: BUBBLES.nothing in bubbles.empty.sentence.text())
    open_settled(build.trace(build.code(TEXTS), []))
    assert "so nothing is known about bubbles." in bubbles.empty.sentence.text()


@pytest.fixture
def looped() -> tuple[Trace, tuple[float, float, float]]:
    """A capture, and the shortest, median and longest cycles from one begin of its loop to the next.

    The loop runs from instruction 5 to a jump; what begins without one is not counted.
    """
    trace, cycles = sample_trace("combined"), []
    for wave in plain(trace.path).waves:
        begins = [token.time for token in wave.tokens if token.line == 5]
        cycles += [after - before for before, after in pairwise(begins[1:])]
    return trace, (min(cycles), median(cycles), max(cycles))


def test_a_whole_capture(loops: LoopsPanel, looped: tuple, open_settled: Callable) -> None:
    trace, cycles = looped
    open_settled(trace, [all_waves(trace)])
    table = loops.result.loops.table
    assert (table.shortest[0], table.median[0], table.longest[0]) == cycles
    assert not loops.grab().isNull()
    assert isinstance(loops.session.window.value, TimeWindow)
