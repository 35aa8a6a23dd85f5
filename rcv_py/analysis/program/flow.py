"""Which code lines may jump, where to by their text, and which let the next line run.

A direct branch says how far it jumps: a signed 16-bit number of words of 4 bytes from the next instruction,
or the name of a label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from rcv_py.base.numbers import operand
from rcv_py.model.code import CodeTable

_WORD = 4  # bytes; a branch is one word
_ENDS = ("s_branch", "s_endpgm", "s_setpc", "s_rfe")  # nothing behind them runs next
_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc", "s_subvector_loop", "s_rfe")
_COMMENT = re.compile(r"\s*(//|;).*$")


@dataclass(frozen=True, eq=False)
class Flow:
    """One row a code line."""

    is_branch: np.ndarray  # bool, it may jump
    falls: np.ndarray  # bool, the line behind it may run next
    target: np.ndarray  # int32, code row a direct branch jumps to; -1: it is none, or the text does not tell


_KNOWN: WeakKeyDictionary[CodeTable, Flow] = (
    WeakKeyDictionary()
)  # blocks, loops, populations ask for the same


def flow(code: CodeTable) -> Flow:
    """Return how control may leave each line, by texts and addresses alone; found once a table."""
    found = _KNOWN.get(code)
    if found is None:
        found = _KNOWN[code] = _flow(code)
    return found


def _flow(code: CodeTable) -> Flow:
    n = len(code)
    is_branch = np.array([text.startswith(_JUMPS) for text in code.text], dtype=bool) & ~code.is_label
    ends = np.array([text.startswith(_ENDS) for text in code.text], dtype=bool) & ~code.is_label
    target = np.full(n, -1, dtype=np.int32)
    places = _Places(code)
    for row in np.flatnonzero(is_branch).tolist():
        target[row] = places.of(row)
    continues = ~ends
    for column in (is_branch, continues, target):
        column.setflags(write=False)  # several analyses share them
    return Flow(is_branch, continues, target)


class _Places:
    """Finds rows by address or by label, inside the code object of the branch."""

    def __init__(self, code: CodeTable) -> None:
        self._code = code
        rows = np.flatnonzero(~code.is_label)
        address, objects = code.address[rows].astype(np.int64).tolist(), code.codeobj[rows].tolist()
        pairs = zip(objects, address, rows.tolist(), strict=True)
        self._at = {(codeobj, place): row for codeobj, place, row in reversed(list(pairs))}
        self._named = {
            (int(code.codeobj[row]), _label(code.text[row])): row
            for row in np.flatnonzero(code.is_label)[::-1].tolist()
        }

    def of(self, row: int) -> int:
        """The row a branch jumps to, -1 if its text does not tell."""
        words = _COMMENT.sub("", self._code.text[row]).replace(",", " ").split()
        last = words[-1] if len(words) > 1 else ""
        codeobj = int(self._code.codeobj[row])
        distance = operand(last)
        if distance is None:
            return self._named.get((codeobj, last.strip("<>")), -1)
        if not -0x8000 <= distance <= 0xFFFF:
            return -1
        distance -= 0x10000 if distance >= 0x8000 else 0
        following = int(self._code.address[row]) + _WORD
        if not self._is_dense(row, codeobj, following):
            return -1
        return self._at.get((codeobj, following + _WORD * distance), -1)

    def _is_dense(self, row: int, codeobj: int, following: int) -> bool:
        """Whether addresses are those of the machine: the line behind the branch is a word further."""
        later = row + 1
        while later < len(self._code) and self._code.is_label[later]:
            later += 1
        is_last = later >= len(self._code) or int(self._code.codeobj[later]) != codeobj
        return is_last or (codeobj, following) in self._at


def _label(text: str) -> str:
    return text.strip().lstrip(";").strip().rstrip(":").strip()
