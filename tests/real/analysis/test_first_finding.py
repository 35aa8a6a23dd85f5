"""The first finding of real captures is the cause of what limits them, judged by hand."""

import pytest

from rcv_py.analysis.findings.bound_class import class_of
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.predicted import predicted
from tests.analysis.test_predicted_findings import found_in
from tests.real.analysis.test_bound_class import REAL, looked_at
from tests.real.captures import real_trace

FIRST = {
    "flash_attn_small_after": "grid-underfill",  # half of the SIMDs get no workgroup
    "flash_attn_small_before": "grid-underfill",
    "fused_rope_cache": "exposed-scalar-load",  # half of a life of 2 µs; one element a lane cannot be split
    "mla_decode": None,  # all waves leave early
    "moe_reduce": "memory-bound",
    "pa_mqa_big": "issue-bound",  # 69 % of its cycles issue, and the matrix pipe works in 16 %
    "pa_mqa_small": "grid-underfill",  # 92 of 128 SIMDs get none, and its loads can be split
    "preshuffle_gemm": "grid-tail",  # 1,024 workgroups, 768 fit
    "vec_add": "memory-bound",
}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_finding_is_the_cause(name: str) -> None:
    found = of_inputs(looked_at(name))
    assert (found.findings[0].name if found.findings else None) == FIRST[name]
    assert (found.bound_class and found.bound_class.name) == REAL.get(name)


def test_fewer_instructions_leave_matrix_work_and_bytes_as_they_are() -> None:
    inputs = looked_at("pa_mqa_big")
    issue = next(one for one in of_inputs(inputs).findings if one.name == "issue-bound")
    exposure = inputs.exposure
    assert issue.cycles <= exposure.resident - exposure.nothing - exposure.matrix
    assert class_of(inputs).name == "issue-bound"


@pytest.mark.parametrize("name", ["fused_rope_cache", "pa_mqa_small", "preshuffle_gemm", "vec_add"])
def test_predictions_agree_on_the_first(name: str) -> None:
    _, player = found_in(real_trace(name))
    assert predicted(of_inputs(looked_at(name)), player).findings[0].name == FIRST[name]
