"""Where a load of a real kernel could stand."""

import numpy as np

from rcv_py.analysis.waits.hoisting import room_above, why_not_before
from tests.real.captures import real_trace


def test_a_load_of_a_real_kernel_goes_as_far_as_its_registers_allow() -> None:
    trace = real_trace("preshuffle_gemm")
    # Its destination is last read by 259, its address is written by 213 (told by the listing).
    assert why_not_before(trace, 319, 283) == ""
    assert 259 <= room_above(trace, 319).top <= 283
    assert why_not_before(trace, 319, room_above(trace, 319).top - 1).endswith(".")
    for row in np.flatnonzero(trace.code.hits)[::40].tolist():
        room = room_above(trace, row)
        assert 0 <= room.top <= row
        assert room.why
