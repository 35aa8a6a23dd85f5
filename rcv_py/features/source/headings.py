"""The function of each line of a source file, found by indentation."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits

import numpy as np

# The start of a function: in Python its keyword; in C-like languages, at most a namespace or class deep, a
# type, a name and a list of parameters, but no statement.
PYTHON = ("def ", "async def ", "class ")
NO_TYPES = {
    "if", "for", "while", "switch", "return", "else", "do", "case", "catch", "using", "typedef", "throw",
    "new", "delete", "goto",
}  # fmt: skip
OF_TYPES = frozenset(f"{ascii_letters}{digits}_:<>,*& ~")
C_DEPTH = 8  # letters


def headings(lines: Sequence[str]) -> np.ndarray:
    """Return, for each line number from 0, the number of the first line of its function.

    Int64 [len(lines) + 1]; 0 outside of all functions, and of number 0.
    """
    found = np.zeros(len(lines) + 1, dtype=np.int64)
    around: list[tuple[int, int]] = []  # indentation and number of the functions around a line
    for number, line in enumerate(lines, 1):
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if text and not text.startswith(("#", "//", ")", "}", "{", "*")):
            while around and indent <= around[-1][0]:
                around.pop()
        found[number] = around[-1][1] if around else 0
        if is_heading(text, indent):
            around.append((indent, number))
    return found


def is_heading(text: str, indent: int) -> bool:
    """Return whether a line, without its indentation, is the first line of a function or class."""
    if text.startswith(PYTHON):
        return True
    head, parenthesis, _ = text.partition("(")
    words = head.replace("*", " ").replace("&", " ").split()
    is_type = len(words) > 1 and words[0] not in NO_TYPES and OF_TYPES.issuperset(head)
    return bool(parenthesis) and is_type and indent <= C_DEPTH and not text.endswith((";", ":"))
