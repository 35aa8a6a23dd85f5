"""What the reference viewer reads from the same folders: clock offsets by its rule, waves, tokens."""

import numpy as np
import pytest

from rcv_py.formats.uiout.clock import align
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.device import ClockSamples
from rcv_py.model.kinds import WaveState
from tests.support.captures import GOLDEN, THREAD_TRACES, golden, trace_path
from tests.support.reference_clock import open_as_reference, reference_align


def samples(**rows):
    """Clock samples from (shader, realtime) rows by engine: se0=[…]."""
    table = {int(name[2:]): np.array(sorted(pairs), dtype=np.int64) for name, pairs in rows.items()}
    return {se: ClockSamples(pairs[:, 0], pairs[:, 1]) for se, pairs in table.items()}


@pytest.mark.parametrize("name", GOLDEN)
def test_by_its_rule_the_offsets_are_those_of_the_reference(name):
    said = golden(f"rcv/{name}.json")
    trace = open_as_reference(trace_path(name))
    assert trace.clock.is_aligned is said["realtime_alignment_applied"] is True
    engines = np.unique(trace.waves.se).tolist()  # it lists those with waves
    assert {str(se): trace.clock.offsets[se] for se in engines} == said["se_time_offset"]


@pytest.mark.parametrize("name", GOLDEN)
def test_waves_lie_where_the_reference_draws_them(name):
    """The reference lists begin and end of every wave with its offset added."""
    said = golden(f"rcv/{name}.json")["waves"]
    trace = open_as_reference(trace_path(name))
    index = trace.waves
    mine = zip(
        index.se.tolist(), index.simd.tolist(), index.slot.tolist(), index.begin.tolist(), index.end.tolist(),
        strict=True,
    )  # fmt: skip
    assert sorted(mine) == sorted(
        (wave["se"], wave["simd"], wave["slot"], wave["begin"], wave["end"]) for wave in said
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_tokens_states_and_waits_of_each_wave_add_up_as_in_the_reference(name):
    trace = open_folder(trace_path(name))
    said = {wave["file"]: wave for wave in golden(f"rcv/{name}.json")["waves"]}
    assert set(said) == set(trace.waves.file)
    for wave in trace.reader.read(list(range(len(trace.waves)))).waves:
        known, tokens = said[trace.waves.file[wave.row]], wave.tokens
        cycles = np.bincount(tokens.kind, weights=tokens.duration, minlength=16).astype(int)
        assert (len(tokens), wave.cu, wave.id.wid) == (known["tokens"], known["cu"], known["wid"])
        assert cycles.tolist() == known["type_cycles"]
        assert int(tokens.stall.sum()) == known["stall_u16"]  # no stall of these is longer than 16 bits
        assert len(wave.waits) == known["waitcnt_entries"]
        states = np.bincount(wave.states.state, weights=wave.states.duration, minlength=5).astype(int)
        assert states.tolist()[1:] == [
            known["state_cycles"].get(state.name, 0) for state in list(WaveState)[1:]
        ]


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_ours_is_within_a_cycle_of_the_reference(name):
    ours, theirs = open_folder(trace_path(name)).clock, open_as_reference(trace_path(name)).clock
    assert ours.offsets.keys() == theirs.offsets.keys()
    assert max(abs(ours.offsets[se] - theirs.offsets[se]) for se in ours.offsets) <= 1
    assert ours.ticks_per_cycle == theirs.ticks_per_cycle


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_the_first_waves_of_all_engines_begin_together(name):
    events = open_folder(trace_path(name)).occupancy
    first = [int(events.time[events.se == se].min()) for se in np.unique(events.se).tolist()]
    assert max(first) - min(first) <= 40
    raw = open_folder(trace_path(name)).clock.offsets
    assert max(raw.values()) > 2000  # so that was not so before


def test_the_constants_of_the_reference_and_its_cut():
    """k = (1 + 200) / (25 + 4000); SE 0 starts 0 - 1000 k, SE 1 10 - 1000 k: 10 / k = 200.2… cycles later."""
    table = samples(se0=[[1000, 0], [3000, 100]], se1=[[1000, 10], [3000, 110]])
    assert reference_align(table, [0, 1]) == ({0: 0, 1: int(10 * 4025 / 201)}, 0.05)
    assert align(table) == ({0: 0, 1: 200}, 0.05)


def test_the_reference_shifts_nothing_if_an_engine_with_data_has_no_samples():
    table = samples(se0=[[1000, 500], [3000, 600]], se1=[[2000, 500], [4000, 600]])
    assert reference_align(table, [0, 1, 2])[0] == {}
    assert align(table)[0] == {0: 1000, 1: 0}


def test_only_the_outermost_samples_count_in_any_order():
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
