"""Finding texts."""

from __future__ import annotations

import pytest

from rcv_py.analysis.search import find
from rcv_py.base.errors import UsageError

TEXTS = ("v_add_f32 v0, v1", "s_waitcnt vmcnt(0)", "V_ADD", "v_mul")


@pytest.mark.parametrize(
    ("text", "case", "regex", "rows"),
    [
        ("v_add", False, False, [0, 2]),
        ("v_add", True, False, [0]),
        ("vmcnt(0)", False, False, [1]),
        ("vmcnt(0)", False, True, []),
        (r"^v_(add|mul)", False, True, [0, 2, 3]),
        ("", False, True, []),
        ("nothing", False, False, []),
    ],
)
def test_find(text: str, case: bool, regex: bool, rows: list[int]) -> None:
    assert find(TEXTS, text, case, regex).tolist() == rows


@pytest.mark.parametrize(
    ("text", "place"), [("v_(add", "character 3"), ("*", "character 1"), ("a[z-a]", "character 3")]
)
def test_a_bad_expression_says_where(text: str, place: str) -> None:
    with pytest.raises(UsageError, match=place) as caught:
        find(TEXTS, text, is_regex=True)
    assert caught.value.hint
    assert find(TEXTS, text).tolist() == []
