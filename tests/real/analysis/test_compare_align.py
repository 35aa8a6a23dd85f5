"""Which instruction of one build is which of another, of real kernels."""

import numpy as np

from rcv_py.analysis.compare.align import align
from tests.analysis.test_compare_align import (
    test_a_rebuild_of_five_thousand_instructions_is_aligned_in_linear_time,  # noqa: F401
)
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of

long_program = fixture_of(lambda: real_trace("mla_decode").code)


def test_the_flash_pair_has_the_same_instructions() -> None:
    a, b = (real_trace(f"flash_attn_small_{side}").code for side in ("before", "after"))
    found = align(a, b)
    assert found.is_same
    assert np.array_equal(found.to_b, np.arange(len(a)))
