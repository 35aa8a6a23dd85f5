"""The rules of tests/analysis/test_remedies.py on real captures."""

from tests.analysis.test_remedies import (
    of_trace,
    test_no_partial_count_behind_scalar_loads,  # noqa: F401
    test_remedies_of_captures_hold,  # noqa: F401
    test_the_worst_execution_is_of_the_findings_own_cause,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

SMALL = tuple(name for name in captures.THREAD_TRACES if name not in ("moe_reduce", "preshuffle_gemm"))


inputs = fixture_of_each(lambda name: of_trace(captures.real_trace(name)), SMALL)
