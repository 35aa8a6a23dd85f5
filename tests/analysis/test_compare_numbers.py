"""Comparisons of captures whose truth is known."""

from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import MAX_GROUPS, CaptureCosts
from rcv_py.analysis.compare.deltas import ALMOST_SURE, SURE, quantile
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.features.compare.result import UNITS, change_table
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.analysis.compare_cases import PROGRAM, STALLS, costs, table
from tests.analysis.in_memory import all_lines, capture_costs
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.opened import VARIED, all_waves, sample_trace, sample_waves, traces_of
from tests.support.samples import write_sample

WAIT = 3  # the line that waits


def slower(by: int) -> list[int]:
    return [stall + by * (line == WAIT) for line, stall in enumerate(STALLS)]


@cache
def simulated(name: str) -> CaptureCosts:
    trace = sample_trace(name)
    return capture_costs(trace, [all_waves(trace)])


trace = traces_of(VARIED)


def test_costs_are_the_sums_over_all_waves(trace: Trace) -> None:
    batches = [trace.reader.read([row]) for row in range(len(trace.waves))]
    found, whole = capture_costs(trace, batches), all_lines(batches, len(trace.code))
    for column in ("hits", "latency", "stall", "idle"):
        assert np.array_equal(found.sums(column), getattr(whole, column)), column
    assert found.wave_count == len(trace.waves)
    assert len(found.waves) <= MAX_GROUPS


def test_a_capture_does_not_differ_from_itself() -> None:
    one = costs(table(), STALLS)
    found = compare(one, one)
    assert found.verdict is Verdict.SAME
    assert found.judgement.sentence.startswith("No difference beyond noise: as many cycles")
    assert not found.rows.is_real.any()
    assert not found.rows.delta.any()


one = fixture_of_each(simulated, ["matmul_small", "vector_add", "kernels", "gfx11"])


def test_a_recorded_capture_does_not_differ_from_itself(one: CaptureCosts) -> None:
    found = compare(one, one)
    assert found.verdict is Verdict.SAME
    assert not any(row["is_beyond_noise"] for by in UNITS for row in change_table(found, by).records())


def test_more_waves_of_the_same_build_are_no_regression() -> None:
    """Of one of them every second wave is read."""
    trace, whole = sample_trace("matmul_small"), simulated("matmul_small")
    rows = range(0, len(trace.waves), 2)
    half = capture_costs(trace, [trace.reader.read(list(rows))], rows)
    assert (half.wave_count, whole.wave_count) == (12, 24)
    assert half.sums("latency").sum() < 0.6 * whole.sums("latency").sum()
    for found in (compare(half, whole), compare(whole, half)):
        assert found.verdict is Verdict.SAME
        assert found.kernel.at_equal_hits.value == pytest.approx(1, abs=0.02)
        assert any("totals differ by that alone" in note for note in found.notes)


def test_more_stall_is_a_regression_and_is_found_where_it_is() -> None:
    found = compare(costs(table(), STALLS), costs(table(), slower(60), seed=2))
    assert found.verdict is Verdict.MORE
    # One round costs 124 cycles of stall and 4 for each of 5 instructions, and 60 more in B.
    assert found.kernel.at_equal_hits.value == pytest.approx(1 + 60 / 144, rel=0.05)
    (row,) = [row for row in change_table(found, "instruction").records() if row["is_beyond_noise"]]
    assert (row["instruction_a"], row["instruction_b"]) == (WAIT, WAIT)
    assert row["delta"] == pytest.approx(3 * 60, rel=0.2)
    classes = [row["name"] for row in change_table(found, "class").records() if row["is_beyond_noise"]]
    assert classes == ["WAIT_LOAD"]
    assert compare(found.b, found.a).verdict is Verdict.FEWER


def test_words_say_per_what_and_never_faster() -> None:
    a, b = costs(table(), STALLS), costs(table(), slower(60))
    texts = [compare(a, b).judgement.sentence, compare(b, a).judgement.sentence]
    assert "more cycles per hit" in texts[0]
    assert "fewer cycles per hit" in texts[1]
    assert not any(word in text for text in texts for word in ("faster", "slower"))


