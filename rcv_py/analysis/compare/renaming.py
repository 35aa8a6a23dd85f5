"""Which register of one build is which of another, told by pairs of instructions: the majority decides.

A compiler that gives registers other numbers changes nearly every text.  Once it is known that v4 has become
v8, the texts of A can be written with the registers of B, and equal texts tell instructions of equal shape
apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np

from rcv_py.base.numbers import number

_REGISTERS = re.compile(r"\b(v|s|a|ttmp)(?:\[(\d+):(\d+)\]|(\d+)\b)")

Renaming = dict[str, str]


def names(text: str) -> tuple[str, ...]:
    """Return the registers that an instruction names, in order; of a range the first."""
    return tuple(f"{one[1]}{one[2] or one[4]}" for one in _REGISTERS.finditer(text))


def renaming(texts_a: list[str], texts_b: list[str]) -> Renaming:
    """Return what most pairs of texts say each register of A is called in B."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (a, b), times in Counter(zip(texts_a, texts_b, strict=True)).items():
        mine, other = names(a), names(b)
        if len(mine) == len(other):
            for old, new in zip(mine, other, strict=True):
                votes[old][new] += times
    return {old: min(counts, key=lambda new: (-counts[new], new)) for old, counts in votes.items()}


def renamed(text: str, registers: Renaming) -> str:
    """Return a text with its registers called as in B; unknown ones keep their name."""

    def name(found: re.Match[str]) -> str:
        file, first = found[1], found[2] or found[4]
        new = registers.get(f"{file}{first}", "")
        if not new.startswith(file):
            return found[0]
        first_new = number(new[len(file) :])
        return (
            f"{file}[{first_new}:{first_new + number(found[3]) - number(first)}]"
            if found[3] is not None
            else f"{file}{first_new}"
        )

    return _REGISTERS.sub(name, text)


def agreement(texts_a: list[str], texts_b: list[str], registers: Renaming) -> np.ndarray:
    """Return which pairs have equal texts once A is renamed, bool."""
    known = {text: renamed(text, registers) for text in set(texts_a)}
    return np.array([known[a] == b for a, b in zip(texts_a, texts_b, strict=True)], dtype=bool)
