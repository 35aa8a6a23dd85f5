"""No remedy for real captures changes what is read."""

import pytest

from tests.analysis.test_remedies_keep_reads import (
    assert_preloaded,
    assert_same,
    batches,
    possible,
    preloaded,
    proposed,
)
from tests.real import captures


@pytest.mark.parametrize("name", ["fused_rope_cache", "pa_mqa_small", "preshuffle_gemm", "vec_add"])
def test_of_captures(name: str) -> None:
    trace = captures.real_trace(name)
    for changes in (*proposed(trace), *list(possible(trace))[::8], *batches(trace)):
        assert_same(trace, changes)
    assert_preloaded(trace, list(preloaded(trace)))
