"""The rules of tests/formats/raw/test_assemble.py on real raw captures."""

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from tests.formats.raw.test_assemble import (  # noqa: F401 - collected here, too
    test_engines_with_clocks_are_aligned_and_others_are_told_of,
    test_every_token_stands_where_it_should,
    test_residents_have_their_kernel,
    test_the_code_is_whole_and_has_its_kernel_and_places,
    test_totals_are_those_of_the_tokens,
    trace,
)
from tests.real import captures


def test_lds_of_a_launch_is_in_granules_of_its_gpu() -> None:
    """64 bytes of LDS are one granule: 1,280 bytes on gfx950, where other gfx9 allocate 512."""
    launches = open_trace(captures.SHARED / "cases" / "gfx950_lds_granule").dispatches
    assert [one.lds_size for one in launches] == [1280]


@pytest.mark.parametrize("name", ["gfx1100/gemm_run_0", "gfx1100/gemm_run_1"])
def test_engines_of_a_launch_begin_together_where_the_clock_changed_its_rate(name: str) -> None:
    """Their first waves begin within a few ticks of the constant clock, 30 cycles each."""
    capture = open_trace(captures.SHARED / "raw" / name)
    events = capture.occupancy
    first = [int(events.time[events.se == se].min()) for se in range(6)]
    assert max(first) - min(first) <= 60
    # The sample before the launch that SE 0 and SE 4 wrote at nearly the same tick says the same.
    one, other = (
        int(clock.shader[np.argmin(np.abs(clock.realtime - capture.clock.samples[4].realtime[3]))])
        for clock in (capture.clock.samples[0], capture.clock.samples[4])
    )
    assert abs(capture.clock.offsets[0] - capture.clock.offsets[4] - (other - one)) <= 60
