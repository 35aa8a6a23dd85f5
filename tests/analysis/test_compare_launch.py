"""Comparisons by launch: its duration decides, waves only where they can be compared and never against it."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.compare.changes import numbers
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import OF_A_MAXIMUM, SIDES, CaptureCosts, TracedLaunch, chance, launch_of
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.inputs import launch_shape
from rcv_py.analysis.health.capture_health import health_notes
from rcv_py.analysis.health.traced_units import APART, CUT
from rcv_py.analysis.overview.library import library_row
from rcv_py.formats.open import open_trace
from tests.analysis.compare_cases import STALLS, costs, table
from tests.analysis.in_memory import capture_costs
from tests.support.fixtures import fixture_of_each
from tests.support.opened import all_waves, sample_trace, sample_waves
from tests.support.samples import resident, sample, sample_path, write_sample

MFMA = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"
TILES = ("; kernel", "s_load_dword s0, s[2:3], 0x0", MFMA, "s_waitcnt vmcnt(0)", "v_mul v4, v5", "s_endpgm")
LARGER = (*TILES[:2], MFMA, *TILES[2:])  # twice the matrix instructions a round


def launch(duration: int, waves: int, life: int | None = None) -> TracedLaunch:
    """Waves that all live as long as the launch, on one shader engine."""
    lives = np.full(waves, duration if life is None else life, dtype=np.int64)
    return TracedLaunch(duration, waves, int(lives.sum()), (0,), "", duration - lives, lives)


def gemm(text: Sequence[str], stall: int, waves: int, duration: int, rounds: int = 4) -> CaptureCosts:
    """A capture whose waves wait `stall` cycles a round, of a launch of so many waves."""
    stalls = [stall if line.startswith("s_waitcnt") else 4 for line in text]
    traced = costs(table(text), stalls, rounds=(rounds,) * 8)
    return replace(traced, launch=launch(duration, waves))


def swapped(a: CaptureCosts, b: CaptureCosts) -> tuple[Comparison, Comparison]:
    return compare(a, b), compare(b, a)


def test_larger_tiles_that_take_a_quarter_less_are_no_regression() -> None:
    """Half as many waves, each with twice the work and 60 % more cycles; the launch takes 24 % fewer."""
    small, large = gemm(TILES, 100, 512, 100_000), gemm(LARGER, 190, 256, 76_000)
    found, back = swapped(small, large)
    assert (found.verdict, back.verdict) == (Verdict.FEWER, Verdict.MORE)
    assert found.kernel.a_wave.value > 1.5
    assert found.judgement.basis == "launch"
    told = "The launch of B takes 24.0 % fewer cycles (100,000 in A, 76,000 in B); up to 6.0 % may be noise."
    assert found.judgement.sentence == told
    assert found.notes[0] == "Not comparable per wave: the launch of A has 512 waves, the launch of B 256."
    assert dict(numbers(found))["cycles per wave"].endswith("not comparable")


def test_the_work_of_a_wave_alone_forbids_cycles_per_wave() -> None:
    """As many waves with twice the work in each: neither waves nor launches can be compared."""
    found, back = swapped(gemm(TILES, 100, 512, 100_000), gemm(LARGER, 100, 512, 120_000))
    for one in (found, back):
        assert one.verdict is Verdict.NOT_COMPARABLE
        assert "the launches do not do the same work" in one.judgement.sentence


def test_another_kernel_name_is_told() -> None:
    a, b = gemm(TILES, 100, 512, 100_000), gemm(LARGER, 190, 256, 76_000)
    found = compare(a, replace(b, kernel="gemm_tile_256"))
    assert found.verdict is Verdict.FEWER
    assert found.notes[1] == "The kernels have different names: kernel and gemm_tile_256."


@pytest.mark.parametrize("stall", [150, 60])
def test_waves_never_decide_against_the_launch(stall: int) -> None:
    """Traced waves take more (fewer) cycles per hit, the launch 2 % fewer (more): neither is claimed."""
    a = gemm(TILES, 100, 512, 100_000)
    b = gemm(TILES, stall, 512, 98_000 if stall > 100 else 102_000)
    found = compare(a, b)
    assert found.verdict is Verdict.SAME
    assert found.judgement.basis == "launch"
    assert found.notes[0].startswith("Traced waves: B takes ")


def test_no_launch_that_takes_fewer_cycles_is_ever_a_regression() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        text = (TILES, LARGER)[rng.integers(2)]
        duration = int(rng.integers(60_000, 140_000))
        b = gemm(text, int(rng.integers(40, 300)), int(rng.choice([256, 500, 512, 600])), duration)
        found = compare(gemm(TILES, 100, 512, 100_000), b)
        seen.add(found.verdict)
        assert found.verdict is not (Verdict.MORE if duration < 100_000 else Verdict.FEWER)
    assert seen == set(Verdict)


def test_waves_decide_where_launches_are_alike() -> None:
    found = compare(gemm(TILES, 100, 512, 100_000), gemm(TILES, 150, 512, 102_000))
    assert (found.verdict, found.judgement.basis) == (Verdict.MORE, "hit")
    assert found.notes[0] == "The launch takes 2.0 % more cycles, within noise (100,000 in A, 102,000 in B)."


def test_a_launch_that_takes_longer_is_a_regression_though_its_traced_waves_do_not() -> None:
    found = compare(gemm(TILES, 100, 512, 100_000), gemm(TILES, 100, 512, 125_000))
    assert (found.verdict, found.judgement.basis) == (Verdict.MORE, "launch")


def test_a_replicate_tells_what_launches_differ_by() -> None:
    a, b = gemm(TILES, 100, 512, 100_000), gemm(TILES, 100, 512, 104_000)
    assert compare(a, b).verdict is Verdict.SAME
    again = costs(table(TILES), [0, 4, 4, 100, 4, 4], rounds=(4,) * 8, seed=9)
    again = replace(again, launch=launch(100_500, 512))
    assert compare(a, b, replicate=again).verdict is Verdict.MORE
    assert compare(a, b, replicate=replace(again, launch=launch(105_000, 512))).verdict is Verdict.SAME


@pytest.mark.parametrize("doubt", [CUT, APART])
def test_a_launch_whose_duration_is_not_known_is_not_compared(doubt: str) -> None:
    a, b = gemm(TILES, 100, 512, 100_000), gemm(TILES, 100, 512, 150_000)
    found = compare(a, replace(b, launch=replace(b.launch, doubt=doubt)))
    assert (found.verdict, found.judgement.basis) == (Verdict.SAME, "hit")
    assert f"The launches are not compared: in B {doubt}." in found.notes


def test_lives_that_vary_make_launches_vary() -> None:
    """Sixteen waves whose lives vary by a tenth: the longest varies too, and is not a difference."""
    drawn = partial(costs, table(), STALLS, rounds=(3,) * 64, spread=0.1, has_launch=True)
    pairs = [compare(drawn(seed=i), drawn(seed=100 + i)) for i in range(20)]
    assert sum(pair.verdict is not Verdict.SAME for pair in pairs) <= 2


def test_ragged_waves_do_not_say_that_work_differs() -> None:
    """Of A only long waves are traced, of B long and short ones: their launches may do the same."""
    a = replace(costs(table(TILES), [4] * 6, rounds=(8,) * 4), launch=launch(100_000, 64))
    b = replace(costs(table(TILES), [4] * 6, rounds=(8, 4) * 2), launch=launch(100_400, 64))
    assert compare(a, b).verdict is Verdict.SAME


def test_only_waves_of_the_kernel_are_its_launch_whichever_way_it_is_spelled() -> None:
    """The listing has the name for people, the record of waves the symbol; a second kernel ran before."""
    trace = sample_trace("matmul_small")
    code = replace(trace.code, kernels=tuple(replace(one, name="_Z2pav") for one in trace.code.kernels))
    events = trace.occupancy
    ran = int(events.kernel.max())
    first = np.sort(np.unique(events.time))[0]
    kernel = np.where(events.time == first, ran + 1, events.kernel).astype(np.int32)
    names = {ran: "_Z2pav", ran + 1: "another"}
    found = launch_of(replace(trace, code=code, occupancy=replace(events, kernel=kernel, names=names)))
    whole = launch_of(trace)
    assert found.waves == whole.waves - int(np.count_nonzero((events.time == first) & events.is_start))


def test_what_chance_does_to_a_launch_is_that_of_drawing_all_its_lives() -> None:
    """Waves that can never be the last are not drawn; beside it all of them are."""
    rng = np.random.default_rng(3)
    begin = np.repeat(np.arange(20) * 1_000, 16)
    life = rng.integers(900, 1_100, len(begin))
    one = TracedLaunch(int((begin + life).max()), len(begin), int(life.sum()), (0,), False, begin, life)
    ends = [int((begin + rng.choice(life, len(life))).max()) for _ in range(4_000)]
    expected = SIDES * OF_A_MAXIMUM * float(np.std(ends)) / one.duration
    assert chance(one, np.random.default_rng(1)) == pytest.approx(expected, rel=0.25)


# -- captures ------------------------------------------------------------------------------------------


# A capture of one kernel
folder = fixture_of_each(sample_path, ["matmul_small", "vector_add", "reduction", "gfx12"])


def test_a_launch_is_what_the_file_says(folder: Path) -> None:
    """Plain arithmetic on the events of occupancy.json, (time, cu, simd, slot, 1 for a start, kernel)."""
    trace = open_trace(folder)
    found = launch_of(trace)
    document = json.loads((folder / "occupancy.json").read_text())
    events = [event for key, rows in document.items() if key.isdigit() for event in rows]
    starts, ends = ([event[0] for event in events if event[4] == is_start] for is_start in (1, 0))
    assert (found.waves, found.doubt) == (len(starts), "")
    assert found.wave_cycles == sum(ends) - sum(starts)  # the clock of an engine cancels out
    assert found.duration == int(trace.occupancy.time.max() - trace.occupancy.time.min())


def written_events(folder: Path) -> dict[str, list[list[int]]]:
    document = json.loads((folder / "occupancy.json").read_text())
    return {key: rows for key, rows in document.items() if key.isdigit()}


def test_without_a_common_clock_a_launch_took_at_least_as_long_as_an_engine_did(tmp_path: Path) -> None:
    write_sample("vector_add", tmp_path)
    (tmp_path / "realtime.json").unlink()
    trace = open_trace(tmp_path)
    times = [[row[0] for row in rows] for rows in written_events(tmp_path).values()]
    assert len(times) > 1
    longest = max(max(one) - min(one) for one in times)
    assert (launch_of(trace).duration, launch_of(trace).doubt) == (longest, APART)
    assert launch_shape(trace).duration == longest
    begin = [int(trace.occupancy.time[trace.occupancy.se == se].min()) for se in range(len(times))]
    assert len(set(begin)) == 1
    row = library_row(trace)
    assert (row.duration, row.span, row.duration_ns) == (-1, -1, -1)
    assert "clocks" in [note.name for note in health_notes(trace)]
    found = findings(trace, [all_waves(trace)])
    assert not {"ramp-up", "grid-tail"} & {one.name for one in found.findings}
    (duration,) = (one for one in found.numbers if one.id == "duration")
    assert duration.text == f"at least {longest:,} cycles"
    assert duration.of.endswith(APART)


def test_waves_whose_ends_were_not_recorded_last_to_the_end_of_the_traced_ones(tmp_path: Path) -> None:
    write_sample("vector_add", tmp_path)
    whole = open_trace(tmp_path)
    path = tmp_path / "occupancy.json"
    document = json.loads(path.read_text())
    document |= {key: [row for row in rows if row[4]] for key, rows in written_events(tmp_path).items()}
    path.write_text(json.dumps(document))
    trace = open_trace(tmp_path)
    expected = int(trace.waves.end.max() - whole.occupancy.time.min())
    assert (launch_of(trace).duration, launch_of(trace).doubt) == (expected, CUT)
    assert launch_shape(trace).duration == expected
    assert library_row(trace).duration == -1


def simulated(name: str) -> tuple[CaptureCosts, int]:
    """The costs of a sample, and the cycles of its launch as the simulator ran it."""
    trace, batch = sample_waves(name)
    return capture_costs(trace, [batch]), len(resident(sample(name)[1]))


def test_a_change_of_the_program_is_seen_in_its_launch() -> None:
    """The tutorial's kernel, whose load was moved up."""
    (a, before), (b, after) = simulated("tutorial_before"), simulated("tutorial_after")
    found, back = swapped(a, b)
    assert (found.verdict, back.verdict) == (Verdict.FEWER, Verdict.MORE)
    assert (found.judgement.basis, back.judgement.basis) == ("launch", "launch")
    assert found.kernel.launch.duration.value == pytest.approx(after / before)
    assert f"({before:,} in A, {after:,} in B)" in found.judgement.sentence


def test_launches_that_took_as_long_are_the_same() -> None:
    """Counters were recorded with one of them."""
    for found in swapped(simulated("matmul_small")[0], simulated("counters")[0]):
        assert found.verdict is Verdict.SAME
        assert found.kernel.launch.duration.value == 1
