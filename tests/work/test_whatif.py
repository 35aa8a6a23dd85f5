"""Predictions of findings' remedies."""

from threading import Event

import pytest

from rcv_py.work import whatif
from tests.support.findings import findings_near
from tests.support.limits import HANG_S
from tests.support.opened import all_waves, sample_trace


@pytest.mark.parametrize("is_small", [True, False])
def test_a_compiler_is_loaded_ahead_for_what_plain_python_does_not_play(
    monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    trace, is_loaded = sample_trace("matmul_small"), Event()
    found = findings_near(trace, [all_waves(trace)])
    monkeypatch.setattr(whatif, "numba_module", is_loaded.set)
    monkeypatch.setattr(whatif, "COMPILED", whatif.sample(trace).tokens - (not is_small))
    assert whatif.with_predictions(trace, found).guesses
    assert is_loaded.wait(0 if is_small else HANG_S) is not is_small