def test_noise_between_waves_hides_a_small_difference() -> None:
    """The same 10 % more are told from noise where waves are alike, not where they differ by half."""
    calm = compare(costs(table(), STALLS, spread=0.01), costs(table(), slower(15), spread=0.01, seed=2))
    rough = compare(costs(table(), STALLS, spread=0.5), costs(table(), slower(15), spread=0.5, seed=2))
    assert calm.verdict is Verdict.MORE
    assert rough.verdict is Verdict.SAME


def test_what_a_place_brings_with_it_is_no_noise() -> None:
    """Some workgroups take longer than others in both captures, yet 9 % more in all are seen."""
    a = simulated("groups_512")
    more = replace(a, latency=a.latency + 0.1 * a.stall, stall=1.1 * a.stall)
    assert compare(a, more).verdict is Verdict.MORE
    elsewhere = replace(more, places=a.places + 1)  # as if nothing ran where it ran before
    assert compare(a, elsewhere).verdict is Verdict.SAME


def test_chance_seldom_makes_a_difference() -> None:
    drawn = partial(costs, table(), STALLS, spread=0.1)
    pairs = [compare(drawn(seed=i), drawn(seed=100 + i)) for i in range(40)]
    told = sum(pair.verdict is not Verdict.SAME for pair in pairs)
    assert told <= 5  # 2 of 40 are expected at 95 %


def test_a_replicate_raises_the_floor() -> None:
    a, b = costs(table(), STALLS), costs(table(), slower(20), seed=2)
    replicate = costs(table(), slower(-25), seed=3)
    assert compare(a, b).verdict is Verdict.MORE
    found = compare(a, b, replicate=replicate)
    assert found.verdict is Verdict.SAME
    assert not found.rows.is_real.any()
    assert compare(a, b, replicate=costs(table(), STALLS, seed=3)).verdict is Verdict.MORE


def test_what_two_runs_differ_by_is_told_only_with_a_replicate() -> None:
    a, b = costs(table(), STALLS, spread=0.001), costs(table(), slower(6), spread=0.001)
    replicate = costs(table(), STALLS, spread=0.01, seed=3)
    assert compare(a, b).verdict is Verdict.SAME  # 4 % more, which two runs of one build may differ by
    assert compare(a, b, replicate=replicate).verdict is Verdict.MORE
    assert compare(a, b, threshold=0.01).verdict is Verdict.MORE


def test_a_replicate_must_be_of_the_same_build() -> None:
    a = costs(table(), STALLS)
    other = costs(table([*PROGRAM[:3], "s_nop 0", *PROGRAM[4:]]), STALLS)
    found = compare(a, a, replicate=other)
    assert found.verdict is Verdict.NOT_COMPARABLE
    assert "replicate" in found.judgement.sentence


def test_different_amounts_of_work_are_compared_at_equal_executions() -> None:
    a = costs(table(), STALLS, rounds=(10,) * 12)
    b = costs(table(), STALLS, rounds=(10, 5) * 6)
    found = compare(a, b)
    assert found.verdict is Verdict.SAME
    assert found.kernel.a_wave.value < 0.85
    assert found.kernel.at_equal_hits.value == pytest.approx(1, abs=0.02)


def test_a_rebuild_is_compared_per_wave_and_its_new_lines_count() -> None:
    text = [*PROGRAM[:4], "v_new v9, v9", *PROGRAM[4:]]
    stalls = [*STALLS[:4], 200, *STALLS[4:]]
    found = compare(costs(table(), STALLS), costs(table(text), stalls, seed=2))
    assert (found.verdict, found.judgement.basis) == (Verdict.MORE, "wave")
    new = next(row for row in change_table(found, "instruction").records() if row["status"] == "inserted")
    assert (new["instruction_a"], new["instruction_b"], new["is_beyond_noise"]) == (-1, 4, True)
    assert new["delta"] == pytest.approx(3 * 204, rel=0.05)


