"""What formulas give: against numpy written by hand, and the mistakes that are found in them."""

from collections.abc import Mapping

import numpy as np
import pytest

from rcv_py.analysis.counters.formula.evaluate import Evaluator, read_definitions, scalar
from rcv_py.analysis.counters.formula.parser import FormulaError, FormulaKind

# Axes XCC, SE, CU and time.
A = np.arange(1.0, 33.0).reshape(2, 2, 2, 4)
B = (2 * np.arange(32.0) % 5).reshape(2, 2, 2, 4)
T = np.array([10.0, 20.0, 35.0, 50.0]).reshape(1, 1, 1, 4)
S = np.array([2.0, 3.0]).reshape(1, 2, 1, 1)
C0 = np.array([1.0, 0.0, 0.0, 2.0]).reshape(1, 1, 1, 4)
Z = np.array([1.0, 2.0, 3.0]).reshape(1, 1, 1, 3)
SIZES = {"NUM_XCC": 2, "NUM_SE": 2, "NUM_CU": 2, "NUM_SAMPLES": 4}
TENSORS = {"A": A, "B": B, "T": T, "S": S, "c:0": C0, "Z": Z}
TENSORS |= {name: scalar(value) for name, value in SIZES.items()}

with np.errstate(divide="ignore", invalid="ignore"):
    A_BY_B = A / B
