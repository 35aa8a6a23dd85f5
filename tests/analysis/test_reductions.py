"""Reductions give the same answer however waves are cut into parcels and their parts are put together."""

import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import attribution_by
from rcv_py.analysis.attribution.survey import SURVEY
from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.analysis.compare.costs import costs_of
from rcv_py.analysis.core import parcels as parcels_module
from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.parcels import PIECES, WaveLifetimes, parcels, slabs, stretches
from rcv_py.analysis.core.reduction import Reduction, Staged, mapped
from rcv_py.analysis.cost.activity import STATE_SHARES
from rcv_py.analysis.cost.distribution import hits_of, latency_spreads
from rcv_py.analysis.cost.hotspot import KINDS, hotspot_bins
from rcv_py.analysis.device.pipe_use import PIPE_USE
from rcv_py.analysis.device.simd_work import ASTRAY
from rcv_py.analysis.device.utilization import unit_busy
from rcv_py.analysis.device.wave_states import STRIP, state_curves
from rcv_py.analysis.events.marker_spans import MARKERS
from rcv_py.analysis.findings.bounds import Ranges, bounds_by, waiting_inside
from rcv_py.analysis.findings.worst import ISSUED
from rcv_py.analysis.health.buffer import ENDS
from rcv_py.analysis.health.missing import UNMATCHED
from rcv_py.analysis.iterations.loop_summary import LOOP_TOTALS, LOOPS
from rcv_py.analysis.iterations.segments import SEGMENTS, between_of
from rcv_py.analysis.latency.access_holds import HOLDS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.latency.bubbles import bubbles_by
from rcv_py.analysis.latency.code_fetches import FETCHES
from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.analysis.latency.memory_latency import MEMORY
from rcv_py.analysis.overview.device_summary import summary_by
from rcv_py.analysis.overview.range_costs import range_costs_of
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.code_match import MATCH
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.analysis.waves.populations import POPULATIONS
from rcv_py.analysis.waves.wave_facts import WAVE_FACTS, wave_states
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from tests.analysis.plain import batch_of
from tests.support.equal import differences
from tests.support.fixtures import fixture_of
from tests.support.opened import sample_trace
from tests.support.read_twice import opened
from tests.support.samples import sample_path, write_sample

REDUCTIONS: dict[str, Reduction[Any, Any]] = {
    "attribution survey": SURVEY,
    "astray": ASTRAY,
    "barrier skew": BARRIER_SKEW,
    "cross-lane chains": CROSS_LANE,
    "issued": ISSUED,
    "access widths": WIDTHS,
    "between instructions": between_of(3, 40),
    "branches": BRANCHES,
    "code match": MATCH,
    "hidden latency": HIDDEN[ReferenceRule.OURS],
    "hidden latency by the reference": HIDDEN[ReferenceRule.REFERENCE],
    "ends of records": ENDS,
    "hits of a line": hits_of(40),
    "hotspot": hotspot_bins(),
    "kinds": KINDS,
    "lines": LINES,
    "load order": LOAD_ORDER,
    "loop totals": LOOP_TOTALS,
    "loops": LOOPS,
    "matrix use": MATRIX,
    **{f"memory, {rule.value}": reduction for rule, reduction in MEMORY.items()},
    "pipe use": PIPE_USE,
    "populations": POPULATIONS,
    "state curves": state_curves(),
    "state curves of an engine": state_curves(0),
    "state shares": STATE_SHARES,
    "state strip": STRIP,
    "unmatched": UNMATCHED,
    "accesses": HOLDS,
    "code fetches": FETCHES,
    "segments": SEGMENTS,
    "spreads of latencies": latency_spreads((3, 4, 10_000)),
    "wave facts": WAVE_FACTS,
    "latencies": LATENCIES,
    "markers": MARKERS[ReferenceRule.OURS],
    "states of waves": wave_states(None),
    "workgroups": WORKGROUPS,
}


def busy_units(trace: Trace, batches: Sequence[WaveBatch], window: TimeWindow) -> Reduction[Any, Any]:
    analysis = unit_busy(trace, window)
    return analysis.then(analysis.first.of(trace, batches)) if isinstance(analysis, Staged) else analysis


