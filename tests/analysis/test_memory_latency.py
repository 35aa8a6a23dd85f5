"""Memory latency from level counters: the reference's values by its rule, nearer to the truth by ours."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.core.token_columns import token_columns
from rcv_py.analysis.latency.memory_latency import REFERENCE_INTERVAL as INTERVAL
from rcv_py.analysis.latency.memory_latency import MemoryLatency, memory_latency, reference_values
from rcv_py.analysis.latency.memory_levels import (
    LEVEL_COUNTERS,
    MemoryOps,
    all_ops,
    is_store,
    least_squares,
    memory_ops,
    position,
    returns,
)
from rcv_py.formats.open import open_trace
from rcv_py.model.device import CounterSamples
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support import captures
from tests.support.code_samples import code_table, trace, two_waves
from tests.support.reference_clock import open_as_reference
from tests.support.samples import write_sample

Loaded = tuple[Trace, tuple[WaveBatch, ...]]
VMEM, LDS, _ = LEVEL_COUNTERS


@pytest.fixture
def counters() -> Loaded:
    found = open_as_reference(captures.synthetic_path("counters_gfx9"))
    rows = list(range(len(found.waves)))
    return found, (found.reader.read(rows[:3]), found.reader.read(rows[3:]))


def row(table: MemoryLatency, code_line: int) -> int:
    return table.line.tolist().index(code_line)


# -- the reference's rule ------------------------------------------------------------------------------


def test_every_value_of_the_reference(counters: Loaded) -> None:
    found, batches = counters
    ops = all_ops([memory_ops(tokens, len(found.code)) for tokens in token_columns(batches)])
    golden = captures.golden("memory_latency.json")["rcv_per_se"]
    for counter in (VMEM, LDS):
        at = position(found.counter_names, counter)
        for samples in found.counters:
            lines, values = reference_values(ops, samples, at, counter)
            for number, expected in golden[counter.name][f"se{samples.se}"].items():
                line = found.code.row_of_number[int(number)]
                assert values[lines == line].tolist() == expected["lat"]
                own = ops.rows((ops.se == samples.se) & (ops.line == line))
                assert (own.busy.sum(), own.stall.sum()) == (expected["issue"], expected["stall"])


@pytest.mark.parametrize("se", [0, 1])
def test_statistics_of_one_shader_engine(counters: Loaded, se: int) -> None:
    found, batches = counters
    waves = [wave.row for batch in batches for wave in batch.waves if wave.id.se == se]
    table = memory_latency(found, [found.reader.read(waves)], ReferenceRule.REFERENCE)
    golden = captures.golden("memory_latency.json")["rcv_per_se"]
    for counter in (VMEM, LDS):
        for number, expected in golden[counter.name][f"se{se}"].items():
            at = row(table, int(found.code.row_of_number[int(number)]))
            assert table.samples[at] == expected["n"]
            values = (table.mean[at], table.std[at], table.error[at])
            assert values == pytest.approx((expected["mean"], expected["std"], expected["err"]), rel=1e-12)
            assert table.issue[at] * table.samples[at] == pytest.approx(expected["issue"])
            assert table.stall[at] * table.samples[at] == pytest.approx(expected["stall"])


def test_statistics_of_both_shader_engines_in_order_of_the_mean(counters: Loaded) -> None:
    table = memory_latency(*counters, ReferenceRule.REFERENCE)
    golden = captures.golden("memory_latency.json")["reference_script"]
    expected = [one for counter in (VMEM, LDS) for one in golden[counter.name]["instructions"]]
    numbers = counters[0].code.number[table.line].tolist()
    assert numbers == [int(one["code"].split(":")[1]) for one in expected]
    for at, one in enumerate(expected):
        stats = one["stats"]
        assert table.samples[at] == stats["count"]
        assert (table.mean[at], table.std[at], table.error[at]) == pytest.approx(
            (stats["mean"], stats["stddev"], stats["error"]), rel=1e-12
        )
    assert (table.samples + table.censored).tolist() == [96, 96, 96]


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


drawn_ops = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3)), min_size=1, max_size=25)
drawn_levels = st.lists(st.tuples(st.integers(1, 90), st.integers(0, 6)), min_size=1, max_size=25)


@settings(max_examples=80, deadline=None)
@given(drawn_ops, drawn_levels)
def test_the_sweep_is_the_reference_s(drawn: list, steps: list) -> None:
    issue, simd = [op[0] for op in drawn], [op[1] for op in drawn]
    time = np.cumsum([step for step, _ in steps])
    none = np.zeros(len(drawn), dtype=np.int64)
    ops = MemoryOps(
        wave=none,
        se=none,
        cu=none,
        simd=np.array(simd),
        issue=np.array(issue),
        stall=none,
        busy=none,
        kind=none + 5,
        line=np.arange(len(drawn)),
    )
    value = np.zeros((len(time), 4), dtype=np.int32)
    value[:, 2] = [level for _, level in steps]
    samples = CounterSamples(0, time, value, 0 * time, 0 * time)
    line, latency = reference_values(ops, samples, 2, LDS)
    rows = list(zip(time.tolist(), value[:, 2].tolist(), strict=True))
    assert list(zip(line.tolist(), latency.tolist(), strict=True)) == slow(issue, simd, rows)


# -- our rule ------------------------------------------------------------------------------------------


def truths() -> dict[int, float]:
    """Mean latency by LineNumber that the made-up capture was generated with."""
    golden = captures.golden("memory_latency.json")["generator_truth_mean_cycles"]
    pairs = ((re.match(r"line(\d+)", name), text) for name, text in golden.items())
    return {int(match[1]): float(text.rsplit("->", 1)[1]) for match, text in pairs if match}


def test_our_estimate_is_nearer_to_the_truth(counters: Loaded) -> None:
    code = counters[0].code
    ours, theirs = (memory_latency(*counters, rule) for rule in ReferenceRule)
    for number, truth in truths().items():
        line = int(code.row_of_number[number])
        off, reference = (abs(table.mean[row(table, line)] - truth) for table in (ours, theirs))
        assert off < 0.05 * truth, code.text[line]
        assert off < (reference / 4 if code.kind[line] != 5 else 1.05 * reference), code.text[line]
    assert (ours.samples + ours.censored).tolist() == [96, 96, 96]
    assert ours.interval == 40


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, WaveBatch, dict[int, float]]:
    """A simulated capture with counters, and the true mean latency of its memory instructions by line."""
    folder: Path = tmp_path_factory.mktemp("latency") / "ui_output"
    truth = write_sample("counters", folder, 0)
    found = open_trace(folder)
    waves = found.reader.read(list(range(len(found.waves))))
    values: dict[int, list[int]] = {}
    for wave in waves.waves:
        done = truth.waves[(wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid)].returned
        rows = np.flatnonzero(done >= 0)
        issue = wave.tokens.start + wave.tokens.stall - truth.offset_of_se[wave.id.se]
        for line, took in zip(wave.tokens.line[rows].tolist(), (done - issue)[rows].tolist(), strict=True):
            values.setdefault(line, []).append(took)
    return found, waves, {line: float(np.mean(took)) for line, took in values.items()}


def test_every_memory_line_of_a_simulation(simulated: tuple[Trace, WaveBatch, dict[int, float]]) -> None:
    found, waves, truth = simulated
    table = memory_latency(found, [waves])
    assert set(table.line.tolist()) == set(truth)
    off = np.array(
        [mean / truth[line] - 1 for line, mean in zip(table.line.tolist(), table.mean, strict=True)]
    )
    assert np.abs(off).max() < 0.1
    assert np.abs(off).mean() < 0.025
    assert np.all(np.diff(table.mean)[np.array(table.unit[1:]) == np.array(table.unit[:-1])] <= 0)


def test_a_counter_of_the_second_bank_counts_too(counters: Loaded) -> None:
    found, batches = counters
    names = found.counter_names[4:] + found.counter_names[:4]
    moved = tuple(replace(samples, bank=1 - samples.bank) for samples in found.counters)
    other = replace(found, counter_names=names, counters=moved)
    one, two = (memory_latency(capture, batches) for capture in (found, other))
    np.testing.assert_allclose(one.mean, two.mean)
    silent = memory_latency(other, batches, ReferenceRule.REFERENCE)
    assert silent.mean.max() < 60, "the reference takes the second bank for zeros"


def test_the_interval_is_that_of_the_samples(counters: Loaded) -> None:
    found, batches = counters
    rare = []
    for samples in found.counters:
        keep = (samples.time - samples.time[0]) % 80 == 0
        columns = (getattr(samples, name)[keep] for name in ("time", "value", "cu", "bank"))
        rare.append(CounterSamples(samples.se, *columns))
    table = memory_latency(replace(found, counters=tuple(rare)), batches)
    assert table.interval == 80
    truth = truths()
    for line, mean in zip(table.line.tolist(), table.mean.tolist(), strict=True):
        assert mean == pytest.approx(truth[int(found.code.number[line])], rel=0.2)


def test_another_compute_unit_does_not_disturb(counters: Loaded) -> None:
    found, batches = counters
    table = memory_latency(found, batches)
    elsewhere = tuple(replace(samples, cu=np.where(samples.cu == 1, 1, 5)) for samples in found.counters)
    np.testing.assert_array_equal(
        memory_latency(replace(found, counters=elsewhere), batches).mean, table.mean
    )


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
    without = memory_latency(trace(), [two_waves()], rule)
    assert not len(without)
    assert "SQ_INST_LEVEL_VMEM" in without.reason
    assert "PC samples" in memory_latency(trace(has_thread_trace=False), [], rule).reason
    assert "no wave" in memory_latency(counters[0], [], rule).reason
    empty = np.zeros(0, dtype=np.int64)
    silent = (CounterSamples(0, empty, np.zeros((0, 4), dtype=np.int32), empty, empty),)
    assert not len(memory_latency(replace(counters[0], counters=silent), counters[1], rule))
