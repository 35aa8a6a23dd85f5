"""Occupancy of real captures: the rules for all captures, and names of kernels."""

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.device.occupancy_curves import dispatch_curves
from rcv_py.formats.uiout.load import open_folder
from tests.analysis.test_occupancy_curves import test_areas_are_the_lengths_of_all_lives  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)


def test_seven_ids_of_one_name_are_one_curve() -> None:
    trace = open_folder(captures.trace_path("fused_rope_cache"))
    assert len({k for k, name in trace.occupancy.names.items() if name.startswith("fused")}) == 7
    assert [one.name for one in dispatch_curves(trace.occupancy)] == ["fused_qk_rope_reshape_and_cache_0"]
    spread = replace(trace.occupancy, kernel=1 + np.arange(len(trace.occupancy), dtype=np.int32) % 7)
    found = dispatch_curves(spread)
    assert [(one.name, one.ids) for one in found] == [
        ("fused_qk_rope_reshape_and_cache_0", (1, 2, 3, 4, 5, 6, 7))
    ]
