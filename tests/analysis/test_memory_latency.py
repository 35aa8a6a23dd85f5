"""Memory latency from level counters: by the reference's rule, and nearer to the truth by ours."""

import math
import statistics
from collections import Counter
from collections.abc import Collection
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.latency.memory_latency import (
    LEVEL_COUNTERS,
    MEMORY,
    LevelCounter,
    MemoryLatency,
    MemoryOps,
    all_ops,
    is_store,
    memory_ops,
    position,
    reference_values,
)
from rcv_py.analysis.latency.memory_latency import REFERENCE_INTERVAL as INTERVAL
from rcv_py.analysis.latency.memory_levels import least_squares, returns
from rcv_py.model.device import CounterSamples
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support.code_samples import code_table, trace, two_waves
from tests.support.columns import in_rows
from tests.support.opened import sample_trace, sample_waves
from tests.support.samples import sample

Loaded = tuple[Trace, tuple[WaveBatch, ...]]
VMEM, LDS, _ = LEVEL_COUNTERS


@pytest.fixture
def counters() -> Loaded:
    found = sample_trace("counters")
    rows = list(range(len(found.waves)))
    return found, (found.reader.read(rows[:3]), found.reader.read(rows[3:]))


# -- the reference's rule ------------------------------------------------------------------------------


def slow(issue: list[int], simd: list[int], rows: list[tuple[int, int]]) -> list[tuple[int, float]]:
    """The sweep, one operation and one sample after the other: (operation, latency) as they come back."""
    filled = list(rows)
    for (one, _), (other, _) in pairwise(rows):
        if other - one > INTERVAL:
            filled.append((one + INTERVAL, 0))
    filled.sort(key=lambda sample: sample[0])
    filled.append((rows[-1][0] + INTERVAL, 0))
    order = sorted(range(len(issue)), key=lambda i: issue[i] + simd[i])
    found, retired, seen = [], 0, 0
    for earlier, op in enumerate(order):
        while seen < len(filled) and filled[seen][0] < issue[op] + simd[op]:
            time, level = filled[seen]
            seen += 1
            while retired < min(earlier - level, len(order)):
                passed = time - issue[order[retired]] - simd[order[retired]]
                found.append((order[retired], passed - 20 if passed > INTERVAL else passed / 2))
                retired += 1
    return found


Op = tuple[int, int, int, int, int]  # line, issue, SIMD, stall, busy


def swept(loaded: Loaded, counter: LevelCounter) -> dict[int, tuple[list[Op], list[tuple[int, float]]]]:
    """Of each engine: operations that a counter counts, and (operation, latency) of those that come back."""
    found, batches = loaded
    engines = {}
    for samples in found.counters:
        ops: list[Op] = []
        for wave in (wave for batch in batches for wave in batch.waves if wave.id.se == samples.se):
            one = wave.tokens
            columns = in_rows(one.line, one.start, one.stall, one.busy, one.kind)
            for line, start, stall, busy, kind in columns:
                if kind in counter.kinds:
                    ops.append((line, start + stall, wave.id.simd, stall, busy))
        at = found.counter_names.index(counter.name)  # one of the first four: those of bank 0
        first = (samples.bank == 0) & (samples.cu == batches[0].waves[0].cu)
        rows = in_rows(samples.time[first], samples.value[first, at])
        values = slow([op[1] for op in ops], [op[2] for op in ops], rows)
        engines[samples.se] = ops, values
    return engines


@pytest.mark.parametrize("counter", [VMEM, LDS])
def test_every_value_of_the_reference_s_rule(counters: Loaded, counter: LevelCounter) -> None:
    found, batches = counters
    ops = all_ops([memory_ops(tokens, len(found.code)) for tokens in map(columns_of, batches)])
    engines = swept(counters, counter)
    for samples in found.counters:
        own, values = engines[samples.se]
        lines, latency = reference_values(ops, samples, position(found.counter_names, counter), counter)
        expected = sorted((own[op][0], took) for op, took in values)
        assert sorted(in_rows(lines, latency)) == expected != []


def expected_rows(engines: Collection[tuple[list[Op], list[tuple[int, float]]]]) -> dict[int, list[float]]:
    """Samples, mean, deviation, error, issue and stall of each line; the last two of all executions."""
    took: dict[int, list[float]] = {}
    issue, stall = Counter[int](), Counter[int]()
    for ops, values in engines:
        for op, latency in values:
            took.setdefault(ops[op][0], []).append(latency)
        for line, _, _, waited, busy in ops:
            issue[line] += busy
            stall[line] += waited
    rows = {}
    for line, own in took.items():
        n, std = len(own), statistics.stdev(own) if len(own) > 1 else 0.0
        error = math.sqrt(std**2 + INTERVAL**2 / 3) / math.sqrt(n - 1.5 if n > 1 else 0.1)
        rows[line] = [n, statistics.fmean(own), std, error, issue[line] / n, stall[line] / n]
    return rows


