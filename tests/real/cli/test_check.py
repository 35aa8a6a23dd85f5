"""`rcv check` on real captures: the card, the codes, and the noise of a replicate."""

from tests.real.captures import trace_path
from tests.support.command_runs import printed

BEFORE, AFTER = "flash_attn_small_before", "flash_attn_small_after"


def test_the_card() -> None:
    text = printed("check", trace_path(BEFORE))
    assert "verdict  2 warnings, 3 notes" in text
    assert "flash_attn_func.py:257, a decorator" in text
    for word in ("evidence", "impact", "fix", "settings", "att_target_cu: ", "Looked at:"):
        assert word in text


def test_a_capture_that_is_sound_costs_no_code() -> None:
    printed("check", trace_path("pa_mqa_big"), "--strict")


def test_a_replicate_tells_the_noise() -> None:
    text = printed("check", trace_path(BEFORE), "--twin", trace_path(AFTER))
    assert "A replicate differs by 5.8 % of the latency per execution" in text
