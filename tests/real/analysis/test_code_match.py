"""Texts of real captures raise no alarm; those that are shifted do."""

import pytest

from rcv_py.analysis.program.code_match import MATCH
from tests.analysis.test_code_match import opened, shifted
from tests.real import captures


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_real_captures(name: str) -> None:
    trace, batches = opened(captures.trace_path(name))
    found = MATCH.of(trace, batches)
    assert found.judged > 0
    assert found.mismatched == 0
    for by in (1, -1, 7):
        wrong = MATCH.of(shifted(trace, by), batches)
        assert wrong.is_wrong
        assert wrong.share > 0.2, "forty times what raises the alarm"


@pytest.mark.parametrize("name", captures.SYNTHETIC)
def test_made_up_captures_of_all_generations(name: str) -> None:
    trace, batches = opened(captures.synthetic_path(name))
    assert MATCH.of(trace, batches).mismatched == 0
    assert MATCH.of(shifted(trace, 1), batches).is_wrong
