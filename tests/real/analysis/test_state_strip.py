"""The rules of tests/analysis/test_state_strip.py on a real capture."""

from tests.analysis.test_state_strip import (  # noqa: F401
    test_every_cycle_of_every_wave_is_in_one_step,
    test_pixels_share_the_cycles_whatever_their_width,
)
from tests.real.captures import trace_path
from tests.support.fixtures import fixture_of
from tests.support.read_twice import opened

capture = fixture_of(lambda: opened(trace_path("flash_attn_small_after")), scope="module")
