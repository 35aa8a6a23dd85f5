"""The rules of tests/analysis/test_critical_path.py on real captures."""

from functools import cache, partial

import pytest

from rcv_py.analysis.whatif.event_loop import Played
from rcv_py.analysis.whatif.recording import USUAL, Guess, Recording
from tests.analysis.test_critical_path import (
    played,
    test_a_path_of_what_would_run,  # noqa: F401
    test_a_table_adds_up,  # noqa: F401
    test_a_timeline_has_it_in_aligned_cycles_and_by_wave,  # noqa: F401
    test_its_length_is_the_span,  # noqa: F401
    test_what_has_slack_may_be_later,  # noqa: F401
    test_what_is_off_the_path_changes_nothing,  # noqa: F401
    test_what_is_on_the_path_wins_at_most_its_cycles,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

NAMES = ("flash_attn_small_after", "pa_mqa_small", "fused_rope_cache", "mla_decode", "vec_add")


@cache
def _of_capture(name: str, guess: Guess) -> tuple[Recording, Played]:
    return played(captures.real_trace(name), guess)


unit = fixture_of_each(lambda name: partial(_of_capture, name), NAMES)
in_order = fixture_of_each(lambda name: partial(_of_capture, name), NAMES)


@pytest.fixture
def two_units() -> list[tuple[Recording, Played]]:
    return [_of_capture(name, USUAL) for name in ("flash_attn_small_after", "pa_mqa_small")]


trace = fixture_of(captures.real_trace, "flash_attn_small_after")
