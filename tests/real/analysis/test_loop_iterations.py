"""Loops of real captures, beside reference numbers; and the rules for all captures on them."""

import statistics

import numpy as np
import pytest

from rcv_py.analysis.iterations.loop_summary import LOOPS
from tests.analysis.test_loop_iterations import (
    read,
    test_first_executions_are_the_same_in_parts,  # noqa: F401
    test_iterations_follow_each_other_and_hold_what_their_tokens_do,  # noqa: F401
    test_outliers_are_beyond_the_fence_of_their_loop,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

trace = fixture_of_each(captures.real_trace, ["pa_mqa_big", "preshuffle_gemm", "flash_attn_small_after"])
uneven = fixture_of(captures.real_trace, "preshuffle_gemm")


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_loops_are_the_reference_numbers(name: str) -> None:
    trace = captures.real_trace(name)
    loops = LOOPS.of(trace, read(trace)).loops
    table, iterations = loops.table, loops.iterations
    expected = {
        (row["branch_line"], row["head_line"]): row for row in captures.golden(f"beyond/{name}.json")["loops"]
    }
    assert {(int(a), int(b)) for a, b in zip(table.branch, table.head, strict=True)} == set(expected)
    for i in range(len(table)):
        row = expected[int(table.branch[i]), int(table.head[i])]
        assert (table.taken[i], table.waves[i]) == (row["taken"], row["waves"])
        cycles = row["cycles_per_iter"]
        if cycles is None:
            assert table.between[i] == 0
            assert np.isnan(table.median[i])
        else:
            found = {"min": table.shortest[i], "median": table.median[i], "max": table.longest[i]}
            # The reference has the upper of two middle values.
            own = iterations.cycles[(iterations.loop == i) & iterations.is_between].tolist()
            assert statistics.median_high(own) == cycles["median"]
            assert found == {**cycles, "median": statistics.median(own)}
