"""Mistakes in formulas: the right characters, a sentence, and nothing worse than a FormulaError."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.counters.formula.evaluate import (
    MAX_TEXT,
    Evaluator,
    joined,
    read_definitions,
    scalar,
    shape_text,
)
from rcv_py.analysis.counters.formula.parser import FUNCTIONS, MAX_DEPTH, FormulaError, FormulaKind, parse
from tests.support.python_calls import python_calls

A = np.arange(1.0, 9.0).reshape(1, 2, 1, 4)
GIVEN = {"A": A, "LDS_BANK_CONFLICT:1": A * 2, "N": scalar(4)}


def failure(text: str) -> tuple[FormulaError, str]:
    """The error of the last line, and the characters it is about."""
    definitions = read_definitions(text)
    name = text.rpartition("\n")[2].partition(":=")[0].strip()
    found = definitions.errors[0] if definitions.errors else Evaluator(GIVEN, definitions).result(name)
    assert isinstance(found, FormulaError), found
    return found, text[found.start : found.stop]


def value(text: str) -> np.ndarray:
    return Evaluator(GIVEN, read_definitions(f"R := {text}")).value("R")


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("R := A +", "parse", ""),
        ("R := A $ 2", "parse", "$"),
        ("R := A A", "parse", "A"),
        ("R := (A", "parse", ""),
        ("R := sum(A)", "parse", "sum"),
        ("R := summ[A]", "parse", "summ"),
        ("R := sum[A, axis=Q]", "parse", "Q"),
        ("R := sum[A, axs=SE]", "parse", "axs"),
        ("R := max(A)", "parse", "max(A)"),
        ("R := 1 + 1.2.3", "parse", "1.2.3"),
        ("just words", "parse", "just words"),
        ("R := A + AB", "unknown-name", "AB"),
        ("R := 1 + select[A, 9]", "index", "9"),
        ("R := 2 * select[A, 3:2]", "index", "3:2"),
        ("R := select[A, 0 / 0]", "index", "0 / 0"),
        ("R := 1 + (A + linear(3))", "shape", "A + linear(3)"),
        ("R := 1 + delta[A, axis=CU]", "axis-too-short", "delta[A, axis=CU]"),
        ("R := max[linear(0)]", "axis-too-short", "max[linear(0)]"),
        ("R := linear(A)", "not-scalar", "A"),
        ("R := 1 + linear(1e9)", "limit", "linear(1e9)"),
        ("B := A + Q\nR := 1 + B", "unknown-name", "B"),
        ("B := R\nR := 1 + B", "cycle", "R := 1 + B"),
    ],
)
def test_the_error_points_at_its_characters(text: str, kind: str, part: str) -> None:
    error, found = failure(text)
    assert (error.kind, found) == (kind, part)
    assert str(error).endswith((".", "?"))


def test_a_picture_has_line_column_and_marks() -> None:
    text = "# first\nR := A + AB # why"
    error, _ = failure(text)
    assert error.place(text) == (2, 10)
    shown = "R := A + AB # why\n         ^^\nLine 2, column 10: There is no counter or formula AB."
    assert error.picture(text) == shown


def test_sentences_help() -> None:
    assert "write sum[x, axis=…]" in str(failure("R := sum(A)")[0])
    assert "did you mean sum?" in str(failure("R := summ[A]")[0])
    assert "Did you mean LDS_BANK_CONFLICT:1?" in str(failure("R := LDS_BANK_CONFLIT:1")[0])
    assert "B needs itself: B → R → B." in str(failure("B := R\nR := B\nQ := B")[0])


def test_a_bad_line_costs_only_itself() -> None:
    text = "X := 1 +\nY := 2\nnothing\nZ := X + Y\n"
    definitions = read_definitions(text)
    results = Evaluator({}, definitions)
    assert len(definitions.errors) == 2
    assert results.value("Y").item() == 2
    assert str(results.result("Z")).startswith("X has no value: Here the line ends")


def test_later_definitions_replace_and_given_tensors_win() -> None:
    base, more = read_definitions("P := 1\nQ := P + 1"), read_definitions("P := 10\nA := 3")
    results = Evaluator(GIVEN, joined([base, more]))
    assert results.value("Q").item() == 11
    assert results.value("A") is A
    assert results.uses("Q") == frozenset()
    assert Evaluator(GIVEN, read_definitions("B := A * N\nC := B + 1")).uses("C") == {"A", "N"}


def test_a_colon_belongs_to_names_outside_of_ranges() -> None:
    np.testing.assert_array_equal(value("LDS_BANK_CONFLICT:1 - A"), A)
    np.testing.assert_array_equal(value("select[LDS_BANK_CONFLICT:1, 1:N:2]"), 2 * A[..., 1::2])
    np.testing.assert_array_equal(value("select[A, max[LDS_BANK_CONFLICT:1] - 16 : N - 1]"), A[..., :3])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 + 3 * 4 - 6 / 2", 11),
        ("1 | 0 & 0", 1),
        ("1 + 1 == 2 & 3 > 2", 1),
        ("-2 * -3", 6),
        ("!1 + 1", 1),
        ("1 - -1", 2),
        ("10 / 4 / 5", 0.5),
        ("3 > 2 > 1", 0),
        ("max(1, 2, 3) - min(4, 5)", -1),
        (".5e1 + 1E-1", 5.1),
    ],
)
def test_precedence(text: str, number: float) -> None:
    assert value(text).item() == number


def test_shapes_are_told_in_words() -> None:
    assert shape_text(A) == "2 SE × 4 TIME"
    assert shape_text(scalar(1)) == "one number"


def test_depth_is_limited_but_length_is_not_depth() -> None:
    for opening, closing in (("(", ")"), ("sum[", "]"), ("-", ""), ("max(1, ", ")"), ("select[A, ", "]")):
        deep = opening * MAX_DEPTH + "A" + closing * MAX_DEPTH
        with pytest.raises(FormulaError) as caught:
            parse(deep)
        assert caught.value.kind is FormulaKind.LIMIT
        parse(opening * (MAX_DEPTH - 1) + "A" + closing * (MAX_DEPTH - 1))
    assert value("+".join(["1"] * 3_000)).item() == 3_000


def test_a_long_chain_of_definitions_is_no_recursion() -> None:
    text = "\n".join(["X0 := 1", *(f"X{i} := X{i - 1} + 1" for i in range(1, 900))])
    assert Evaluator({}, read_definitions(text)).value("X899").item() == 900


def test_sizes_are_limited() -> None:
    assert "characters" in str(read_definitions("#" * (MAX_TEXT + 1)).errors[0])
    big = "linear(4096, axis=SE) * linear(8192)"
    with pytest.raises(FormulaError, match="would have 33,554,432 numbers"):
        value(big)


def test_evaluation_is_lazy_and_computed_once() -> None:
    class Counted(dict):
        asked = 0

        def __getitem__(self, name: str) -> np.ndarray:
            Counted.asked += name == "A"
            return super().__getitem__(name)

    results = Evaluator(Counted(GIVEN), read_definitions("P := sum[A]\nQ := P + P\nS := P * 2\nT := A"))
    results.value("Q")
    results.value("S")
    assert Counted.asked == 1


def test_an_evaluation_of_a_large_tensor_takes_no_step_an_element() -> None:
    big = {"A": np.ones((1, 4, 16, 20_000))}
    text = "R := sum[A * 2 + max(A, 3), axis=[XCC,SE,CU]] / max[sum[A, axis=CU]]"
    assert python_calls(lambda: Evaluator(big, read_definitions(text)).value("R")) < 2000  # 570


WORDS = "A N Q R S := # axis = TIME SE All 0 1 2.5 1e9 1e400 ( ) [ ] , : + - * / < ! & | == $ é"
PIECES = st.sampled_from((*FUNCTIONS, *WORDS.split(" ")))


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40), st.sampled_from(["", " ", "\n"]))
def test_nothing_but_a_formula_error(pieces: list[str], gap: str) -> None:
    text = "R := " + gap.join(pieces)
    definitions = read_definitions(text)
    for error in definitions.errors:
        assert 0 <= error.start <= error.stop <= len(text)
        assert error.picture(text)
    results = Evaluator(GIVEN, definitions)
    for row in definitions.rows:
        found = results.result(row.name)
        assert isinstance(found, FormulaError) or (found.ndim == 4 and found.dtype == np.float64)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_at_all(text: str) -> None:
    for error in read_definitions(f"R := {text}").errors:
        assert 0 <= error.start <= error.stop <= len(text) + 5
