"""What is doubtful about the real captures: none lost anything, some have lines that collapsed."""

import pytest

from tests.analysis.test_health_damage import LOSSES, notes_about
from tests.real import captures


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_a_real_capture_has_lost_nothing(name: str) -> None:
    assert not notes_about(captures.real_trace(name)).keys() & set(LOSSES)


def test_the_repaired_flash_attention_is_less_collapsed() -> None:
    before, after = (
        notes_about(captures.real_trace(f"flash_attn_small_{which}"))["mapping"]
        for which in ("before", "after")
    )
    assert before.number("what it is") == "a decorator"
    assert before.number("source lines") == 7
    assert after.number("source lines") == 31
    assert before.number("instructions on it") > after.number("instructions on it")
    assert before.number("effective lines") < after.number("effective lines")
