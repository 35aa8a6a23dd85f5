"""The rules of tests/analysis/test_remedies.py on real captures."""

import pytest

from rcv_py.analysis.findings.inputs import FindingInputs
from tests.analysis.test_remedies import (
    of_trace,
    test_no_partial_count_behind_scalar_loads,  # noqa: F401
    test_remedies_of_captures_hold,  # noqa: F401
    test_the_worst_execution_is_of_the_findings_own_cause,  # noqa: F401
)
from tests.real import captures

SMALL = tuple(name for name in captures.THREAD_TRACES if name not in ("moe_reduce", "preshuffle_gemm"))


@pytest.fixture(params=SMALL)
def inputs(request: pytest.FixtureRequest) -> FindingInputs:
    return of_trace(captures.real_trace(request.param))
