"""Live registers of real programs, beside what their launches were given."""

import numpy as np
import pytest

from rcv_py.analysis.program.live_registers import RegisterFile, live_registers
from rcv_py.analysis.program.registers import register_use
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import facts_about
from tests.real import captures

VGPR, AGPR, SGPR = RegisterFile


@pytest.mark.parametrize("name", captures.TRACES)
def test_no_more_is_held_than_was_allocated(name: str) -> None:
    trace = open_trace(captures.trace_path(name))
    known, use = live_registers(trace.code), register_use(trace.code)
    most = known.pressure.max(axis=0).tolist()
    assert np.all(np.array(most) <= [use.vector, use.accumulation, use.scalar])
    assert most[VGPR] >= 0.9 * use.vector, "compilers waste little, so that a peak far below is a mistake"
    kernel = facts_about(trace, ()).kernel
    if kernel is not None and kernel.vgprs > 0:
        # rocprofv3 lists half of what gfx950 allocates: every program names more than its table says.
        listed = kernel.vgprs + max(0, kernel.accum_vgprs)
        assert listed < use.vector + use.accumulation
        assert most[VGPR] + most[AGPR] <= 2 * listed
        assert most[SGPR] <= kernel.sgprs
