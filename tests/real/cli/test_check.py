"""`rcv check` on real captures: the card, the codes, and the noise of a replicate."""

from __future__ import annotations

import pytest

from tests.features.health.test_command import run
from tests.real.captures import trace_path

BEFORE, AFTER = "flash_attn_small_before", "flash_attn_small_after"


def test_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace_path(BEFORE))
    assert "verdict  2 warnings, 3 notes" in text
    assert "flash_attn_func.py:257, a decorator" in text
    for word in ("evidence", "impact", "fix", "settings", "att_target_cu: ", "Looked at:"):
        assert word in text


def test_a_capture_that_is_sound_costs_no_code(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, trace_path("pa_mqa_big"), "--strict")


def test_a_replicate_tells_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace_path(BEFORE), "--twin", trace_path(AFTER))
    assert "A replicate differs by 5.8 % of the latency per execution" in text
