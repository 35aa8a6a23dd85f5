"""Characters of a formula to tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from rcv_py.analysis.counters.formula.errors import FormulaError, FormulaKind
from rcv_py.model.modes import ReferenceRule


class Kind(Enum):
    """What a token is."""

    NUMBER = "a number"
    NAME = "a name"
    SIGN = "a sign"
    END = "the end of the line"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: characters `start` to `stop`."""

    kind: Kind
    text: str
    start: int
    stop: int


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_:]*")
_SHORT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"(?:[0-9]|\.[0-9])[0-9.]*(?:[eE][+-]?[0-9]*)?")
_SIGN = re.compile(r"==|<=|>=|!=|[-+*/()\[\],:=<>&|!]")
_REFERENCE_SIGN = re.compile(r"==|<=|>=|[-+*/()\[\],:=<>&|]")
_PLAIN_NUMBER = re.compile(r"(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACE = re.compile(r"[ \t\r\f\v]*")


def tokens(
    text: str, start: int, stop: int, rule: ReferenceRule = ReferenceRule.OURS, with_colons: bool = True
) -> list[Token]:
    """Return the tokens of `text[start:stop]`, the last of kind END.

    A colon may be part of a name (`LDS_BANK_CONFLICT:1` is counted on SIMD 0 only); without `with_colons`
    it is always a sign.  Raise FormulaError at the first character that means nothing.
    """
    signs = _REFERENCE_SIGN if rule is ReferenceRule.REFERENCE else _SIGN
    patterns = (
        (Kind.NUMBER, _NUMBER),
        (Kind.NAME, _NAME if with_colons else _SHORT_NAME),
        (Kind.SIGN, signs),
    )
    found = []
    at = _behind_space(text, start, stop)
    while at < stop:
        token = _token(text, at, stop, patterns)
        found.append(token)
        at = _behind_space(text, token.stop, stop)
    return [*found, Token(Kind.END, "", stop, stop)]


def _behind_space(text: str, at: int, stop: int) -> int:
    space = _SPACE.match(text, at, stop)
    return at if space is None else space.end()


def _token(text: str, at: int, stop: int, patterns: tuple[tuple[Kind, re.Pattern[str]], ...]) -> Token:
    for kind, pattern in patterns:
        match = pattern.match(text, at, stop)
        if match is not None:
            return Token(kind, match.group(), at, match.end())
    raise FormulaError(FormulaKind.PARSE, f"The character {text[at]!r} has no meaning here.", at, at + 1)


def number(token: Token, rule: ReferenceRule = ReferenceRule.OURS) -> float:
    """Return the value of a number token.

    The reference reads as much as makes sense (`1.2.3` is 1.2, `1e` is 1); we call that a mistake.
    """
    match = _PLAIN_NUMBER.match(token.text)
    is_whole = match is not None and match.end() == len(token.text)
    if match is None or not (is_whole or rule is ReferenceRule.REFERENCE):
        raise FormulaError(FormulaKind.PARSE, f"{token.text} is not a number.", token.start, token.stop)
    return float(match.group())
