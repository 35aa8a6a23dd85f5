"""What the reference viewer reads from the same folders: clock offsets by its rule, waves, tokens."""

import numpy as np
import pytest

from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.kinds import WaveState
from tests.formats.test_reference import (  # noqa: F401 - collected here, too
    test_our_offsets_bring_the_first_samples_together,
    test_ours_is_within_a_cycle_of_the_reference,
    test_the_first_waves_of_all_engines_begin_together,
)
from tests.real.captures import GOLDEN, THREAD_TRACES, golden, trace_path
from tests.support.fixtures import fixture_of_each
from tests.support.reference_clock import open_as_reference

folder = fixture_of_each(trace_path, THREAD_TRACES)  # A real capture


@pytest.mark.parametrize("name", GOLDEN)
def test_by_its_rule_the_offsets_are_those_of_the_reference(name: str) -> None:
    said = golden(f"rcv/{name}.json")
    trace = open_as_reference(trace_path(name))
    assert trace.clock.is_aligned is said["realtime_alignment_applied"] is True
    engines = np.unique(trace.waves.se).tolist()  # it lists those with waves
    assert {str(se): trace.clock.offsets[se] for se in engines} == said["se_time_offset"]


@pytest.mark.parametrize("name", GOLDEN)
def test_waves_lie_where_the_reference_draws_them(name: str) -> None:
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
def test_states_and_waits_of_each_wave_add_up_as_in_the_reference(name: str) -> None:
    trace = open_folder(trace_path(name))
    said = {wave["file"]: wave for wave in golden(f"rcv/{name}.json")["waves"]}
    assert set(said) == set(trace.waves.file)
    for wave in trace.reader.read(list(range(len(trace.waves)))).waves:
        known, tokens = said[trace.waves.file[wave.row]], wave.tokens
        assert (len(tokens), wave.cu, wave.id.wid) == (known["tokens"], known["cu"], known["wid"])
        assert len(wave.waits) == known["waitcnt_entries"]
        states = np.bincount(wave.states.state, weights=wave.states.duration, minlength=5).astype(int)
        assert states.tolist()[1:] == [
            known["state_cycles"].get(state.name, 0) for state in list(WaveState)[1:]
        ]
