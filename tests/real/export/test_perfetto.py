"""The rules of tests/export/test_perfetto.py on real captures, and on those with reference results."""

import numpy as np
import pytest

from rcv_py.analysis.core.occupancy import all_resident
from tests.export.test_perfetto import (  # noqa: F401 - collected here, too
    Shown,
    shown_of,
    test_arrows_lead_from_producers_to_their_waits,
    test_slices_are_the_tokens_and_the_states,
    test_times_are_nanoseconds_of_the_clock,
    test_waves_are_threads_of_their_simd_and_sources_are_told,
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

shown = fixture_of_each(
    lambda name: shown_of(captures.trace_path(name)), ["flash_attn_small_after", "vec_add"]
)
# One with loops and sources
looping = fixture_of(lambda: shown_of(captures.trace_path("flash_attn_small_after")))


@pytest.mark.parametrize("name", captures.SYNTHETIC)
def test_made_up_captures_have_their_curve(name: str) -> None:
    trace, _, found = shown_of(captures.synthetic_path(name))
    curve = all_resident(trace.occupancy)
    values = found.values["resident waves, all waves"]
    assert [value for _, value in values] == curve.value.tolist()
    assert np.diff([time for time, _ in values]).tolist() == np.diff(curve.time).tolist()