def test_twice_the_rounds_of_another_build_are_not_judged() -> None:
    """The rebuilt loop goes round half as often and does twice as much in a round, in as many cycles."""
    twice = [*PROGRAM[:1], *PROGRAM[1:6], *PROGRAM[1:6], PROGRAM[6]]
    stalls = [0, *STALLS[1:6], *STALLS[1:6], STALLS[6]]
    a = costs(table(), STALLS, rounds=(8,) * 12)
    b = costs(table(twice), stalls, rounds=(4,) * 12)
    assert compare(a, b).verdict is not Verdict.MORE


def test_what_ends_a_wave_does_not_count() -> None:
    end = [*STALLS[:-1], 40_000]
    assert compare(costs(table(), STALLS), costs(table(), end)).verdict is Verdict.SAME


def test_different_kernels_are_not_comparable() -> None:
    found = compare(simulated("vector_add"), simulated("reduction"))
    assert (found.verdict, found.kernel) == (Verdict.NOT_COMPARABLE, None)
    assert "vector_add and reduce" in found.judgement.sentence


def test_waves_that_do_other_work_are_not_comparable() -> None:
    """Those of one capture leave the kernel before what those of the other do."""
    trace, batch = sample_waves("vector_add")
    early = {wave.row for wave in batch.waves if len(wave.tokens) < 15}
    works = {wave.row for wave in batch.waves} - early
    assert early
    found = compare(capture_costs(trace, [batch], works), capture_costs(trace, [batch], early))
    assert found.verdict is Verdict.NOT_COMPARABLE


def test_a_capture_without_waves_is_not_comparable() -> None:
    a = costs(table(), STALLS)
    found = compare(a, costs(table(), STALLS, rounds=()))
    said = "Not comparable: B has no traced waves, and totals of instructions show no noise."
    assert found.judgement.sentence == said


def test_waves_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "capture"
    write_sample("matmul_small", folder)
    next(folder.glob("se*_wv0.json")).write_text("{")
    trace = open_trace(folder)
    broken = capture_costs(trace, [all_waves(trace)])
    assert (broken.wave_count, broken.missing) == (23, 1)
    found = compare(simulated("matmul_small"), broken)
    assert "1 wave of B could not be read and does not count." in found.notes


def test_one_wave_tells_no_noise_of_rows() -> None:
    a, b = costs(table(), STALLS, rounds=(3,)), costs(table(), slower(500), rounds=(3,))
    found = compare(a, b)
    assert found.verdict is Verdict.MORE  # five times as much is beyond the 10 % that are assumed
    columns = change_table(found, "instruction").columns
    assert not np.any(columns["is_noise_known"])
    assert not np.any(columns["is_beyond_noise"])


def sums(found: Comparison, by: str) -> tuple[float, float]:
    columns = change_table(found, by).columns
    return float(np.sum(columns["cycles_a"])), float(np.sum(columns["cycles_b"]))


pair = fixture_of(lambda: (simulated("tutorial_before"), simulated("tutorial_after")))


def test_every_grouping_has_the_same_sums(pair: tuple[CaptureCosts, CaptureCosts]) -> None:
    found = compare(*pair)
    lines = sums(found, "instruction")
    for by in ("source", "block", "class"):
        assert sums(found, by) == pytest.approx(lines), by
    # A is taken as it is: its own cycles a wave.
    assert lines[0] == pytest.approx(found.a.sums("cost").sum() / found.a.wave_count)


def test_the_same_seed_draws_the_same_noise() -> None:
    a, b = costs(table(), STALLS), costs(table(), slower(5), seed=2)
    assert compare(a, b, 7).kernel == compare(a, b, 7).kernel


@pytest.mark.parametrize(
    ("groups", "confidence", "expected"),
    [(2, SURE, 12.706), (4, SURE, 3.182), (31, SURE, 2.042), (1001, SURE, 1.962), (31, ALMOST_SURE, 3.646)],
)
def test_quantiles_are_those_of_student(groups: int, confidence: float, expected: float) -> None:
    assert quantile(groups, confidence) == pytest.approx(expected, rel=0.03)
