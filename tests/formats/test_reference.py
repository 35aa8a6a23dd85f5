"""Clocks of shader engines are aligned, by our rule and by that of the reference viewer."""

from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.uiout.clock import align
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.device import ClockSamples
from tests.support.fixtures import fixture_of_each
from tests.support.reference_clock import open_as_reference, reference_align
from tests.support.samples import sample, sample_path


def samples(**rows):
    """Clock samples from (shader, realtime) rows by engine: se0=[…]."""
    table = {int(name[2:]): np.array(sorted(pairs), dtype=np.int64) for name, pairs in rows.items()}
    return {se: ClockSamples(pairs[:, 0], pairs[:, 1]) for se, pairs in table.items()}


# A capture of several engines
folder = fixture_of_each(sample_path, ["matmul_tiled", "vector_add", "gfx11", "gfx12"])


def test_ours_is_within_a_cycle_of_the_reference(folder: Path) -> None:
    ours, theirs = open_folder(folder).clock, open_as_reference(folder).clock
    assert ours.offsets.keys() == theirs.offsets.keys()
    assert max(abs(ours.offsets[se] - theirs.offsets[se]) for se in ours.offsets) <= 1
    assert ours.ticks_per_cycle == theirs.ticks_per_cycle


def test_our_offsets_bring_the_first_samples_together(folder: Path) -> None:
    clock = open_folder(folder).clock
    assert len(clock.samples) > 1
    firsts = {int(clock.samples[se].shader[0]) + clock.offsets[se] for se in clock.samples}
    assert len(firsts) == 1  # all engines wrote their first sample at the same tick of the constant clock


def test_the_first_waves_of_all_engines_begin_together(folder: Path) -> None:
    events = open_folder(folder).occupancy
    first = [int(events.time[events.se == se].min()) for se in np.unique(events.se).tolist()]
    assert max(first) - min(first) <= 40
    assert max(open_folder(folder).clock.offsets.values()) > 200  # so that was not so before


@pytest.mark.parametrize("name", ["matmul_tiled", "vector_add", "gfx11", "gfx12"])
def test_offsets_are_those_of_the_simulator(name: str) -> None:
    path, truth = sample(name)
    first = min(truth.offset_of_se.values())
    assert open_folder(path).clock.offsets == {se: one - first for se, one in truth.offset_of_se.items()}


def test_the_constants_of_the_reference_and_its_cut():
    """k = (1 + 200) / (25 + 4000); SE 0 starts 0 - 1000 k, SE 1 10 - 1000 k: 10 / k = 200.2… cycles later."""
    table = samples(se0=[[1000, 0], [3000, 100]], se1=[[1000, 10], [3000, 110]])
    assert reference_align(table, [0, 1]) == ({0: 0, 1: int(10 * 4025 / 201)}, 0.05)
    assert align(table) == ({0: 0, 1: 200}, 0.05)


def test_the_reference_shifts_nothing_if_an_engine_with_data_has_no_samples():
    table = samples(se0=[[1000, 500], [3000, 600]], se1=[[2000, 500], [4000, 600]])
    assert reference_align(table, [0, 1, 2])[0] == {}
    assert align(table)[0] == {0: 1000, 1: 0}


def test_a_clock_that_ran_at_another_rate_before_the_launch_does_not_move_engines():
    """SE 0 wrote a sample 40,000 ticks before the launch, when a tick took 10 cycles instead of 20."""
    near = {"se0": [[401_000, 40_000], [403_000, 40_100]], "se1": [[901_500, 40_000], [903_500, 40_100]]}
    early = {**near, "se0": [[1_000, 0], *near["se0"], [405_000, 40_200]]}
    lives = {0: (401_400, 402_600), 1: (901_900, 903_100)}
    for table in (near, early):
        assert align(samples(**table), lives)[0] == {0: 500_500, 1: 0}


def test_the_mean_over_a_launch_is_nearer_than_its_coarse_ticks():
    """SE 1 is 400 cycles ahead of SE 0; a sample says the time in steps of 4 ticks, 80 cycles."""
    rows = {}
    for se, (ahead, first) in enumerate(((1000, 0), (1400, 31))):
        time = range(first, 4000, 97)
        rows[f"se{se}"] = [[one + ahead, one // 80 * 4] for one in time]
    offsets, _ = align(samples(**rows), {0: (1000, 5000), 1: (1400, 5400)})
    assert offsets[1] == 0
    assert abs(offsets[0] - 400) <= 10


def test_without_waves_the_first_samples_count_in_any_order():
    ends = samples(se0=[[1000, 500], [3000, 600]], se1=[[2000, 500], [4000, 600]])
    more = samples(
        se0=[[3000, 600], [1000, 500], [2000, 999]], se1=[[2500, 0], [4000, 600], [2000, 500], [3000, 1]]
    )
    for rule in (align, reference_align):
        assert rule(more) == rule(ends)


def test_an_engine_whose_clock_stood_still_does_not_spoil_the_rate():
    table = samples(se0=[[1000, 500], [3000, 600]], se1=[[2000, 500], [2000, 900]], se2=[[0, 500], [9, 900]])
    offsets, rate = align(table)
    assert rate == 0.05  # by SE 0 alone: SE 1 has no cycles, SE 2 begins at 0
    assert offsets == {0: 1000, 1: 0, 2: 2000}


def test_ticks_since_boot_do_not_cost_cycles():
    """A machine counts 10^16 ticks of 100 MHz in three years; a double would be off by tens of cycles."""
    boot = 10**16
    table = samples(se0=[[1000, boot], [3000, boot + 100]], se1=[[1000, boot + 1], [3000, boot + 101]])
    assert align(table)[0] == {0: 0, 1: 20}


def test_nanoseconds_use_the_rate_of_the_samples_around_the_waves():
    """The clock idles at 1 GHz before the launch and after it; in between, it runs at 2 GHz."""
    cycles = [1000, 1_001_000, 1_003_000, 1_005_000, 2_005_000]
    ticks = [0, 100_000, 100_100, 100_200, 200_200]  # of 10 ns
    table = samples(SE0=[*zip(cycles, ticks, strict=True)])
    assert align(table, {0: (1_001_200, 1_002_800)})[1] == 100 / 2000
    assert align(table, {0: (1_001_200, 1_004_800)})[1] == 200 / 4000
    assert align(table)[1] == 200_200 / 2_004_000


def test_too_few_ticks_around_the_waves_are_no_rate():
    """A tick more or less of five would make times wrong by a fifth: the whole recording is better."""
    table = samples(SE0=[(1000, 0), (101_000, 5000), (101_100, 5005), (201_100, 10_005)])
    assert align(table, {0: (101_010, 101_090)})[1] == 10_005 / 200_100
