"""Which code lines may jump, the targets in their text, and the targets that recorded jumps went to.

The operand of a direct branch is a signed 16-bit number of words of 4 bytes from the next instruction, or the
name of a label.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field
from rcv_py.analysis.core.saturated import Sums, dense
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.base.text import operand
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, memoized
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

_WORD = 4  # bytes; a branch is one word
_LEAVES = ("s_branch", "s_setpc", "s_set_pc", "s_add_pc", "s_rfe")
_ENDS = (*_LEAVES, "s_endpgm")  # the next line does not run after them
_JUMPS = (*_LEAVES, "s_cbranch", "s_call", "s_swappc", "s_swap_pc", "s_subvector_loop")
_SETTERS = ("s_set", "s_swap")  # of the program counter, if the text says `pc`
_COMMENT = re.compile(r"\s*(//|;).*$")


class Flow(NamedTuple):
    """One row per code line."""

    is_branch: np.ndarray  # bool, it may jump
    falls: np.ndarray  # bool, the next line may run after it
    target: np.ndarray  # int32, code row that a direct branch jumps to; -1: not direct, or not in its text
    sets_pc: np.ndarray  # bool, it writes the program counter


@memoized
def flow(code: CodeTable) -> Flow:
    """Return how control may leave each line, from texts and addresses alone; computed once per table."""
    n = len(code)
    is_branch = np.array([text.startswith(_JUMPS) for text in code.text], dtype=bool) & ~code.is_label
    ends = np.array([text.startswith(_ENDS) for text in code.text], dtype=bool) & ~code.is_label
    target = np.full(n, -1, dtype=np.int32)
    places = _Places(code)
    for row in np.flatnonzero(is_branch).tolist():
        target[row] = places.of(row)
    sets_pc = np.array([text.startswith(_SETTERS) and "pc" in text for text in code.text], dtype=bool)
    continues = ~ends
    for column in (is_branch, continues, target, sets_pc):
        column.setflags(write=False)  # several analyses share them
    return Flow(is_branch, continues, target, sets_pc)


class _Places:
    """Finds rows by address or by label, inside the code object of the branch."""

    def __init__(self, code: CodeTable) -> None:
        self._code = code
        rows = np.flatnonzero(~code.is_label)
        address, objects = code.address[rows].astype(np.int64).tolist(), code.codeobj[rows].tolist()
        places = zip(objects, address, strict=True)
        self._at = dict(reversed(list(zip(places, rows.tolist(), strict=True))))
        self._named = {
            (int(code.codeobj[row]), code.text[row].strip().lstrip(";").strip().rstrip(":").strip()): row
            for row in np.flatnonzero(code.is_label)[::-1].tolist()
        }

    def of(self, row: int) -> int:
        """The row a branch jumps to, -1 if its text does not state it."""
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
        """Whether addresses are machine addresses: the line after the branch is one word further."""
        later = row + 1
        while later < len(self._code) and self._code.is_label[later]:
            later += 1
        is_last = later >= len(self._code) or int(self._code.codeobj[later]) != codeobj
        return is_last or (codeobj, following) in self._at


@dataclass(frozen=True, eq=False)
class Branches(ColumnTable):
    """One row per pair of code lines between which a jump went, sorted by (source, target).

    The last three columns have one row per code line and count all its executions, including those whose next
    token is not recorded.
    """

    source: np.ndarray  # int32, code row of the branch
    target: np.ndarray  # int32, code row that ran next
    taken: np.ndarray  # int64, times it jumped there
    not_taken: np.ndarray  # int64, times the branch fell through (the same for all its targets)
    jumped: np.ndarray  # int64 [code rows], times it jumped anywhere
    passed: np.ndarray  # int64 [code rows], times it fell through
    ran: np.ndarray  # int64 [code rows], executions


@dataclass(frozen=True, eq=False)
class BranchTable(ColumnTable):
    """One row per branch instruction, in program order, whether it ran or not."""

    row: np.ndarray  # int32, code row
    target: np.ndarray  # int32, code row of its target by its text, else the most frequent; -1: unknown
    taken: np.ndarray  # int64, times it jumped
    not_taken: np.ndarray  # int64, times it fell through


def branches(waves: Iterable[TracedWave], code: CodeTable) -> Branches:
    """Return the jumps of some waves.

    A jump is a token of kind JUMP, or one that writes the program counter; it went to the line of the next
    token of its wave.  Tokens that match no code line are ignored.
    """
    return _made(_jumps(of_waves(waves), code), code)


class _Jumps(NamedTuple):
    """The jumps of some waves."""

    pairs: Sums  # source << 32 | target, and times
    lines: Sums  # code row, and how often it jumped, fell through and ran


def _jumps(tokens: TokenColumns, code: CodeTable) -> _Jumps:
    n = len(code)
    line, ran, setters = tokens.code_rows(n), tokens.executions(n), flow(code).sets_pc
    is_jump = tokens.kind == TokenKind.JUMP
    if ran[setters].any():  # rare
        is_jump |= np.append(setters, False)[line]
    jump, through = np.flatnonzero(is_jump), line[tokens.kind == TokenKind.NEXT]
    jump = jump[line[jump] < n]
    jumped = np.bincount(line[jump], minlength=n)
    passed = np.bincount(through[through < n], minlength=n)
    at = jump[~tokens.is_last[jump]]
    at = at[line[at + 1] < n]
    rows = np.flatnonzero(ran)
    pairs = np.unique(line[at] << 32 | line[at + 1], return_counts=True)
    return _Jumps(pairs, (rows, jumped[rows], passed[rows], ran[rows]))


def _made(part: _Jumps, code: CodeTable) -> Branches:
    pair, taken = part.pairs
    jumped, passed, ran = dense(part.lines, len(code))
    source = (pair >> 32).astype(np.int32)
    target = (pair & 0xFFFFFFFF).astype(np.int32)
    return Branches(
        source=source,
        target=target,
        taken=taken,
        not_taken=passed[source],
        jumped=jumped,
        passed=passed,
        ran=ran,
    )


def _map(trace: Trace, parcel: Parcel) -> _Jumps:
    return _jumps(parcel.own, trace.code)


def _finish(trace: Trace, part: _Jumps) -> Branches:
    return _made(part, trace.code)


BRANCHES = Reduction(_map, by_field(_Jumps, pairs=added(1), lines=added(3)), _finish)


def branch_table(jumps: Branches, how: Flow) -> BranchTable:
    """Return one row for each code line that may jump or did jump in the trace."""
    rows = np.flatnonzero(how.is_branch | (jumps.jumped > 0) | (jumps.passed > 0)).astype(np.int32)
    target = how.target.copy()
    order = np.argsort(jumps.taken, kind="stable")  # the most frequent target is written last and stays
    order = order[target[jumps.source[order]] < 0]
    target[jumps.source[order]] = jumps.target[order]
    return BranchTable(rows, target[rows], jumps.jumped[rows], jumps.passed[rows])
