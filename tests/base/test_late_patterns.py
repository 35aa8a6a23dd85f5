"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from rcv_py.base.late_patterns import pattern


def test_a_pattern_finds_what_a_compiled_one_finds() -> None:
    late, at_once = pattern(r"(\w+)=(\d+)", re.ASCII), re.compile(r"(\w+)=(\d+)", re.ASCII)
    text = "a=1 b=x cc=22"
    assert late.findall(text) == at_once.findall(text) == [("a", "1"), ("cc", "22")]
    assert late.sub(r"\2", text) == at_once.sub(r"\2", text)
    assert late.match("=1") is None
    assert late.flags == at_once.flags


def test_a_pattern_is_compiled_once_and_not_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_, late = re.compile, pattern("x+")
    monkeypatch.setattr(
        re, "compile", lambda text, flags=0: (compiled.append(text), compile_(text, flags))[1]
    )
    assert not compiled
    assert late.match("xx") is not None
    assert late.match("x") is not None
    assert compiled == ["x+"]


def test_what_is_wrong_with_a_pattern_is_raised_when_it_is_used() -> None:
    late = pattern("(")
    with pytest.raises(re.error):
        late.match("")
