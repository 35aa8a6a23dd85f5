"""What limits the kernels of real captures, and the rules of tests/analysis/test_bound_class.py on them."""

from functools import cache

import pytest

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.bound_class import ISSUE, LATENCY, LAUNCH, MEMORY, class_of
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.formats.uiout.run_files import run_facts
from tests.analysis.test_bound_class import (
    test_gains_are_shares_of_the_duration,  # noqa: F401
    test_the_shape_of_a_launch_cycle_by_cycle,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

# By hand from the record: waves by place and time, issue and passes cycle by cycle (test_bounds), widths by
# mnemonic.  mla_decode only left early, which is said instead of a class.
REAL = {
    "flash_attn_small_after": LAUNCH,  # 16 of 32 compute units got a workgroup
    "flash_attn_small_before": LAUNCH,
    "fused_rope_cache": LAUNCH,  # 8 workgroups of one wave a shader engine
    "pa_mqa_small": LAUNCH,  # 9 of 32 compute units
    "pa_mqa_big": ISSUE,  # 69 % issue
    "vec_add": MEMORY,  # 15 bytes a unit and cycle of 13, nine tenths of the stall for loads
    "moe_reduce": MEMORY,
    "preshuffle_gemm": LATENCY,  # 40 % matrix, 44 % nothing
}


@cache
def looked_at(name: str) -> FindingInputs:
    trace = captures.real_trace(name)
    batch = trace.reader.read(list(range(len(trace.waves))))
    return FindingInputs(
        InMemory(trace, [batch]), facts=run_facts(trace.path, trace.kernel_name, trace.target)
    )


@pytest.mark.parametrize("name", REAL)
def test_real_captures(name: str) -> None:
    assert class_of(looked_at(name)).name == REAL[name]


launched = fixture_of_each(looked_at, ["pa_mqa_small", "flash_attn_small_after", "vec_add"])
underfilled = fixture_of_each(looked_at, ["pa_mqa_small", "flash_attn_small_after"])


def test_the_tables_near_a_capture_tell_the_simds_of_the_device() -> None:
    assert looked_at("vec_add").shape.simds == 128
