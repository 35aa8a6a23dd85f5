"""Workgroups of real captures: their sizes by the launch, and which they are by the definition itself."""

import numpy as np
import pytest

from rcv_py.analysis.waves.workgroups import WORKGROUPS
from tests.analysis.in_memory import capture_costs
from tests.analysis.test_workgroups import (  # noqa: F401
    batch,
    test_groups_are_those_of_the_definition,
    test_the_named_wave_is_the_one_the_definition_says_came_last,
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

# Waves a workgroup: by the launch's own size where a table of the run tells it, by hand from the starts else.
SIZES = {
    "flash_attn_small_after": 4,
    "flash_attn_small_before": 4,
    "fused_rope_cache": 1,
    "mla_decode": 8,
    "moe_reduce": 4,
    "pa_mqa_big": 4,
    "pa_mqa_small": 4,
    "preshuffle_gemm": 4,
    "vec_add": 4,
}
WITH_BARRIERS = ("flash_attn_small_after", "flash_attn_small_before", "preshuffle_gemm")


trace = fixture_of_each(captures.real_trace, WITH_BARRIERS)


@pytest.mark.parametrize("name", SIZES)
def test_all_workgroups_of_a_real_capture_are_of_one_size(name: str) -> None:
    trace = captures.real_trace(name)
    found = WORKGROUPS.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert set(found.waves.tolist()) == {SIZES[name]}
    assert int(found.waves.sum()) == len(trace.waves)
    assert found.is_guess == (name not in WITH_BARRIERS)
    for rows in (np.flatnonzero(found.number == n) for n in range(len(found))):
        assert len({(trace.waves.se[row], trace.waves.cu[row]) for row in rows}) == 1


def test_bootstrap_draws_whole_workgroups() -> None:
    trace = captures.real_trace("mla_decode")
    assert capture_costs(trace, [trace.reader.read(list(range(len(trace.waves))))]).workgroups == 4
