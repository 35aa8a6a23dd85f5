"""Inverted waits of a real program."""

import numpy as np
import pytest

from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.whatif.hoist import groups
from tests.analysis.test_load_order import (
    test_what_a_wait_leaves_outstanding_is_awaited_by_the_next_one,  # noqa: F401
)
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of

trace = fixture_of(real_trace, "preshuffle_gemm")


def test_the_real_gemm_waits_for_loads_that_are_issued_last() -> None:
    """The numbers of the specification: instruction 332 waits for 319, issued behind 283, 285 and 286."""
    trace = real_trace("preshuffle_gemm")
    found = LOAD_ORDER.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    at = int(np.flatnonzero(found.wait == 332)[0])
    assert (int(found.load[at]), int(found.before[at]), int(found.registers[at])) == (319, 283, 0)
    assert found.deferred[at] == (283, 285, 286)
    direct = ~found.is_carried
    assert found.share[direct].sum() == pytest.approx(0.167, abs=0.001)
    four = {load for group in groups(found)[:2] for hoist in group.hoists for load in hoist.loads}
    assert four == {319, 323, 254, 258}
    # The address of 319 is there since 213, and its registers are dead since 259: nothing between touches it.
    text = trace.code.text
    assert "v142" in text[213].split(",")[0]
    assert not any("v70" in text[row] or "v[70:73]" in text[row] for row in range(283, 319))