# Those that need to know the capture, or what all of its waves say, before they run.
SURVEYED: dict[str, Callable[[Trace, Sequence[WaveBatch]], Reduction[Any, Any]]] = {
    "attribution": lambda trace, batches: attribution_by(SURVEY.of(trace, batches)),
    "load to use": lambda trace, batches: LOAD_TO_USE.then(SURVEY.of(trace, batches)),
    "waits": lambda trace, batches: WAITS.then(SURVEY.of(trace, batches)),
    "bounds": lambda trace, batches: bounds_by(SURVEY.of(trace, batches), ASTRAY.of(trace, batches)),
    "busy units": lambda trace, batches: busy_units(trace, batches, middle(trace)),
    "bubbles": lambda trace, batches: bubbles_by(ReferenceRule.OURS, ASTRAY.of(trace, batches)),
    "costs": lambda trace, batches: costs_of(None).then(WORKGROUPS.of(trace, batches)),
    "hotspot of a range": lambda trace, _: hotspot_bins(middle(trace)),
    "states of waves in a range": lambda trace, _: wave_states(middle(trace)),
    "device summary": lambda trace, batches: summary_by(None).then(ASTRAY.of(trace, batches)),
    "device summary of some": lambda trace, batches: summary_by({0, 2, 3}).then(ASTRAY.of(trace, batches)),
    "range of cycles": lambda trace, batches: range_costs_of(middle(trace)).then(SURVEY.of(trace, batches)),
    "prologue": lambda trace, batches: waiting_inside(ASTRAY.of(trace, batches), beginnings(trace)),
}


def middle(trace: Trace) -> TimeWindow:
    """The third of the time of a trace in its middle."""
    third = trace.span.width // 3
    return TimeWindow(trace.span.begin + third, trace.span.end - third)


