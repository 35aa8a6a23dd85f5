"""Distances from loads to waits, and chains of cross-lane operations, of real captures."""

import numpy as np

from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from tests.analysis.test_load_to_use import test_distances_fit_what_waits_tell  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, ["pa_mqa_big", "preshuffle_gemm", "moe_reduce"])


def test_chains_of_a_real_reduction() -> None:
    trace = captures.real_trace("pa_mqa_small")
    found = CROSS_LANE.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert len(found) > 0
    assert found.links.max() >= 4
    assert all(trace.code.text[line].startswith("ds_bpermute") for line in found.first.tolist())
    assert np.all(found.cycles > found.stall)
