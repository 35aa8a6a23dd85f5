"""Every case of the reference's evaluator, and what we do differently on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.counters.formula.evaluate import Evaluator, read_definitions, scalar
from rcv_py.analysis.counters.formula.parser import FormulaError, FormulaKind
from tests.support import captures

# The reference computes in float32: each of at most a few operations rounds by half of 2^-23.
FLOAT32 = 4 * 2.0**-23

OURS = {  # cases that are valid, or mistakes, with us only
    "R := sum[A + B]": (1, 1, 1, 1),
    "R := sum[max(A, B), axis=TIME]": (2, 2, 2, 1),
    "R := sum[-A]": (1, 1, 1, 1),
    "R := delta[A + B]": (2, 2, 2, 3),
    "R := A != 3": (2, 2, 2, 4),
    "R := sum[A, axis=Cu]": (2, 2, 1, 4),
    "R := select[A, 0:NUM_SAMPLES:2]": (2, 2, 2, 2),
    "R := select[A, NUM_SE:4]": (2, 2, 2, 2),
    "R := mean[A, axis=[TIME,TIME]]": (2, 2, 2, 1),
    "R := 1.2.3": FormulaKind.PARSE,
    "R := 1e": FormulaKind.PARSE,
}


def cases() -> list[Any]:
    if not captures.SHARED.is_dir():
        return []
    return captures.golden("derived_counters.json")["cases"]


def tensors() -> dict[str, np.ndarray]:
    given = {
        name: np.array(tensor["data"]).reshape(tensor["shape"])
        for name, tensor in captures.golden("derived_counters.json")["counters"].items()
    }
    sizes = dict(zip(("NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES"), (2, 2, 2, 4), strict=True))
    return given | {name: scalar(value) for name, value in sizes.items()}


def run(text: str) -> np.ndarray:
    definitions = read_definitions(text)
    if definitions.errors:
        raise definitions.errors[0]
    return Evaluator(tensors(), definitions).value("R")


def check(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(FormulaError) as caught:
            run(case["defs"])
        assert caught.value.kind == case["error"]
        assert 0 <= caught.value.start <= caught.value.stop <= len(case["defs"])
        return
    found = run(case["defs"])
    assert found.dtype == np.float64
    assert list(found.shape) == case["shape"]
    expected = np.array([float(value) for value in case["data"]]).reshape(case["shape"])
    np.testing.assert_allclose(found, expected, rtol=FLOAT32, atol=0)


def test_there_are_as_many_cases_as_promised() -> None:
    captures.need_shared()
    assert len(cases()) == len({case["defs"] for case in cases()})
    assert len(cases()) > 90


@pytest.mark.parametrize(
    "case", [case for case in cases() if case["defs"] not in OURS], ids=lambda c: c["defs"]
)
def test_ours_gives_the_same_wherever_nothing_was_odd(case: dict[str, Any]) -> None:
    check(case)


@pytest.mark.parametrize(("text", "expected"), OURS.items(), ids=str)
def test_what_was_odd_is_regular(text: str, expected: tuple[int, ...] | FormulaKind) -> None:
    captures.need_shared()
    if isinstance(expected, FormulaKind):
        with pytest.raises(FormulaError) as caught:
            run(text)
        assert caught.value.kind is expected
        return
    assert run(text).shape == expected


def test_values_of_regular_brackets() -> None:
    captures.need_shared()
    a, b = tensors()["A"], tensors()["B"]
    assert run("R := sum[A + B]").item() == a.sum() + b.sum()
    np.testing.assert_array_equal(run("R := sum[max(A, B), axis=TIME]")[..., 0], np.maximum(a, b).sum(-1))
    assert run("R := sum[-A]").item() == -a.sum()
    np.testing.assert_array_equal(run("R := mean[A, axis=[TIME,TIME]]")[..., 0], a.mean(-1))
    assert run("R := 16777217").item() == 16777217
    np.testing.assert_array_equal(run("R := select[A, 0:NUM_SAMPLES:2]"), a[..., ::2])
    np.testing.assert_array_equal(run("R := select[A, (NUM_SE - 1) : 4]"), a[..., 1:])
    np.testing.assert_array_equal(run("R := !A + !(A - 3)"), (a == 3).astype(float))
