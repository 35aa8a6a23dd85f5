"""Results that several panels share: computed when wanted, once, for the capture that is open."""

import gc
import pickle
import weakref
from collections import Counter
from threading import Event

import pytest
from msgspec.structs import replace

from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.progress import Stage
from rcv_py.formats.open import open_trace
from rcv_py.ui.core import shared_results
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.scheduler import LateVisibility
from rcv_py.ui.core.shared_results import STREAM_MS, SharedResults
from rcv_py.ui.core.tasks import MAX_UNCOLLECTED, Tasks
from tests.analysis.in_memory import jumps
from tests.support.equal import differences
from tests.support.fixtures import fixture_of
from tests.support.limits import HANG_S
from tests.ui.window import SAMPLE

trace = fixture_of(open_trace, SAMPLE)


def test_nothing_is_computed_until_wanted(ui, open_settled, settled, trace, qtbot):
    calls = []
    shared = SharedResults(
        ui.session, ui.scheduler, {"count": lambda _, batches: calls.append(1) or len(batches)}
    )
    open_settled(trace, [trace.reader.read([0])])
    assert not calls
    shared.want("count")
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value is not None)
    settled()
    assert (shared.cell("count").value, len(calls)) == (1, 1)


def test_more_waves_make_a_new_answer(ui, open_in, trace, qtbot):
    shared = SharedResults(ui.session, ui.scheduler, {"count": lambda _, batches: len(batches)})
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    ui.session.store.add(trace.reader.read([1]))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: shared.cell("count").value == 2)


def test_while_waves_stream_in_an_arrival_costs_what_arrived(ui, open_in, trace, qtbot, monkeypatch):
    monkeypatch.setattr(shared_results, "STREAM_MS", 0)
    mapped, looks = Counter(), []

    def note(trace, parcel):
        mapped.update(wave.row for wave in parcel.tokens.waves)
        return BRANCHES.map(trace, parcel)

    def look(_, batches):
        looks.append(sum(len(batch.waves) for batch in batches))
        return looks[-1]

    alone = replace(BRANCHES, map=note)
    shared = SharedResults(ui.session, ui.scheduler, {"branches": alone, "together": look})
    ui.session.busy.set((Stage("Reading waves", 0, len(trace.waves)),))
    open_in(trace, [trace.reader.read([0])])
    shared.want("branches")
    shared.want("together")
    rows = range(12)  # the others are missing: the reader was stopped

    def rest():
        qtbot.waitUntil(lambda: ui.scheduler.is_idle)

    for row in rows[1:]:
        rest()
        ui.session.store.add(trace.reader.read([row]))
        ui.session.wave_loaded()
    rest()
    assert mapped == Counter(rows)
    assert looks == [1, 2, 4, 8]
    ui.session.busy.set(())
    rest()
    assert looks[-1] == len(rows)
    found = jumps(ui.session.store.batches, trace.code)
    assert not differences(shared.cell("branches").value, found)
    assert mapped == Counter(rows)


def test_another_capture_forgets_the_answer(ui, open_in, trace, qtbot):
    shared = SharedResults(ui.session, ui.scheduler, {"count": lambda _, batches: len(batches)})
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    open_in(open_trace(SAMPLE), [])
    assert shared.cell("count").value is None


def test_what_only_sleeping_panels_want_waits_until_one_of_them_is_seen(ui, open_in, trace, qtbot):
    calls = []
    shared = SharedResults(
        ui.session, ui.scheduler, {"count": lambda _, batches: calls.append(1) or len(batches)}
    )
    panels = [Panel(ui), Panel(ui)]
    for panel in panels:
        panel.visibility.allow_sleep()
    panels[1].show()
    open_in(trace, [trace.reader.read([0])])
    for panel in panels:
        shared.want("count", panel.visibility)
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    panels[1].hide()
    ui.session.store.add(trace.reader.read([1]))
    ui.session.wave_loaded()
    qtbot.wait(2 * STREAM_MS)
    assert len(calls) == 1, "nobody can see either"
    panels[0].show()
    qtbot.waitUntil(lambda: shared.cell("count").value == 2)


def test_what_somebody_wants_who_is_no_panel_is_always_computed(ui, open_in, trace, qtbot):
    shared = SharedResults(ui.session, ui.scheduler, {"count": lambda _, batches: len(batches)})
    panel = Panel(ui)
    panel.visibility.allow_sleep()
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    shared.want("count", panel.visibility)
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)


