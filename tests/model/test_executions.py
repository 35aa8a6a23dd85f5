"""The executions of an instruction by a wave."""

import pytest

from tests.analysis import build
from tests.analysis.test_waitcnt_machine import tokens

WAVE = build.of_tokens(tokens([4, 7, 4, -1, 4]))


def test_executions_are_in_order() -> None:
    found = WAVE.executions(4)
    assert (len(found), found.rows.tolist()) == (3, [0, 2, 4])
    assert [found.token(hit) for hit in range(3)] == [0, 2, 4]


@pytest.mark.parametrize("hit", [None, -1, 3])
def test_there_are_no_others(hit: int | None) -> None:
    assert WAVE.executions(4).token(hit) is None


def test_how_many_come_before_a_token() -> None:
    found = WAVE.executions(4)
    assert [found.before(token) for token in range(6)] == [0, 1, 1, 2, 2, 3]


def test_an_instruction_that_the_wave_did_not_run() -> None:
    found = WAVE.executions(5)
    assert (len(found), found.token(0), found.before(3)) == (0, None, 0)
