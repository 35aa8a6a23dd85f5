"""One selection, one window of time, and the way back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.waves.populations import POPULATIONS
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import Which
from rcv_py.model.window import TimeWindow
from rcv_py.state.cell import Cell
from rcv_py.state.saved import restore_state, state_of
from rcv_py.state.selection import Selection
from rcv_py.state.session import MIN_VISIBLE_PX, MIN_WINDOW, Session
from rcv_py.state.wave_store import WaveStore
from tests.support.opened import load_all
from tests.support.paths import ROOT
from tests.support.samples import write_sample

TIMES = st.integers(-(1 << 50), 1 << 50)


def test_a_cell_may_hold_an_array() -> None:
    cell: Cell[np.ndarray | None] = Cell(None)
    for value in (np.zeros(3), np.zeros(3), None):
        cell.set(value)
        assert cell.value is value


def test_a_cell_may_hold_a_tuple_of_arrays() -> None:
    cell: Cell[tuple[np.ndarray, ...] | None] = Cell(None)
    for value in ((np.zeros(3),), (np.zeros(3),), (np.zeros(2),)):
        cell.set(value)
        assert cell.value is value


@pytest.fixture(scope="module")
def loaded() -> Session:
    session = Session()
    trace = open_trace(ROOT / "sample_traces" / "matmul_tiled")
    session.open(trace)
    for batch in load_all(trace, workers=0):
        session.store.add(batch)
    return session


@pytest.fixture
def session(loaded: Session) -> Session:
    trace, store = loaded.trace.value, loaded.store
    loaded.open(trace)
    loaded.store = store
    return loaded


def test_a_wave_that_cannot_be_read_is_not_the_one_shown_first(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("straggler", folder)
    trace = open_trace(folder)
    torn = folder / trace.waves.file[0]
    torn.chmod(0o644)
    torn.write_text(torn.read_text()[:2000])
    session = Session()
    session.open(trace)
    batches = list(load_all(trace, workers=0))
    for batch in batches:
        session.store.add(batch)
    session.take_populations(POPULATIONS.of(trace, batches))
    assert session.wave() is not None
    assert session.selection.value.wave != trace.waves.id(0)


def hot_line(session: Session) -> int:
    code = session.trace.value.code
    return int(np.argmax(np.where(code.is_label, -1, code.latency)))


def test_a_line_that_the_wave_never_ran_takes_a_wave_that_did(session: Session) -> None:
    line, before = hot_line(session), session.trace.value.waves.id(0)
    session.select_wave(before)
    assert line not in session.wave().tokens.line
    session.select_line(line)
    assert session.selection.value.wave != before
    assert session.wave().tokens.line[session.token()[1]] == line


def test_a_line_nobody_ran_keeps_the_wave(session: Session) -> None:
    before = session.selection.value.wave
    label = int(np.flatnonzero(session.trace.value.code.is_label)[0])
    session.select_line(label)
    assert session.selection.value == Selection(before, label, None, None)


def test_a_selected_token_is_in_view(session: Session) -> None:
    session.set_view(TimeWindow(session.view.value.begin, session.view.value.begin + 500))
    session.select_line(hot_line(session))
    session.select_hit(3)
    wave, row = session.token()
    span = wave.tokens.span(row)
    assert session.view.value.contains(span.begin)


@pytest.mark.parametrize("which", [None, *Which])
def test_every_jump_to_an_execution_makes_it_wide_enough(session: Session, which: Which | None) -> None:
    line = hot_line(session)
    session.select_line(line)
    span = session.token()[0].tokens.span(session.token()[1])
    px = 13
    width = span.width * session.plot_px // px
    session.set_view(TimeWindow(span.middle - width // 2, span.middle - width // 2 + width))
    before = session.view.value.width
    if which is None:
        session.select_line(line)  # as a click on a row, and in the list of hottest instructions
    else:
        session.select_execution(which)
    wave, row = session.token()
    shown = session.view.value
    assert wave.tokens.span(row).width * session.plot_px >= MIN_VISIBLE_PX * shown.width
    assert shown.contains(wave.tokens.span(row).begin)
    assert shown.width <= before


def test_stepping_walks_tokens_and_hits_and_stops_at_the_ends(session: Session) -> None:
    session.select_line(hot_line(session))
    session.select_hit(0)
    wave, row = session.token()
    session.step_token(+1)
    assert session.token()[1] == row + 1
    session.step_token(-1)
    assert session.token()[1] == row
    session.step_hit(-1)
    assert session.selection.value.hit == 0
    session.step_hit(+1)
    assert session.selection.value.hit == 1
    session.select_token(wave.id, len(wave.tokens) - 1)
    session.step_token(+1)
    assert session.token()[1] == len(wave.tokens) - 1


def test_back_and_forward_restore_selection_and_window(session: Session) -> None:
    session.select_line(hot_line(session))
    session.select_hit(2)
    first, window = session.selection.value, session.view.value
    session.select_line(1)
    session.back()
    assert (session.selection.value, session.view.value) == (first, window)
    session.forward()
    assert session.selection.value.line == 1


def test_a_source_line_selects_its_costliest_instruction(session: Session) -> None:
    line = hot_line(session)
    file, number = session.trace.value.code.chain(line)[0]
    session.select_source(file, number)
    assert (session.selection.value.line, session.selection.value.source) == (line, (file, number))


def test_the_view_stays_inside_and_never_gets_too_narrow(session: Session) -> None:
    outer = session.outer(session.trace.value)
    session.set_view(TimeWindow(outer.begin - 10_000, outer.begin - 9_000))
    assert session.view.value == TimeWindow(outer.begin, outer.begin + 1000)
    session.set_view(TimeWindow(outer.middle, outer.middle + 1))
    assert session.view.value.width == MIN_WINDOW
    session.fit_all()
    assert session.view.value == outer


def test_a_gesture_commits_when_it_ends(session: Session) -> None:
    session.fit_all()
    committed = session.window.value
    session.zoom(0.5, commit=False)
    assert session.window.value == committed
    session.zoom(0.5)
    assert session.window.value == session.view.value != committed


def test_a_place_survives_being_written_down(session: Session) -> None:
    session.select_line(hot_line(session))
    session.select_hit(4)
    here = session.selection.value
    assert Selection.parse(str(here)) == Selection(here.wave, here.line, here.hit)
    with pytest.raises(ValueError, match="not a place"):
        Selection.parse("nonsense")


@given(TIMES, st.integers(1, 1 << 40), st.floats(0.01, 100), st.floats(0, 1))
def test_the_cycle_under_the_mouse_stays_there(begin: int, width: int, factor: float, share: float) -> None:
    old = TimeWindow(begin, begin + width)
    at = begin + int(share * (width - 1))
    new = old.zoomed(factor, at)
    before, after = (at - old.begin) / old.width, (at - new.begin) / new.width
    assert abs(after - before) <= 1 / new.width + 1e-9


@given(TIMES, st.integers(1, 1 << 30), TIMES, st.integers(1, 1 << 30))
def test_a_clamped_window_lies_inside(begin: int, width: int, outer: int, size: int) -> None:
    around = TimeWindow(outer, outer + size)
    found = TimeWindow(begin, begin + width).clamped(around)
    assert around.begin <= found.begin < found.end <= around.end
    assert found.width == min(width, size)


class Watcher:
    """Counts calls."""

    def __init__(self) -> None:
        self.calls = 0

    def call(self) -> None:
        self.calls += 1


def test_a_cell_tells_changes_only_and_keeps_nobody_alive() -> None:
    cell, watcher = Cell(1), Watcher()
    cell.watch(watcher.call)
    cell.set(1)
    assert watcher.calls == 0
    cell.set(2)
    assert watcher.calls == 1
    del watcher
    cell.set(3)
    assert not cell._watchers


# -- executions -------------------------------------------------------------------------------------------


def is_median(session: Session, store: WaveStore, line: int) -> bool:
    """Whether no execution of a line is nearer to the median of all, wave by wave, than the selected one."""
    waves = [store.wave(row) for row in range(len(session.trace.value.waves))]
    found = np.concatenate([wave.tokens.duration[wave.tokens.line == line] for wave in waves])
    wave, row = session.token()
    off = np.abs(found - np.median(found))
    return bool(abs(wave.tokens.duration[row] - np.median(found)) == off.min())


@pytest.mark.parametrize("by", ["line", "source", "range", "key"])
def test_a_row_leads_to_its_median_execution_whatever_is_in_view(session: Session, by: str) -> None:
    line = hot_line(session)
    file, number = session.trace.value.code.chain(line)[0]
    chosen = []
    for begin in (session.view.value.begin, session.view.value.end - 600):
        session.set_view(TimeWindow(begin, begin + 500))
        {
            "line": lambda: session.select_line(line),
            "source": lambda: session.select_source(file, number),
            "range": lambda: session.select_lines(line, line + 1),
            "key": lambda: (session.select_line(line), session.select_execution(Which.MEDIAN)),
        }[by]()
        chosen.append(session.selection.value)
        assert is_median(session, session.store, line)
        session.select_line(1)
        session.fit_all()
    assert chosen[0] == chosen[1]


def test_fastest_and_slowest_and_one_by_one_between_them(session: Session) -> None:
    session.select_line(hot_line(session))
    session.select_execution(Which.FASTEST)
    lengths = []
    for _ in range(5):
        wave, row = session.token()
        lengths.append(int(wave.tokens.duration[row]))
        session.select_execution(Which.SLOWER)
    assert lengths == sorted(lengths)
    session.select_execution(Which.SLOWEST)
    wave, row = session.token()
    slowest = session.selection.value
    assert wave.tokens.duration[row] >= lengths[-1]
    session.select_execution(Which.SLOWER)
    assert session.selection.value == slowest, "there is nothing slower"


def test_a_large_capture_is_looked_through_elsewhere(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.state.executions.QUICK_TOKENS", 1)
    line, visits = hot_line(session), len(session.history.visits)
    session.select_line(line)
    sought = session.executions.sought.value
    assert (session.selection.value.line, session.selection.value.hit) == (line, None)
    assert len(session.history.visits) == visits, "no place until the execution is known"
    session.executions.found(sought, session.executions.of_line(line)())
    assert session.executions.sought.value is None
    assert session.token() is not None
    assert len(session.history.visits) == visits + 1
    session.select_line(line)
    late = session.executions.sought.value
    session.back()
    session.executions.found(late, session.executions.of_line(line)())
    assert session.selection.value.line != line, "who went back is not taken away from there"
    session.forward()
    other = session.selection.value
    session.select_line(line)
    old = session.executions.sought.value
    session.select_line(1)
    session.executions.found(old, session.executions.of_line(line)())
    assert session.selection.value != other, "an answer to an older question changes nothing"


def test_the_median_is_found_again_when_all_waves_are_there(session: Session) -> None:
    trace, whole = session.trace.value, session.store
    session.open(trace)
    line = hot_line(session)
    row = next(row for row in range(len(trace.waves)) if (whole.wave(row).tokens.line == line).any())
    session.store.add(batch_of([whole.wave(row)]))
    session.select_line(line)
    assert session.selection.value.wave == trace.waves.id(row)
    session.store = whole
    session.executions.find_again()
    assert is_median(session, whole, line)
    assert [visit.selection for visit in session.history.visits][-1] == session.selection.value
    assert len(session.history.visits) == 2, "it is the same visit"


def test_a_place_that_was_saved_comes_back_with_its_source_line(session: Session) -> None:
    trace = session.trace.value
    line = int(np.argmax(trace.code.latency))
    session.select(Selection(trace.waves.id(0), line, 0))
    session.toggle_bookmark()
    before = session.selection.value
    assert before.source == trace.code.chain(line)[0]
    state = state_of(session)
    session.select(Selection(trace.waves.id(0)))
    session.bookmarks.set(())
    restore_state(session, state)
    assert session.selection.value == before
    session.toggle_bookmark()
    assert not session.bookmarks.value, "it is the bookmark that was saved"
