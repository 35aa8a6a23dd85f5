"""What can be wrong with a formula, and where: a sentence, a kind, and the characters it is about."""

from __future__ import annotations

from enum import StrEnum

from rcv_py.base.errors import RcvError


class FormulaKind(StrEnum):
    """Why a formula has no value."""

    PARSE = "parse"  # the text is no formula
    UNKNOWN = "unknown-name"
    SHAPE = "shape"  # two tensors do not fit each other
    INDEX = "index"  # there is no such place along the axis
    SHORT = "axis-too-short"
    SCALAR = "not-scalar"  # one number is wanted, a tensor was given
    CYCLE = "cycle"  # a definition needs itself
    LIMIT = "limit"  # too long, too deep or too large to be computed


class FormulaError(RcvError):
    """A sentence about characters `start` to `stop` (positions in the whole text) of a formula."""

    def __init__(self, kind: FormulaKind, sentence: str, start: int = 0, stop: int = 0) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.start = start
        self.stop = max(stop, start)

    def __reduce__(self) -> tuple[type[FormulaError], tuple[FormulaKind, str, int, int]]:
        """Let it travel between processes: its arguments are not those of the base class."""
        return type(self), (self.kind, str(self), self.start, self.stop)

    def place(self, text: str) -> tuple[int, int]:
        """Return line and column of the first character, both counted from 1."""
        before = text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1

    def picture(self, text: str) -> str:
        """Return the line with a row of `^` under the characters that are wrong, and the sentence."""
        line, column = self.place(text)
        shown = text.split("\n")[line - 1]
        width = max(1, min(self.stop - self.start, len(shown) - column + 1))
        return f"{shown}\n{' ' * (column - 1)}{'^' * width}\nLine {line}, column {column}: {self}"
