"""The latency panel: what is hidden, how long memory takes, and why there is nothing."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from rcv_py.analysis.latency import hidden_latency, memory_latency
from rcv_py.features.latency import result as results
from rcv_py.features.latency.panel import LatencyPanel, memory_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import Spec
from rcv_py.state.selection import Selection
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.shared_results import JOBS, SharedResults
from tests.analysis import build
from tests.analysis.test_access_holds import CODE as QUEUED
from tests.analysis.test_access_holds import queue
from tests.support.code_samples import trace, two_waves
from tests.support.mouse import left_click
from tests.support.opened import all_waves, sample_trace
from tests.support.window_fixtures import panel_fixture
from tests.ui.window import legend_names

HIDDEN, MEMORY, ACCESS, FETCH, ADDRESS = range(5)
OURS, REFERENCE = 0, 1
ELSEWHERE = 7  # an instruction whose latency no counter tells
UNITS = {"ds_": "LDS", "s_l": "SMEM", "glo": "VMEM"}  # by what a mnemonic begins with


panel = panel_fixture(LatencyPanel, 1200, 300)


@pytest.fixture
def counters() -> tuple[Trace, WaveBatch]:
    found = sample_trace("counters")
    return found, found.reader.read(list(range(len(found.waves))))


def measured(counters: tuple[Trace, WaveBatch]) -> list[int]:
    """Instructions whose latency counters tell, in the order of the table."""
    lines = memory_latency.MEMORY[ReferenceRule.OURS].of(counters[0], [counters[1]]).line.tolist()
    assert len(lines) > 3
    assert ELSEWHERE not in lines
    return lines


def waits_of(counters: tuple[Trace, WaveBatch]) -> SimpleNamespace:
    """Latencies that waits tell: of the last instruction that counters know, too, and of another one."""
    return SimpleNamespace(
        line=np.array([measured(counters)[-1], ELSEWHERE], dtype=np.int32),
        exact=np.array([30, 8]),
        median=np.array([104.0, 900.0]),
        p90=np.array([150.0, 990.0]),
    )


@pytest.fixture
def show(panel: LatencyPanel, open_settled: Callable, settled: Callable) -> Callable[..., None]:
    """Choose what is listed, of the capture that is open or of the given one."""

    def chosen(kind: int, *opened: Any) -> None:
        if opened:
            open_settled(*opened)
        panel.kind.setCurrentIndex(kind)
        settled()

    return chosen


def column(panel: LatencyPanel, name: str) -> list[Any]:
    at = panel.view.table.column_of(name)
    assert at >= 0, f"no column {name}"
    return list(panel.view.table.columns[at].values)


def test_hidden_latency(panel: LatencyPanel, show: Callable, counters: tuple) -> None:
    found, waves = counters
    show(HIDDEN, found, [waves])
    expected = hidden_latency.HIDDEN[ReferenceRule.OURS].of(found, [waves])
    rows = panel.result.line
    np.testing.assert_array_equal(column(panel, "hidden"), expected.hidden(found.code)[rows])
    np.testing.assert_array_equal(column(panel, "not_hidden"), expected.nonhidden(found.code)[rows])
    assert np.all(np.diff(column(panel, "not_hidden")) <= 0)
    assert panel.assumption.text() == expected.assumption
    assert panel.assumption.isVisible()
    assert "cycles hidden" in panel.note.text()
    assert legend_names(panel.legend) == ("stall", "issue", "idle", "hidden")


def test_memory_latency(panel: LatencyPanel, show: Callable, counters: tuple) -> None:
    found, waves = counters
    show(MEMORY, found, [waves])
    expected = memory_latency.MEMORY[ReferenceRule.OURS].of(found, [waves])
    for name in ("mean", "samples", "issue", "stall"):
        np.testing.assert_array_equal(column(panel, name), getattr(expected, name))
    np.testing.assert_array_equal(column(panel, "standard_deviation"), expected.std)
    np.testing.assert_array_equal(column(panel, "standard_error"), expected.error)
    texts = [found.code.text[line] for line in measured(counters)]
    assert list(column(panel, "counter")) == [UNITS[text[:3]] for text in texts]
    assert expected.assumption in panel.assumption.text()
    kinds = {TokenKind(kind).name for kind in found.code.kind[measured(counters)].tolist()}
    assert len(legend_names(panel.legend)) == len(kinds) > 1
    assert set(legend_names(panel.legend)) == kinds


def test_waits_tell_latencies_beside_the_counters_and_without_them(
    ui: UiContext, open_settled: Callable, settled: Callable, qtbot: object, counters: tuple
) -> None:
    jobs = {**JOBS, "waits": lambda _, batches: SimpleNamespace(latency=waits_of(counters))}
    results = SharedResults(ui.session, ui.scheduler, jobs)
    panel = LatencyPanel(replace(ui, results=results))
    qtbot.addWidget(panel)
    panel.show()
    found, waves = counters
    open_settled(found, [waves])
    panel.kind.setCurrentIndex(MEMORY)
    settled()
    lines = measured(counters)
    assert column(panel, "instruction") == [*lines, ELSEWHERE]
    medians = [str(number) for number in column(panel, "median")]
    assert medians == [*["nan"] * (len(lines) - 1), "104.0", "900.0"]
    rows = list(panel.sheet().rows)
    assert rows[0][-5:-2] == ("", "", "")
    assert rows[-1][4:10] == ("", "", "", "", "", "")
    assert panel.view.table.text(0, panel.view.table.column_of("median")) == "–"
    open_settled(replace(found, counter_names=(), counters=()), [waves])
    assert column(panel, "instruction") == [ELSEWHERE, lines[-1]]
    assert column(panel, "p90") == [990.0, 150.0]
    assert "SQ_INST_LEVEL_VMEM" in panel.assumption.text()


def test_accesses_that_hold_their_unit_too_long_say_so(panel: LatencyPanel, show: Callable) -> None:
    """Ten waves at once, each of which gets LDS 16 cycles after the one before; the width needs 8."""
    waves = queue(0, 16)
    show(ACCESS, build.trace(QUEUED, waves), [build.batch(*waves)])
    names = ("instruction", "unit", "refused", "stall", "held", "needed", "judgement")
    shown = [column(panel, name)[0] for name in names]
    assert shown == [0, "LDS", 9, 16 * sum(range(10)), 16, 8, "bank conflicts likely"]
    assert results.ACCESS_NOTE in panel.assumption.text()
    assert "1 instruction held the unit longer" in panel.note.text()
    assert legend_names(panel.legend) == ("stall",)
    assert panel.caption() == "LDS and memory accesses"
    words = panel.command_line()
    assert words is not None
    assert "--by=access" in words
    assert not [word for word in words if word.startswith(("--rule", "--no-idle"))]


def test_code_that_was_not_in_the_cache_is_listed_and_selected(panel: LatencyPanel, show: Callable) -> None:
    """A line of 64 bytes has eight of these instructions; a wave waits 100 cycles for the second line."""
    code = build.code([f"v_add_u32 v{at}, v1, v2" for at in range(16)])
    wave = build.wave(f"V|V|{'.' * 100}V|V", [6, 7, 8, 9])
    show(FETCH, build.trace(code, [wave]), [build.batch(wave)])
    names = ("first_instruction", "last_instruction", "slow", "cycles")
    assert [column(panel, name)[0] for name in names] == [8, 15, 1, 100]
    assert "1 slow fetch, 100 cycles" in panel.note.text()
    panel.view.chosen.emit(0)
    assert panel.session.selection.value.line == 8
    show(HIDDEN)


@pytest.mark.parametrize(("kind", "spec"), [(ACCESS, results.ACCESSES), (FETCH, results.FETCHES)])
def test_what_has_no_rows_says_why(panel: LatencyPanel, show: Callable, kind: int, spec: Spec) -> None:
    wave = build.wave("V|V", [0, 1])
    show(kind, build.trace(build.code(["v_mov_b32 v0, 0", "s_endpgm"]), [wave]), [build.batch(wave)])
    assert spec.nothing in panel.empty.sentence.text()


def test_no_wait_told_anything(counters: tuple) -> None:
    found, waves = counters
    empty = np.zeros(0)
    none = SimpleNamespace(line=empty.astype(np.int32), exact=empty, median=empty, p90=empty)
    table = memory_latency.MEMORY[ReferenceRule.OURS].of(found, [waves])
    for waits in (None, none):
        assert memory_rows(found, table, waits).line.tolist() == measured(counters)
        without = memory_latency.MEMORY[ReferenceRule.OURS].of(replace(found, counters=()), [waves])
        assert not len(memory_rows(found, without, waits))


def test_a_click_and_the_keyboard_select_the_line(panel: LatencyPanel, open_settled: Callable) -> None:
    open_settled(trace(), [two_waves()])
    lines = panel.result.line.tolist()
    where = QPoint(60, panel.view.row_rect(1).center().y())
    left_click(panel.view.viewport(), where)
    assert panel.session.selection.value.line == lines[1]
    QTest.keyClick(panel.view, Qt.Key.Key_Down)
    assert panel.session.selection.value.line == lines[2]
    panel.session.select_line(lines[0])
    assert panel.view.current == 0
    panel.session.select_line(0)
    assert panel.view.current == -1, "a label is not listed"
    panel.view.hovered.emit(1)
    assert panel.session.hover.value.line == lines[1]
    panel.view.hovered.emit(-1)
    assert panel.session.hover.value is None


def test_idle_time_counts_if_it_is_shown(
    panel: LatencyPanel, open_settled: Callable, counters: tuple
) -> None:
    found, waves = counters
    open_settled(found, [waves])
    with_idle = sum(column(panel, "total"))
    panel.ui.settings["isa.show_idle"] = False
    assert with_idle - sum(column(panel, "total")) == found.code.idle.sum()
    assert not any(column(panel, "hidden_idle"))


@pytest.mark.parametrize("kind", [HIDDEN, MEMORY, ACCESS, FETCH])
def test_samples_are_no_thread_trace(panel: LatencyPanel, show: Callable, kind: int) -> None:
    show(kind, trace(has_thread_trace=False, has_pc_samples=True))
    assert "PC samples" in panel.empty.sentence.text()
    assert legend_names(panel.legend) == ()
    assert not panel.assumption.isVisible()


def test_without_counters_it_says_which_and_how(panel: LatencyPanel, show: Callable) -> None:
    show(MEMORY, trace(), [two_waves()])
    text = panel.empty.sentence.text()
    for word in ("SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_LDS", "rocprofv3"):
        assert word in text
    assert panel.sheet() is None


def test_until_waves_are_read_it_says_so(panel: LatencyPanel, open_settled: Callable) -> None:
    open_settled(trace())
    assert panel.empty.sentence.text() == "Reading waves, 0 of 2, for latency …"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_have_the_colours_of_the_theme(
    panel: LatencyPanel, show: Callable, open_settled: Callable, counters: tuple, theme: str
) -> None:
    ui = panel.ui
    ui.settings["look.theme"] = "dark" if theme == "light" else "light"
    found, waves = counters
    open_settled(found, [waves])
    ui.settings["look.theme"] = theme
    role = ui.theme.role
    assert {role("stall").rgb(), role("issue").rgb(), role("hidden").rgb()} <= colors(panel)
    panel.resize(1200, 1600)  # all rows have room
    show(MEMORY)
    kinds = {ui.theme.kind(kind).rgb() for kind in (TokenKind.FLAT, TokenKind.LDS)}
    assert kinds | {role("text").rgb()} <= colors(panel)


def colors(panel: LatencyPanel) -> set[int]:
    """Colours of the cells with bars."""
    image = panel.view.viewport().grab().toImage()
    cells = [panel.view.cell_rect(row, "bar") for row in range(len(panel.result))]
    return {
        image.pixelColor(x, y).rgb()
        for cell in cells
        for x in range(cell.left(), cell.right())
        for y in range(cell.top(), min(cell.bottom(), image.height()))
    }


def test_state_is_kept(panel: LatencyPanel, show: Callable, counters: tuple) -> None:
    show(MEMORY)
    state = panel.save_state()
    show(HIDDEN)
    panel.load_state(state)
    assert panel.caption() == "Memory latency"
    panel.load_state({"kind": 7, "table": None})
    assert panel.caption() == "Memory latency"


def test_the_sheet_has_what_is_shown(panel: LatencyPanel, open_settled: Callable, counters: tuple) -> None:
    found, waves = counters
    open_settled(found, [waves])
    sheet = panel.sheet()
    rows = list(sheet.rows)
    assert len(rows) == int((found.code.hits > 0).sum())
    assert sheet.headers[:5] == ("#", "instruction", "source", "cost", "total")
    costs = hidden_latency.HIDDEN[ReferenceRule.OURS].of(found, [waves]).nonhidden(found.code)
    assert rows[0][1] == found.code.text[int(np.argmax(costs))]


def test_another_capture_forgets_the_rows(
    panel: LatencyPanel, open_settled: Callable, counters: tuple
) -> None:
    found, waves = counters
    open_settled(found, [waves])
    panel.session.select_line(7)
    assert panel.result is not None
    open_settled(trace(has_thread_trace=False), [])
    assert panel.result is None
    assert panel.sheet() is None
    assert panel.session.selection.value == Selection() or panel.view.current <= len(
        panel.view.table.data_rows
    )


def test_recorded_addresses_are_listed_with_what_they_touch(panel: LatencyPanel, show: Callable) -> None:
    """60 lanes on average: each store touches a line a lane, where 60 x 4 bytes need two of 128."""
    found = sample_trace("addresses")
    show(ADDRESS, found, [all_waves(found)])
    rows = dict(zip(column(panel, "kind"), column(panel, "judgement"), strict=True))
    assert rows["store"] == "lanes apart: 60.0 lines, 2.0 needed"
    assert rows["lds_load"] == "bank conflicts: 60.0 passes, 2.0 needed"
    assert rows["load"] == "lines as its bytes need"
    assert rows["lds_store"] == "no bank conflicts"
    assert "128 bytes" in panel.assumption.text()
    assert legend_names(panel.legend) == ("needed", "beyond need")
    assert "--by=address" in (panel.command_line() or ())
    panel.view.chosen.emit(0)
    text = found.code.text[panel.session.selection.value.line or 0]
    assert text.startswith(("global_store", "ds_read"))
    show(ACCESS)
    judged = dict(zip(column(panel, "text"), column(panel, "judgement"), strict=True))
    assert judged[text].startswith(("lanes apart: ", "bank conflicts: ")), "what is known is not inferred"


def test_without_addresses_it_says_how_to_record_them(panel: LatencyPanel, show: Callable) -> None:
    show(ADDRESS, trace(), [two_waves()])
    assert "SQTT_TRACE_ADDRESSES" in panel.empty.sentence.text()
