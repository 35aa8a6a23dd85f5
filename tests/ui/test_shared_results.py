"""Results that several panels share: computed when wanted, once, for the capture that is open."""

from __future__ import annotations

import gc

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.shared_results import STREAM_MS, SharedResults
from rcv_py.ui.core.tasks import Tasks
from tests.ui.window import SAMPLE


@pytest.fixture
def trace():
    return open_trace(SAMPLE)


def test_nothing_is_computed_until_wanted(ui, open_in, settled, trace, qtbot):
    calls = []
    shared = SharedResults(
        ui.session, ui.tasks, {"count": lambda _, batches: calls.append(1) or len(batches)}
    )
    open_in(trace, [trace.reader.read([0])])
    settled()
    assert not calls
    shared.want("count")
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value is not None)
    settled()
    assert (shared.cell("count").value, len(calls)) == (1, 1)


def test_more_waves_make_a_new_answer(ui, open_in, settled, trace, qtbot):
    shared = SharedResults(ui.session, ui.tasks, {"count": lambda _, batches: len(batches)})
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    ui.session.store.add(trace.reader.read([1]))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: shared.cell("count").value == 2)


def test_another_capture_forgets_the_answer(ui, open_in, settled, trace, qtbot):
    shared = SharedResults(ui.session, ui.tasks, {"count": lambda _, batches: len(batches)})
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    open_in(open_trace(SAMPLE), [])
    assert shared.cell("count").value is None


def test_what_only_sleeping_panels_want_waits_until_one_of_them_is_seen(ui, open_in, trace, qtbot):
    calls = []
    shared = SharedResults(
        ui.session, ui.tasks, {"count": lambda _, batches: calls.append(1) or len(batches)}
    )
    panels = [Panel(ui), Panel(ui)]
    for panel in panels:
        panel.visibility.allow_sleep()
    panels[1].show()
    open_in(trace, [trace.reader.read([0])])
    for panel in panels:
        shared.want("count", panel.visibility)
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)
    panels[1].visibility.set_in_front(False)
    ui.session.store.add(trace.reader.read([1]))
    ui.session.wave_loaded()
    qtbot.wait(2 * STREAM_MS)
    assert len(calls) == 1, "nobody can see either"
    panels[0].show()
    qtbot.waitUntil(lambda: shared.cell("count").value == 2)


def test_what_somebody_wants_who_is_no_panel_is_always_computed(ui, open_in, trace, qtbot):
    shared = SharedResults(ui.session, ui.tasks, {"count": lambda _, batches: len(batches)})
    panel = Panel(ui)
    panel.visibility.allow_sleep()
    open_in(trace, [trace.reader.read([0])])
    shared.want("count")
    shared.want("count", panel.visibility)
    qtbot.waitUntil(lambda: shared.cell("count").value == 1)


def test_an_unknown_result_is_an_error(ui):
    with pytest.raises(KeyError):
        SharedResults(ui.session, ui.tasks, {}).want("nothing")


def test_garbage_is_not_collected_in_the_thread_of_a_job(ui, settled):
    assert gc.isenabled()
    seen = []
    ui.tasks.run(ui.session, lambda: seen.append(gc.isenabled()), lambda _: None)
    settled()
    assert seen == [False]
    assert gc.isenabled()
    other = Tasks(1)
    other.run(ui.session, lambda: seen.append(gc.isenabled()), lambda _: None)
    other.close()
    assert gc.isenabled()
