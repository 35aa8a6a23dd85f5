"""The rules of tests/analysis/test_state_strip.py on a real capture."""

import pytest

from tests.analysis.test_state_strip import (  # noqa: F401
    test_every_cycle_of_every_wave_is_in_one_step,
    test_pixels_share_the_cycles_whatever_their_width,
)
from tests.real.captures import trace_path
from tests.support.read_twice import Opened, opened


@pytest.fixture(scope="module")
def capture() -> Opened:
    return opened(trace_path("flash_attn_small_after"))
