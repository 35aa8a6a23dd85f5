"""Answers count all waves that were read: mapped where they are read, or read again when they are needed."""

from collections import Counter
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.events.marker_spans import MARKERS
from rcv_py.analysis.flame.flame import Metric
from rcv_py.analysis.flame.flame_frames import marked_tree, scoped_costs
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.features.flame.choices import Content, FlameChoice, scene_job
from rcv_py.features.hotspot.panel import HotspotPanel
from rcv_py.features.line.token_panel import TokenDetailsPanel
from rcv_py.features.time.compute_unit_panel import ComputeUnitPanel
from rcv_py.features.time.overview_panel import OverviewPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.ids import WaveId
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.state import incremental
from rcv_py.state.selection import Selection
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.loader import AGAIN, Loader
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.work import findings, load, reduce
from rcv_py.work.load import prepare
from tests.analysis.in_memory import hotspot
from tests.support.equal import differences
from tests.support.samples import sample_path
from tests.support.wave_folder import reader, trace, wave

WAVES, HELD = 12, 3
EVER = TimeWindow(0, 10_000)


@pytest.fixture
def capture(tmp_path: Path) -> Trace:
    return trace(reader(tmp_path, {f"{row}.json": wave() for row in range(WAVES)}))


@pytest.fixture
def everything(capture: Trace) -> WaveBatch:
    return prepare(capture.reader, list(range(WAVES)))


@pytest.fixture
def loader(qtbot: QtBot, capture: Trace, ui: UiContext, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loader]:
    """It reads a wave at a time, and memory holds three of them."""
    del qtbot
    monkeypatch.setattr(load, "SMALL_JOB_BYTES", 1)
    monkeypatch.setattr(load, "JOB_BYTES", 1)
    monkeypatch.setattr(reduce, "SLAB_BYTES", 1)
    made = Loader(ui.session, Settings(None), lambda path, report, early: capture)
    budget = HELD * prepare(capture.reader, [0]).nbytes
    made.opened.connect(lambda: setattr(ui.session.store, "budget", budget))
    yield made
    made.close()
    assert not active_children()


def opened(qtbot: QtBot, loader: Loader, ui: UiContext, *panels: QWidget) -> WaveStore:
    loader.open(Path())
    settle(qtbot, loader, ui)
    store = ui.session.store
    assert store is not None
    return store


def settle(qtbot: QtBot, loader: Loader, ui: UiContext) -> None:
    """Wait until nothing is read or computed, and no panel is about to ask."""

    def is_at_rest() -> bool:
        return loader.idle and ui.scheduler.is_idle and not ui.session.busy.value

    qtbot.waitUntil(is_at_rest)


def test_beyond_the_budget_every_wave_is_read_and_some_leave_the_memory(
    qtbot: QtBot, loader: Loader, ui: UiContext
) -> None:
    store = opened(qtbot, loader, ui)
    assert (store.read, store.count, len(store.absent)) == (WAVES, HELD, WAVES - HELD)
    assert store.is_complete
    assert "fill the memory" in ui.session.problems.value[-1].text
    for row in range(WAVES):  # each comes back when it is looked at
        ui.session.select(Selection(WaveId(0, 0, 0, row)))
        qtbot.waitUntil(lambda row=row: store.wave(row) is not None)
        assert store.nbytes <= store.budget
    settle(qtbot, loader, ui)


def test_waves_in_sight_come_back_as_far_as_there_is_room_and_others_are_not_held(
    qtbot: QtBot, loader: Loader, ui: UiContext
) -> None:
    panel = ComputeUnitPanel(ui)
    panel.resize(600, 300)
    store = opened(qtbot, loader, ui, panel)
    assert len(panel.source.pending) == WAVES - HELD
    qtbot.waitUntil(lambda: len(ui.session.looked_at.value) == 1)  # half of the room
    for middle in (300, 100):  # looking elsewhere, and back
        store.that_fit(range(WAVES - 1, -1, -1))
        ui.session.set_view(TimeWindow(middle - 20, middle + 20))
        settle(qtbot, loader, ui)
    (seen,) = ui.session.looked_at.value
    assert store.is_settled(seen)
    assert store.nbytes <= store.budget
    assert panel._segments.keys() == {wave.row for batch in store.batches for wave in batch.waves}


def test_totals_and_filters_count_waves_that_left_the_memory(
    qtbot: QtBot, loader: Loader, ui: UiContext, capture: Trace, everything: WaveBatch
) -> None:
    panel = HotspotPanel(ui)
    opened(qtbot, loader, ui, panel)
    whole = hotspot([everything], len(capture.code), None, ui.settings["hotspot.bins"])
    assert np.array_equal(panel.plot.bins.cycles, whole.cycles)
    stages = []
    ui.session.busy.watch(note := Stages(ui, stages).note)
    ui.session.clock_range.set(EVER)
    settle(qtbot, loader, ui)
    assert np.array_equal(panel.plot.bins.cycles, whole.cycles)
    assert panel.note.text() == ""
    assert AGAIN in stages, "the status bar says what is done"
    del note


class Stages:
    """Notes what the window says it does."""

    def __init__(self, ui: UiContext, names: list[str]) -> None:
        self._ui, self._names = ui, names

    def note(self) -> None:
        self._names += [stage.name for stage in self._ui.session.busy.value]