ACROSS = A.sum((0, 1, 2), keepdims=True)
VALUES: dict[str, np.ndarray | float] = {
    "R := A": A,
    "R := 2 + 3 * 4": 14,
    "R := (2 + 3) * 4": 20,
    "R := --5": 5,
    "R := 10 - 4 - 3": 3,
    "R := 100 / 10 / 5": 2,
    "R := A + T": A + T,
    "R := A * S": A * S,
    "R := A / B": A_BY_B,
    "R := 0 / 0": np.nan,
    "R := sum[A]": A.sum(),
    "R := mean[A]": A.mean(),
    "R := max[A]": A.max(),
    "R := sum[A, axis=[]]": A.sum(),
    "R := sum[A,]": A.sum(),
    "R := sum[A, axis=TIME]": A.sum(3, keepdims=True),
    "R := sum[A, axis=3]": A.sum(3, keepdims=True),
    "R := sum[A, axis=SAMPLES]": A.sum(3, keepdims=True),
    "R := sum[A, axis=WGP]": A.sum(2, keepdims=True),
    "R := sum[A, axis=INSTANCE]": A.sum(2, keepdims=True),
    "R := sum[A, axis=[XCC,SE,CU]]": ACROSS,
    "R := mean[A, axis=[XCC, 3]]": A.mean((0, 3), keepdims=True),
    "R := sum[(max(A, B)), axis=TIME]": np.maximum(A, B).sum(3, keepdims=True),
    "R := sum[sum[A, axis=CU], axis=SE]": A.sum((1, 2), keepdims=True),
    "R := select[A, 1, axis=TIME]": A[..., 1:2],
    "R := select[A, 1.9]": A[..., 1:2],
    "R := select[A, -1]": A[..., 3:],
    "R := select[A, 0, axis=XCC]": A[:1],
    "R := select[A, 0:2]": A[..., :2],
    "R := select[A, 1:4:2, axis=TIME]": A[..., 1:4:2],
    "R := select[A, 0:NUM_SAMPLES]": A,
    "R := select[A, 0:NUM_SAMPLES :2]": A[..., ::2],
    "R := select[sum[A, axis=CU], (NUM_SE - 1), axis=SE]": A.sum(2, keepdims=True)[:, 1:],
    "R := remove[A, 0]": A[..., 1:],
    "R := remove[A, -1, axis=SE]": A[:, :1],
    "R := delta[A]": np.diff(A),
    "R := delta[T]": np.diff(T),
    "R := linear(4)": np.arange(4.0).reshape(1, 1, 1, 4),
    "R := linear(2.7)": np.arange(2.0).reshape(1, 1, 1, 2),
    "R := linear(0)": np.zeros((1, 1, 1, 0)),
    "R := linear(NUM_SE, axis=SE)": np.arange(2.0).reshape(1, 2, 1, 1),
    "R := linear(4, axis=TIME) * 2 + 1": 2 * np.arange(4.0).reshape(1, 1, 1, 4) + 1,
    "R := A > 16": A > 16,
    "R := A <= 4": A <= 4,
    "R := 1 < 2 < 3": 1,
    "R := A > 3 & A < 7": (A > 3) & (A < 7),
    "R := A < 3 | A > 30": (A < 3) | (A > 30),
    "R := 2 & 3": 1,
    "R := A + 1 > 3": A > 2,
    "R := max(A, B)": np.maximum(A, B),
    "R := min(A, 10)": np.minimum(A, 10),
    "R := max(A, B, 20)": np.maximum(np.maximum(A, B), 20),
    "R := max(A, T)": np.maximum(A, T),
    "R := c:0": C0,
    "R := c:0 / T": C0 / T,
    "X := sum[A, axis=[XCC,SE,CU]]\nR := X / max[X]": ACROSS / ACROSS.max(),
    "# comment only\nR := 3 # trailing\n\n": 3,
    "R := 5\nR := 6": 6,
    "A := 99\nR := A": A,  # what was recorded counts
}
MISTAKES = {
    FormulaKind.PARSE: (
        "R := sum[A, axis=-1]", "R := sum[A, foo]", "R := sum[A, axis=[XCC SE]]", "R := add(A, B)", "R := ",
        "R := 3 4", "R := 3 $ 4", ":= 3", "R := 1.2.3", "R := 1e",
    ),
    FormulaKind.INDEX: (
        "R := select[A, 4]", "R := select[A, 0:5]", "R := select[A, 2:2]", "R := select[A, 0, axis=All]",
        "R := remove[A, -5]",
    ),
    FormulaKind.SCALAR: ("R := select[A, T]", "R := linear(A)"),
    FormulaKind.SHORT: ("R := remove[T, 0, axis=XCC]", "R := delta[S]"),
    FormulaKind.SHAPE: ("R := max(Z, T)",),
    FormulaKind.UNKNOWN: ("R := UNKNOWN",),
    FormulaKind.CYCLE: ("R := R",),
}  # fmt: skip
OURS = {  # what other programs refuse, or take for something else
    "R := sum[A + B]": A.sum() + B.sum(),
    "R := sum[max(A, B), axis=TIME]": np.maximum(A, B).sum(3, keepdims=True),
    "R := sum[-A]": -A.sum(),
    "R := delta[A + B]": np.diff(A + B),
    "R := A != 3": A != 3,
    "R := sum[A, axis=Cu]": A.sum(2, keepdims=True),
    "R := select[A, 0:NUM_SAMPLES:2]": A[..., ::2],
    "R := select[A, NUM_SE:4]": A[..., 2:],
    "R := mean[A, axis=[TIME,TIME]]": A.mean(3, keepdims=True),
    "R := select[A, (NUM_SE - 1) : 4]": A[..., 1:],
    "R := !A + !(A - 3)": A == 3,
    "R := 16777217": 16777217,
}
OURS_ALONE = {*OURS, "R := 1.2.3", "R := 1e"}


def run(text: str, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """The value of R."""
    definitions = read_definitions(text)
    if definitions.errors:
        raise definitions.errors[0]
    return Evaluator(tensors, definitions).value("R")


@pytest.mark.parametrize(("text", "value"), (VALUES | OURS).items(), ids=str)
def test_a_formula_gives_what_numpy_does(text: str, value: np.ndarray | float) -> None:
    found, expected = run(text, TENSORS), np.asarray(value, dtype=np.float64)
    assert found.dtype == np.float64
    assert found.shape == (expected.shape or (1, 1, 1, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in MISTAKES.items() for text in texts], ids=str
)
def test_a_mistake_is_found_where_it_is(kind: FormulaKind, text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        run(text, TENSORS)
    assert caught.value.kind is kind
    assert 0 <= caught.value.start <= caught.value.stop <= len(text)
