"""Untrusted regular expressions (of a user, an agent, a capture), with a time limit.

Python's `re` cannot be stopped: one short expression, such as `(a|aa)+$`, can block a thread, and with it all
of Python, practically for ever.  `regex` checks the clock while it matches, and lets other threads run.  Its
compiler, however, expands repeated parts, so expressions are limited in length and in repeats.
"""

import re
from math import prod
from time import monotonic
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message

MAX_LETTERS = 1000  # of an expression; usual expressions have a few dozen
MAX_REPEATS = 10_000  # expanded by the compiler: some 20 MB, and 30 ms
TIMEOUT_S = 2.0  # for all texts of one search; 100,000 instructions take 0.1 s
PAINT_TIMEOUT_S = 0.1  # for one text that is being painted
_REPEATS = re.compile(r"\{(\d{1,9})(?:,\d*)?\}")


class TooSlow(UsageError):
    """An expression exceeded its time limit."""

    def __init__(self, longest: float = TIMEOUT_S) -> None:
        super().__init__(
            Message(
                "The search was stopped after {0:g} seconds: the regular expression takes too long.", longest
            ),
            hint="Repeat nothing that is itself repeated, as (a+)+ does, or search for plain text.",
        )


class Pattern:
    """A search pattern: a literal text, or an expression in the syntax of Python's `re`.

    Raise UsageError, naming the character, for a bad expression.
    """

    def __init__(self, text: str, is_case_sensitive: bool = False, is_regex: bool = True) -> None:
        self._left = TIMEOUT_S
        self._is_regex = is_regex
        self._pattern: Any = _compiled(text, is_case_sensitive) if is_regex else None
        if not is_regex:
            self._pattern = re.compile(re.escape(text), 0 if is_case_sensitive else re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Whether the text contains a match; raise TooSlow once the time for all texts is over."""
        if not self._is_regex:  # nothing in it repeats, so it is quick
            return self._pattern.search(text) is not None
        if self._left <= 0:
            raise TooSlow(TIMEOUT_S)
        begin = monotonic()
        try:
            return self._pattern.search(text, timeout=self._left, concurrent=True) is not None
        except TimeoutError as error:
            self._left = 0.0
            raise TooSlow(TIMEOUT_S) from error
        finally:
            self._left -= monotonic() - begin

    def spans(self, text: str, longest: float = PAINT_TIMEOUT_S) -> list[tuple[int, int]]:
        """Begin and end of all matches in one text; raise TooSlow if that takes longer than `longest`."""
        if not self._is_regex:
            return [match.span() for match in self._pattern.finditer(text)]
        try:
            return [match.span() for match in self._pattern.finditer(text, timeout=longest, concurrent=True)]
        except TimeoutError as error:
            raise TooSlow(longest) from error


def _compiled(expression: str, is_case_sensitive: bool) -> Any:
    import regex  # noqa: PLC0415 - most commands search nothing, and it takes 10 ms to import

    complicated = UsageError("The search text is too complicated.", hint="Search for something shorter.")
    repeats = prod(max(1, int(count)) for count in _REPEATS.findall(expression))
    if len(expression) > MAX_LETTERS or repeats > MAX_REPEATS:
        raise complicated
    flags = regex.VERSION0 | (0 if is_case_sensitive else regex.IGNORECASE)
    try:
        re.compile(expression, 0 if is_case_sensitive else re.IGNORECASE)  # its errors name the character
        return regex.compile(expression, flags, cache_pattern=False)
    except re.error as error:
        where = "" if error.pos is None else Message(" at character {0}", error.pos + 1)
        text = Message("The search text is not a regular expression: {0}{1}.", error.msg, where)
        hint = "Switch regular expressions off to search for the text as it is."
        raise UsageError(text, hint=hint) from error
    except (regex.error, OverflowError, RecursionError, MemoryError, ValueError) as error:
        raise complicated from error
