"""Text of a capture as people see it: nothing in it steers the terminal or the eye."""

import json
import sys
import unicodedata
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.text import escaped_json, visible
from tests.support.python_calls import python_calls


@cache
def letters() -> dict[str, str]:
    """Every letter there is, and its category: a million, which only these tests look at."""
    return {letter: unicodedata.category(letter) for letter in map(chr, range(sys.maxunicode + 1))}


@cache
def unseen() -> frozenset[str]:
    return frozenset(one for one, category in letters().items() if category in ("Cc", "Cf", "Cs", "Zl", "Zp"))


WITHOUT_WIDTH = (  # and blanks of hieroglyphs
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\ufe00\ufe0f\uffa0\U000e0100\U00013441\U00013442"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("v_add_f32 v0, v1", "v_add_f32 v0, v1"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x9b2J\x7f\x00", r"\x9b2J\x7f\x00"),
        ("a\u202egpj.exe\u2066\u200e\u061c", r"a\u202egpj.exe\u2066\u200e\u061c"),
        ("one\u2028two\u2029three\n\r\t", r"one\u2028two\u2029three\n\r\t"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("half \udc80 \ud800", r"half \udc80 \ud800"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("Grüße, 矩阵, ±5 % – “a”\u00a0b", "Grüße, 矩阵, ±5 % – “a”\u00a0b"),
    ],
)
def test_what_is_not_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_letter_that_unicode_calls_unseen_is_escaped() -> None:
    assert [hex(ord(one)) for one in [*sorted(unseen()), *WITHOUT_WIDTH] if one in visible(one)] == []


def test_letters_of_languages_stay() -> None:
    seen = [one for one, category in letters().items() if category[0] in "LN" and one not in WITHOUT_WIDTH]
    assert [hex(ord(one)) for one in seen if visible(one) != one] == []


def test_lines_that_stay_cost_nothing() -> None:
    lines = "  “7”,\n\t" * 10_000
    for pattern in (lambda text: visible(text, "\n\t"), escaped_json):  # made once for all texts
        pattern("“")
    assert python_calls(lambda: visible(lines, "\n\t")) < 100
    assert python_calls(lambda: escaped_json(lines)) < 100


def test_what_is_kept_stays() -> None:
    assert visible("a\n\tb\x1b\r", keep="\n\t") == "a\n\tb\\x1b\\r"


@given(st.text(st.characters()))
def test_it_is_safe_to_show_twice(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert not set(once) & unseen()


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_says_the_same_in_letters_that_are_seen(document: object) -> None:
    for indent in (None, 2):
        made = escaped_json(json.dumps(document, ensure_ascii=False, indent=indent))
        assert json.loads(made) == document
        assert not (set(made) - {"\n"}) & unseen()
