"""Every case of the reference's evaluator, except those that we do differently on purpose."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.counters.formula.evaluate import scalar
from rcv_py.analysis.counters.formula.parser import FormulaError
from tests.analysis.test_formula_values import OURS_ALONE, SIZES, run
from tests.real import captures

# The reference computes in float32: each of at most a few operations rounds by half of 2^-23.
FLOAT32 = 4 * 2.0**-23
CASES = captures.golden("derived_counters.json")["cases"]


@cache
def tensors() -> dict[str, np.ndarray]:
    given = {
        name: np.array(tensor["data"]).reshape(tensor["shape"])
        for name, tensor in captures.golden("derived_counters.json")["counters"].items()
    }
    return given | {name: scalar(value) for name, value in SIZES.items()}


def check(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(FormulaError) as caught:
            run(case["defs"], tensors())
        assert caught.value.kind == case["error"]
        assert 0 <= caught.value.start <= caught.value.stop <= len(case["defs"])
        return
    found = run(case["defs"], tensors())
    assert found.dtype == np.float64
    assert list(found.shape) == case["shape"]
    expected = np.array([float(value) for value in case["data"]]).reshape(case["shape"])
    np.testing.assert_allclose(found, expected, rtol=FLOAT32, atol=0)


def test_there_are_as_many_cases_as_promised() -> None:
    assert len(CASES) == len({case["defs"] for case in CASES})
    assert len(CASES) > 90


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["defs"] not in OURS_ALONE], ids=lambda case: case["defs"]
)
def test_ours_gives_the_same_wherever_nothing_was_odd(case: dict[str, Any]) -> None:
    check(case)