def rows_of(table: MemoryLatency, unit: str) -> dict[int, list[float]]:
    own = [i for i in range(len(table)) if table.unit[i] == unit]
    columns = (table.samples, table.mean, table.std, table.error, table.issue, table.stall)
    return {int(table.line[i]): [float(column[i]) for column in columns] for i in own}


@pytest.mark.parametrize("engines", [{0}, {1}, {0, 1}])
def test_statistics_of_the_reference_s_rule(counters: Loaded, engines: set[int]) -> None:
    found, batches = counters
    rows = [wave.row for batch in batches for wave in batch.waves if wave.id.se in engines]
    table = MEMORY[ReferenceRule.REFERENCE].of(found, [found.reader.read(rows)])
    seen = 0
    for counter in (VMEM, LDS):
        swept_of = swept(counters, counter)
        expected = expected_rows([one for se, one in swept_of.items() if se in engines])
        ours = rows_of(table, counter.unit)
        assert ours.keys() == expected.keys()
        for line, numbers in expected.items():
            assert ours[line] == pytest.approx(numbers, rel=1e-9)
        means = [row[1] for row in ours.values()]
        assert means == sorted(means, reverse=True)
        seen += len(ours)
    assert seen == np.isin(table.unit, [VMEM.unit, LDS.unit]).sum() > 1


drawn_ops = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3)), min_size=1, max_size=25)
drawn_levels = st.lists(st.tuples(st.integers(1, 90), st.integers(0, 6)), min_size=1, max_size=25)


@settings(max_examples=80, deadline=None)
@given(drawn_ops, drawn_levels)
def test_the_sweep_is_the_reference_s(drawn: list, steps: list) -> None:
    issue, simd = [op[0] for op in drawn], [op[1] for op in drawn]
    time = np.cumsum([step for step, _ in steps])
    none = np.zeros(len(drawn), dtype=np.int64)
    same = dict.fromkeys(("wave", "se", "cu", "stall", "busy"), none)
    own = {"simd": np.array(simd), "issue": np.array(issue), "line": np.arange(len(drawn))}
    ops = MemoryOps(**same, **own, kind=none + 5)
    value = np.zeros((len(time), 4), dtype=np.int32)
    value[:, 2] = [level for _, level in steps]
    samples = CounterSamples(0, time, value, 0 * time, 0 * time)
    line, latency = reference_values(ops, samples, 2, LDS)
    rows = in_rows(time, value[:, 2])
    assert in_rows(line, latency) == slow(issue, simd, rows)


# -- our rule ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulated() -> tuple[Trace, WaveBatch, dict[int, float]]:
    """A simulated capture with counters, and the true mean latency of its memory instructions by line."""
    (found, waves), (_, truth) = sample_waves("counters"), sample("counters")
    values: dict[int, list[int]] = {}
    for wave in waves.waves:
        done = truth.waves[(wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid)].returned
        rows = np.flatnonzero(done >= 0)
        issue = wave.tokens.start + wave.tokens.stall - truth.offset_of_se[wave.id.se]
        for line, took in in_rows(wave.tokens.line[rows], (done - issue)[rows]):
            values.setdefault(line, []).append(took)
    return found, waves, {line: float(np.mean(took)) for line, took in values.items()}


def test_every_memory_line_of_a_simulation(simulated: tuple[Trace, WaveBatch, dict[int, float]]) -> None:
    found, waves, truth = simulated
    rules = (ReferenceRule.OURS, ReferenceRule.REFERENCE)
    table, reference = (MEMORY[rule].of(found, [waves]) for rule in rules)
    assert set(table.line.tolist()) == set(truth)
    true = [np.array([truth[line] for line in one.line.tolist()]) for one in (table, reference)]
    off, theirs = np.abs(table.mean / true[0] - 1), np.abs(reference.mean / true[1] - 1)
    assert off.max() < 0.1
    assert off.mean() < 0.025
    assert off.mean() < theirs.mean()
    assert np.all(np.diff(table.mean)[np.array(table.unit[1:]) == np.array(table.unit[:-1])] <= 0)


