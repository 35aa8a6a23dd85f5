"""Tables beside real captures."""

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import run_facts
from tests.real import captures


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_real_tables_tell_kernel_and_device(name: str) -> None:
    trace = open_trace(captures.trace_path(name))
    found = run_facts(trace.path, trace.kernel_name, trace.target)
    assert found.kernel.threads > 0
    assert found.kernel.kernel in (trace.kernel_name, *(kernel.name for kernel in trace.code.kernels))
    assert found.agent is None or (found.agent.name, found.agent.waves_per_simd) == ("gfx950", 8)