def test_cancelling_it_says_how_many_do_not_count(
    qtbot: QtBot, loader: Loader, ui: UiContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = HotspotPanel(ui)
    store = opened(qtbot, loader, ui, panel)
    looks = Counter[str]()
    look = reduce.SlabCache.map_slab

    def cancelled(*args: object, **how: object) -> object:
        looks["parcels"] += 1
        store.cancel_answers()
        return look(*args, **how)

    monkeypatch.setattr(reduce.SlabCache, "map_slab", cancelled)
    ui.session.clock_range.set(EVER)
    settle(qtbot, loader, ui)
    assert looks["parcels"] == 1, "it ends between two parcels"
    assert panel.note.text() == f"partial: {WAVES - HELD} waves not read again"
    monkeypatch.undo()
    panel._request.now()  # whatever asks next
    settle(qtbot, loader, ui)
    assert panel.note.text() == ""


def test_closing_ends_it_between_two_parcels(
    qtbot: QtBot, loader: Loader, ui: UiContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = HotspotPanel(ui)
    store = opened(qtbot, loader, ui, panel)
    before = panel.plot.bins
    looks = Counter[str]()
    look = reduce.SlabCache.map_slab

    def closed(*args: object, **how: object) -> object:
        looks["parcels"] += 1
        store.end_answers()
        return look(*args, **how)

    monkeypatch.setattr(reduce.SlabCache, "map_slab", closed)
    ui.session.clock_range.set(EVER)
    qtbot.waitUntil(lambda: looks["parcels"] > 0 and not ui.tasks.running)
    assert looks["parcels"] == 1
    assert panel.plot.bins is before


@pytest.mark.parametrize("name", ["attribution", "bubbles", "hidden", "hidden_chosen", "health", "loops"])
def test_what_looks_at_waves_together_reads_them_again(
    qtbot: QtBot, loader: Loader, ui: UiContext, name: str, everything: WaveBatch
) -> None:
    store = opened(qtbot, loader, ui)
    ui.results.want(name)
    settle(qtbot, loader, ui)
    found = ui.results.cell(name).value
    assert len(store.absent) == WAVES - HELD
    store.budget = 1 << 40
    store.add(everything)
    ui.session.wave_loaded()
    settle(qtbot, loader, ui)
    assert not store.absent
    assert not differences(ui.results.cell(name).value, found)
    if name == "attribution":
        assert not differences(found, ATTRIBUTION.of(store.trace, [everything]))


def test_causes_of_one_execution_say_how_many_waves_beside_it_do_not_count(
    qtbot: QtBot, loader: Loader, ui: UiContext, everything: WaveBatch
) -> None:
    panel = TokenDetailsPanel(ui)
    store = opened(qtbot, loader, ui, panel)
    seen = next(iter(store.batches)).waves[0].id
    tokens = everything.waves[0].tokens
    line = int(tokens.line[np.argmax(tokens.stall)])
    ui.session.select(Selection(seen, line, 0))
    settle(qtbot, loader, ui)
    assert panel.facts.causes
    (said,) = panel.facts.doubts
    assert said == f"partial: {WAVES - HELD} waves beside it not in memory"
    store.budget = 1 << 40
    store.add(everything)
    ui.session.wave_loaded()
    panel._compute()
    settle(qtbot, loader, ui)
    assert not panel.facts.doubts


def test_scopes_of_markers_count_waves_that_left_the_memory(
    qtbot: QtBot, ui: UiContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "SMALL_JOB_BYTES", 1)
    marked = open_trace(sample_path("markers"))
    batch = prepare(marked.reader, list(range(len(marked.waves))))
    spans = MARKERS[ReferenceRule.OURS].of(marked, [batch])
    whole = marked_tree(spans, scoped_costs(spans).of(marked, [batch]), marked.code)
    loader = Loader(ui.session, Settings(None), lambda path, report, early: marked)
    loader.opened.connect(lambda: setattr(ui.session.store, "budget", batch.nbytes // 3))
    store = opened(qtbot, loader, ui)
    assert store.absent
    ui.results.want("markers")
    settle(qtbot, loader, ui)
    found = ui.results.cell("markers").value
    assert not differences(found, spans)
    job = scene_job(
        ui.session, FlameChoice(Content.MARKED, Metric.TOTAL, SiblingOrder.EXECUTION), True, None, found
    )
    assert job is not None
    for _ in range(2):
        scene = job()
        assert not differences(scene.tree, whole)
    loader.close()


def test_waves_are_mapped_where_they_are_read_while_panels_are_in_front(
    qtbot: QtBot, loader: Loader, ui: UiContext, monkeypatch: pytest.MonkeyPatch, everything: WaveBatch
) -> None:
    """The viewer's own process maps nothing, and the answers are the same."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(findings, "SMALL_BYTES", -1)
    here = Counter[int]()

    def counted(*args: object) -> Iterator[object]:
        for parcel in alone(*args):
            here.update(one.row for one in parcel.tokens.waves)
            yield parcel

    monkeypatch.setattr(incremental, "alone", counted)
    hotspot_, overview = HotspotPanel(ui), OverviewPanel(ui)
    overview.strip.resize(300, 40)
    names = ("branches", "waits", "loops", "populations", "memory", "kinds", "health")
    wishes = [Wish(ui, name) for name in names]
    loader.opened.connect(lambda: setattr(ui.session.store, "budget", 1 << 40))
    store = opened(qtbot, loader, ui, hotspot_, overview)
    assert store.count == WAVES
    assert not here
    assert hotspot_.plot.bins is not None
    assert overview.strip.sums is not None
    answers = {name: ui.results.cell(name).value for name in names}
    later = SharedResults(ui.session, ui.scheduler)
    store._running.clear()  # as if nobody had asked before
    for name in names:
        later.want(name)
        qtbot.waitUntil(lambda: ui.scheduler.is_idle)
        assert not differences(answers[name], later.cell(name).value), name
    assert here
    del wishes


class Wish:
    """Wants a result of every capture that is opened."""

    def __init__(self, ui: UiContext, name: str) -> None:
        self._ui, self._name = ui, name
        ui.session.trace.watch(self._want)

    def _want(self) -> None:
        self._ui.results.want(self._name)