def test_a_counter_of_the_second_bank_counts_too(counters: Loaded) -> None:
    found, batches = counters
    names = found.counter_names[4:] + found.counter_names[:4]
    moved = tuple(replace(samples, bank=1 - samples.bank) for samples in found.counters)
    other = replace(found, counter_names=names, counters=moved)
    one, two = (MEMORY[ReferenceRule.OURS].of(capture, batches) for capture in (found, other))
    np.testing.assert_allclose(one.mean, two.mean)
    silent = MEMORY[ReferenceRule.REFERENCE].of(other, batches)
    assert silent.mean.max() < 60, "the reference takes the second bank for zeros"


def test_the_interval_is_that_of_the_samples(simulated: tuple[Trace, WaveBatch, dict[int, float]]) -> None:
    found, waves, truth = simulated
    rare, step = [], MEMORY[ReferenceRule.OURS].of(found, [waves]).interval
    for samples in found.counters:
        keep = (samples.time - samples.time[0]) % (2 * step) == 0
        columns = (getattr(samples, name)[keep] for name in ("time", "value", "cu", "bank"))
        rare.append(CounterSamples(samples.se, *columns))
    table = MEMORY[ReferenceRule.OURS].of(replace(found, counters=tuple(rare)), [waves])
    assert table.interval == 2 * step
    for line, mean in in_rows(table.line, table.mean):
        assert mean == pytest.approx(truth[line], rel=0.2)


def test_another_compute_unit_does_not_disturb(counters: Loaded) -> None:
    found, batches = counters
    table = MEMORY[ReferenceRule.OURS].of(found, batches)
    elsewhere = tuple(replace(samples, cu=np.where(samples.cu == 1, 1, 5)) for samples in found.counters)
    moved = MEMORY[ReferenceRule.OURS].of(replace(found, counters=elsewhere), batches)
    np.testing.assert_array_equal(moved.mean, table.mean)


@pytest.mark.parametrize("latency", [60, 100, 260])
def test_a_fixed_latency_is_found(latency: int) -> None:
    issue = np.arange(7, 4000, 37)
    time = np.arange(0, 5000, 40)
    level = np.searchsorted(issue, time, side="right") - np.searchsorted(issue + latency, time, side="right")
    took = returns(time, level, issue, 40) - issue
    assert abs(np.median(took) - latency) < 10
    assert abs(took.mean() - latency) < 3


def test_what_is_in_flight_at_the_end_has_no_latency() -> None:
    took = returns(np.array([0, 40, 80]), np.array([1, 2, 1]), np.array([0, 30]), 40)
    assert np.isnan(took).tolist() == [False, True]
    assert np.isnan(returns(np.array([]), np.array([]), np.array([5]), 40)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10_000))
def test_least_squares_meet_the_conditions_of_a_minimum(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    table, wanted = random.normal(size=(12, size)), random.normal(size=12)
    x = least_squares(table.T @ table, table.T @ wanted)
    slope = table.T @ (wanted - table @ x)
    assert x.min() >= 0
    assert slope.max() < 1e-6
    assert np.abs(slope[x > 0]).max(initial=0) < 1e-6


@pytest.mark.parametrize(
    ("text", "stores"),
    [
        ("global_store_dword v[2:3], v0, off", True),
        ("buffer_load_dword v1, v0, s[4:7], 0 offen lds", False),
        ("global_atomic_add v0, v1, s[2:3]", True),
        ("global_atomic_add v0, v1, v2, s[2:3] glc", False),
        ("global_atomic_add_u32 v0, v1, v2, s[2:3] th:TH_ATOMIC_RETURN", False),
        ("buffer_atomic_add v0, v1, s[4:7], 0 offen sc0", False),
        ("flat_store_dwordx2 v[0:1], v[2:3]", True),
    ],
)
def test_what_only_writes(text: str, stores: bool) -> None:
    code = code_table()
    code = replace(code, text=(text, *code.text[1:]))
    assert is_store(code, np.array([0, 0])).tolist() == [stores, stores]


# -- nothing to tell -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", list(ReferenceRule))
def test_why_there_is_nothing(counters: Loaded, rule: ReferenceRule) -> None:
    without = MEMORY[rule].of(trace(), [two_waves()])
    assert not len(without)
    assert "SQ_INST_LEVEL_VMEM" in without.reason
    assert "PC samples" in MEMORY[rule].of(trace(has_thread_trace=False), []).reason
    assert "no wave" in MEMORY[rule].of(counters[0], []).reason
    empty = np.zeros(0, dtype=np.int64)
    silent = (CounterSamples(0, empty, np.zeros((0, 4), dtype=np.int32), empty, empty),)
    assert not len(MEMORY[rule].of(replace(counters[0], counters=silent), counters[1]))