class Ahead:
    """Findings that another process made, or failed to make."""

    def __init__(self, trace, pickled):
        self._trace, self._pickled, self.asked = trace, pickled, 0

    def is_of(self, trace, waves, run_files):
        return trace is self._trace and waves == WORKING and not run_files

    def pickled(self):
        self.asked += 1
        return self._pickled


def test_findings_that_were_made_ahead_are_taken_once(ui, open_settled, settled, trace):
    shared = SharedResults(ui.session, ui.scheduler, {})
    made, computed = Findings((), why="made ahead"), []
    shared.findings.ahead = ahead = Ahead(trace, pickle.dumps(made))
    shared.findings.find = lambda *given, **more: computed.append(given) or "found here"
    open_settled(trace, [trace.reader.read(list(range(len(trace.waves))))])
    cell = shared.cell("findings")
    for _ in range(2):
        shared.want("findings")
        settled()
    assert (cell.value.why, ahead.asked, computed) == ("made ahead", 1, [])
    ui.session.waves.set("all")
    settled()
    assert (cell.value, ahead.asked) == ("found here", 1)


def test_findings_that_no_process_made_are_found_here(ui, open_settled, trace, qtbot):
    shared = SharedResults(ui.session, ui.scheduler, {})
    shared.findings.ahead = Ahead(trace, None)
    shared.findings.find = lambda *given, **more: "found here"
    open_settled(trace, [trace.reader.read(list(range(len(trace.waves))))])
    shared.want("findings")
    qtbot.waitUntil(lambda: shared.cell("findings").value == "found here")


def test_what_comes_after_findings_waits_for_waves_and_findings(ui, open_in, trace, qtbot):
    """Findings are computed while a thread is kept busy until they are allowed to stand."""
    shared, order = SharedResults(ui.session, ui.scheduler, {"whole": lambda *_: order.append("whole")}), []
    is_allowed = Event()

    def find(*given, **more):
        assert is_allowed.wait(HANG_S)
        order.append("findings")
        return Findings(())

    shared.findings.find = find
    panel = Panel(ui)
    last = LateVisibility(panel.visibility, lambda: shared.is_finding)
    open_in(trace, [trace.reader.read([0])])
    ui.session.busy.set((Stage("Reading waves", 0, len(trace.waves)),))
    shared.want("findings")
    shared.want("whole", last)
    assert last.is_asleep
    assert not last.is_waking
    ui.session.store.add(trace.reader.read(list(range(1, len(trace.waves)))))
    ui.session.busy.set(())
    qtbot.waitUntil(lambda: shared.is_due("findings"))
    assert last.is_asleep, "findings are computed"
    is_allowed.set()
    qtbot.waitUntil(lambda: len(order) == 2)
    assert order == ["findings", "whole"]
    assert not last.is_asleep


def test_what_comes_after_findings_does_not_wait_for_those_nobody_wants(ui, open_in, trace, qtbot):
    shared, done = SharedResults(ui.session, ui.scheduler, {"whole": lambda *_: done.append(1)}), []
    open_in(trace, [trace.reader.read(list(range(len(trace.waves))))])
    shared.want("whole", LateVisibility(Panel(ui).visibility, lambda: shared.is_finding))
    qtbot.waitUntil(lambda: bool(done))


def test_an_unknown_result_is_an_error(ui):
    with pytest.raises(KeyError):
        SharedResults(ui.session, ui.scheduler, {}).want("nothing")


def test_garbage_is_collected_in_no_thread_but_the_window_s(ui):
    assert not gc.isenabled()
    seen, other = [], Tasks(1)
    other.run(ui.session, lambda: seen.append(gc.isenabled()), lambda _: None)
    other.close()
    assert not gc.isenabled(), "there is a window still"
    ui.tasks.close()
    assert gc.isenabled()
    assert not any(seen)


def test_what_piles_up_is_collected_when_jobs_end(ui, settled):
    class Ring:
        pass

    ring = Ring()
    ring.itself, gone = ring, weakref.ref(ring)
    del ring
    held = [[] for _ in range(MAX_UNCOLLECTED + 1)]
    ui.tasks.run(ui.session, lambda: None, lambda _: None)
    settled()
    assert gone() is None
    assert held