def beginnings(trace: Trace) -> Ranges:
    """The first half of the life of every second wave."""
    begin, end = trace.waves.begin[::2], trace.waves.end[::2]
    return Ranges(np.arange(0, len(trace.waves), 2), begin, (begin + end) // 2)


Capture = tuple[Trace, tuple[WaveBatch, ...]]


@cache
def one_lies_astray() -> Capture:
    """A capture with a wave that ends in a thousand years, as damage makes one."""
    trace, batches = opened(sample_path("matmul_small"))
    *waves, last = whole_batch(batches).waves
    return trace, (batch_of([*waves, last._replace(end=1 << 62)]),)


@cache
def of_two_code_objects() -> Capture:
    """A capture with markers of kernels without names: only instructions tell their code object."""
    trace, batches = opened(sample_path("markers"))
    codeobj = trace.code.codeobj.copy()
    codeobj[0] += 1  # of the label
    code, occupancy = replace(trace.code, codeobj=codeobj), replace(trace.occupancy, names={})
    return replace(trace, code=code, occupancy=occupancy), batches


# The captures that have something to say to a reduction, where the usual one has not.
FITTING: dict[str, Callable[[], Capture]] = {
    "astray": one_lies_astray,
    "cross-lane chains": lambda: opened(sample_path("reduction")),
    "markers": of_two_code_objects,
}
NAMES = [*REDUCTIONS, *SURVEYED]


@pytest.fixture(scope="module")
def capture_for() -> Callable[[str], Capture]:
    """The capture that a reduction looks at: most at workgroups in a loop, with level counters."""
    return lambda name: FITTING[name]() if name in FITTING else opened(sample_path("counters"))


@pytest.fixture(scope="module")
def whole_answer(capture_for: Callable[[str], Capture]) -> Callable[[str], tuple[Reduction[Any, Any], Any]]:
    """A reduction of its capture, and what it says of all waves at once; once for all ways to cut them.

    Of no waves it says something of the same type.
    """

    @cache
    def answered(name: str) -> tuple[Reduction[Any, Any], Any]:
        trace, batches = capture_for(name)
        reduction = REDUCTIONS.get(name) or SURVEYED[name](trace, batches)
        whole = reduction.of(trace, [whole_batch(batches)])
        assert type(reduction.of(trace, ())) is type(whole)
        return reduction, whole

    return answered


@pytest.mark.parametrize("name", NAMES)
def test_the_waves_of_its_capture_say_something_to_each(
    name: str, capture_for: Callable[[str], Capture], whole_answer: Any
) -> None:
    reduction, whole = whole_answer(name)
    assert differences(reduction.of(capture_for(name)[0], ()), whole)


@pytest.fixture
def cuts_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slabs end also where what began in them lives on."""
    monkeypatch.setattr(parcels_module, "MOSTLY", 1)


@pytest.mark.usefixtures("cuts_anywhere")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_parcels_and_the_order_of_their_parts_do_not_matter(
    name: str, seed: int, capture_for: Callable[[str], Capture], whole_answer: Any
) -> None:
    trace, batches = capture_for(name)
    rng = Random(seed)
    reduction, of_all = whole_answer(name)
    rows = sorted(wave.row for batch in batches for wave in batch.waves)
    for chosen in (None, frozenset(rng.sample(rows, max(1, len(rows) // 2)))):
        whole = of_all if chosen is None else reduction.of(trace, [whole_batch(batches)], chosen)
        apart = rebatched(batches, rng)
        parts = list(reduction.each(trace, apart, chosen, enough=rng.choice((1, 200, 2_000))))
        answer = reduction.finish(trace, merged(reduction, parts, rng))
        assert not differences(whole, answer)


@pytest.mark.parametrize("name", NAMES)
def test_parcels_may_be_cut_in_time_within_waves_or_looked_at_in_pieces(
    name: str, capture_for: Callable[[str], Capture], whole_answer: Any
) -> None:
    trace, batches = capture_for(name)
    rng = Random(name)
    reduction, of_all = whole_answer(name)
    rows = sorted(wave.row for batch in batches for wave in batch.waves)
    for chosen in (None, frozenset(rng.sample(rows, max(1, len(rows) // 2)))):
        whole = of_all if chosen is None else reduction.of(trace, batches, chosen)
        large = list(parcels(batches, chosen, enough=rng.choice((500, 1 << 20))))
        lengths = [len(parcel.tokens) for parcel in large]
        cut = [piece for parcel in large for piece in parcel.in_time(few=rng.randint(20, 400))]
        assert len(cut) > len(large)
        apart = [mapped([reduction], trace, parcel, few=max(lengths) // 8)[0] for parcel in large]
        for parts in ([reduction.map(trace, piece) for piece in cut], apart):
            assert not differences(whole, reduction.finish(trace, merged(reduction, parts, rng)))


def test_pieces_of_a_parcel_have_a_bounded_number_of_tokens(capture_for: Callable[[str], Capture]) -> None:
    _, batches = capture_for("lines")
    (parcel, *_) = parcels(batches)
    longest = int(np.diff(parcel.tokens.first).max())
    few = longest // 3
    waves = [wave for simd in parcel.by_simd(few) for wave in simd.by_wave(few)]
    rows = sorted(one.row for part in waves for one in part.tokens.waves)
    assert rows == [one.row for one in parcel.tokens.waves]
    assert max(len(part.tokens) for part in waves) <= longest + few
    pieces = parcel.in_time(few)
    assert len(pieces) == PIECES
    counted = [int(piece.is_counted.sum()) for piece in pieces]
    assert sum(counted) == len(parcel.tokens)
    assert max(counted) < len(parcel.tokens) // 2


def whole_batch(batches: Iterable[WaveBatch]) -> WaveBatch:
    return batch_of([wave for batch in batches for wave in batch.waves])


def rebatched(batches: Iterable[WaveBatch], rng: Random) -> list[WaveBatch]:
    """The waves in another order, in batches of one to four, some of them twice."""
    waves = [wave for batch in batches for wave in batch.waves]
    waves += rng.sample(waves, len(waves) // 4)
    rng.shuffle(waves)
    made = []
    while waves:
        made.append(batch_of({wave.row: wave for wave in waves[: rng.randint(1, 4)]}.values()))
        waves = waves[len(made[-1].waves) :] if len(made[-1].waves) else []
    return made


def merged(reduction: Reduction[Any, Any], parts: list[Any], rng: Random) -> Any:
    """Parts that crossed a process border, put together in groups, in any order."""
    left = [pickle.loads(pickle.dumps(part)) for part in parts]
    rng.shuffle(left)
    while len(left) > 1:
        some = [left.pop() for _ in range(min(len(left), rng.randint(2, 4)))]
        left.insert(rng.randint(0, len(left)), reduction.merge(some))
    return reduction.merge(left)


@st.composite
def lives(draw: st.DrawFn) -> WaveLifetimes:
    row = st.tuples(st.integers(0, 2), st.integers(-50, 200), st.integers(-3, 60))
    waves = draw(st.lists(row, max_size=40))
    se, begin, length = np.array(waves, dtype=np.int64).reshape(-1, 3).T
    return WaveLifetimes(se=se, begin=begin, end=begin + length, weight=draw(weights(len(waves))))


def weights(count: int) -> st.SearchStrategy[np.ndarray]:
    numbers = st.lists(st.integers(0, 9), min_size=count, max_size=count)
    return numbers.map(lambda made: np.array(made, np.int64))


@given(lives(), st.integers(1, 40))
def test_slabs_share_time_and_waves_and_hold_all_neighbours(of: WaveLifetimes, enough: int) -> None:
    found = slabs(of, enough)
    end = np.maximum(of.begin, of.end)
    own = np.concatenate([np.zeros(0, np.int64), *(slab.own for slab in found)])
    assert sorted(own.tolist()) == list(range(len(of.se)))
    for slab in found:
        here = of.se == slab.se
        others = [other for other in found if other.se == slab.se]
        after = [other for other in others if other.begin == slab.end]
        assert len(after) == (slab is not others[-1])
        alive = np.flatnonzero(here & (of.begin < slab.end) & (end >= slab.begin))
        for wave in alive.tolist():
            beside = np.flatnonzero(here & (of.begin <= end[wave]) & (end >= of.begin[wave]))
            assert np.isin(beside, slab.rows).all()
        assert np.isin(slab.own, slab.rows).all()
        assert (of.se[slab.rows] == slab.se).all()


def test_cuts_lie_where_no_wave_is_alive_if_there_is_such_a_moment() -> None:
    begin = np.arange(0, 100_000, 1_000)
    begin[begin >= 53_000] += 10_000
    of = WaveLifetimes(se=0 * begin, begin=begin, end=begin + 4_500, weight=0 * begin + 1)
    first, *_ = slabs(of, 40)
    assert first.end == 63_000
    assert len(first.rows) == len(first.own) == 53


def test_waves_that_live_on_are_not_cut_apart() -> None:
    begin = np.repeat([0, 1_000_000], 8) + np.tile(np.arange(8) * 4, 2)
    of = WaveLifetimes(se=0 * begin, begin=begin, end=begin + 900_000, weight=0 * begin + 100)
    assert [len(slab.rows) for slab in slabs(of, 100)] == [8, 8]


def test_parcels_of_many_short_waves_are_bounded() -> None:
    begin = np.repeat(np.arange(1_000) * 1_000, 4)
    of = WaveLifetimes(se=0 * begin, begin=begin, end=begin + 3_500, weight=0 * begin + 100)
    found = slabs(of, 20_000)
    assert len(found) >= 10
    assert max(len(slab.rows) for slab in found) <= 2 * 200 + 100


def test_stretches_are_spread_over_time_and_end_where_no_wave_is_alive() -> None:
    begin = np.repeat(np.arange(100) * 10_000, 4)  # generations of 4 waves, a gap between
    of = WaveLifetimes(se=0 * begin, begin=begin, end=begin + 4_500, weight=0 * begin + 1)
    rows = stretches(of, enough=40, count=5)
    first = np.array([10, 30, 50, 70, 90])  # in the middle of each fifth, 8 waves
    assert rows.tolist() == (4 * first[:, None] + np.arange(8)).ravel().tolist()
    assert stretches(of, enough=40, count=1).tolist() == list(range(4 * 50, 4 * 60))


def test_waves_that_last_as_long_as_the_trace_are_one_stretch() -> None:
    begin = np.arange(8) * 4
    of = WaveLifetimes(se=0 * begin, begin=begin, end=begin + 900_000, weight=0 * begin + 100)
    assert stretches(of, enough=100, count=3).tolist() == list(range(8))


@pytest.mark.parametrize("name", ["several_groups", "mixed_populations", "groups_512"])
def test_workgroups_that_meet_at_barriers_may_be_cut_apart(name: str, tmp_path: Path) -> None:
    write_sample(name, tmp_path)
    trace, batches = opened(tmp_path)
    found = WORKGROUPS.of(trace, batches)
    ends = [trace.waves.end[found.number == number].max() for number in range(len(found))]
    begins = [trace.waves.begin[found.number == number].min() for number in range(len(found))]
    assert min(ends) < max(begins), "some are gone before others begin"
    reduction = SURVEYED["bounds"](trace, batches)
    parts = list(reduction.each(trace, batches, enough=1))
    assert len(parts) > 2
    assert not differences(reduction.of(trace, batches), reduction.finish(trace, reduction.merge(parts)))


short_waves = fixture_of(sample_trace, "vector_add")  # A capture of hundreds of them


def test_hundreds_of_waves_may_be_cut_apart(short_waves: Trace) -> None:
    rows = list(range(min(1_200, len(short_waves.waves))))
    batches = [short_waves.reader.read(rows)]
    reduction = bounds_by(SURVEY.of(short_waves, batches), ASTRAY.of(short_waves, batches))
    tokens = sum(len(wave.tokens) for wave in batches[0].waves)
    parts = list(reduction.each(short_waves, batches, enough=tokens // 8))
    assert len(parts) > 3
    whole = reduction.of(short_waves, batches)
    assert not differences(whole, reduction.finish(short_waves, reduction.merge(parts)))
