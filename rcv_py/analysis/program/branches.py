"""Which code lines may jump, the targets in their text, the targets that recorded jumps went to, and ends.

The operand of a direct branch is a signed 16-bit number of words of 4 bytes from the next instruction, or the
name of a label.

The trace counts time under s_endpgm as execution, but the wave only waits for its last operations: it issues
once, within `ISSUE` cycles; the rest of the token occupies the wave's slot, not its SIMD.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field
from rcv_py.analysis.core.saturated import Sums, dense
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.base.record import Value
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
    target, rows = np.full(n, -1, dtype=np.int32), np.flatnonzero(is_branch)
    target[rows] = list(_targets(code, rows))
    sets_pc = np.array([text.startswith(_SETTERS) and "pc" in text for text in code.text], dtype=bool)
    found = Flow(is_branch, ~ends, target, sets_pc)
    for column in found:
        column.setflags(write=False)  # several analyses share them
    return found


def _targets(code: CodeTable, rows: np.ndarray) -> Iterator[int]:
    """The row that each branch jumps to inside its code object, -1 if its text does not state it."""
    lines, labels = np.flatnonzero(~code.is_label), np.flatnonzero(code.is_label)
    objects, address = code.codeobj.tolist(), code.address.astype(np.int64).tolist()
    at = {(objects[row], address[row]): row for row in lines[::-1].tolist()}
    named = {
        (objects[row], code.text[row].strip().lstrip(";").strip().rstrip(":").strip()): row
        for row in labels[::-1].tolist()
    }
    later = np.append(lines, -1)[np.searchsorted(lines, rows, side="right")]
    for row, after in zip(rows.tolist(), later.tolist(), strict=True):
        words, codeobj = _COMMENT.sub("", code.text[row]).replace(",", " ").split(), objects[row]
        last = words[-1] if len(words) > 1 else ""
        distance, following = operand(last), address[row] + _WORD
        # Addresses are machine addresses if the line after the branch is one word further.
        is_dense = after < 0 or objects[after] != codeobj or (codeobj, following) in at
        if distance is None:
            yield named.get((codeobj, last.strip("<>")), -1)
        elif is_dense and -0x8000 <= distance <= 0xFFFF:
            distance -= 0x10000 if distance >= 0x8000 else 0
            yield at.get((codeobj, following + _WORD * distance), -1)
        else:
            yield -1


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
    return _made(code, _jumps(of_waves(waves), code))


class _Jumps(Value):
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


def _made(code: CodeTable, part: _Jumps) -> Branches:
    pair, taken = part.pairs
    jumped, passed, ran = dense(part.lines, len(code))
    source, target = (pair >> 32).astype(np.int32), (pair & 0xFFFFFFFF).astype(np.int32)
    times = {"taken": taken, "not_taken": passed[source], "jumped": jumped, "passed": passed, "ran": ran}
    return Branches(source, target, **times)


def _map(trace: Trace, parcel: Parcel) -> _Jumps:
    return _jumps(parcel.own, trace.code)


def _finish(trace: Trace, part: _Jumps) -> Branches:
    return _made(trace.code, part)


BRANCHES = Reduction(_map, by_field(_Jumps, pairs=added(1), lines=added(3)), _finish)


def branch_table(jumps: Branches, how: Flow) -> BranchTable:
    """Return one row for each code line that may jump or did jump in the trace."""
    rows = np.flatnonzero(how.is_branch | (jumps.jumped > 0) | (jumps.passed > 0)).astype(np.int32)
    target = how.target.copy()
    order = np.argsort(jumps.taken, kind="stable")  # the most frequent target is written last and stays
    order = order[target[jumps.source[order]] < 0]
    target[jumps.source[order]] = jumps.target[order]
    return BranchTable(rows, target[rows], jumps.jumped[rows], jumps.passed[rows])


ISSUE = 4  # cycles a scalar instruction takes to issue


@memoized
def ends_of(code: CodeTable) -> np.ndarray:
    """Whether each code row ends a program; bool [code rows]."""
    return np.fromiter((text.startswith("s_endpgm") for text in code.text), dtype=bool, count=len(code.text))


def under_end(piece: TokenColumns, ends: np.ndarray) -> np.ndarray:
    """Return the cycles of each s_endpgm token beyond its issue, int64 [tokens]; 0 for other tokens."""
    rest = np.zeros(len(piece), dtype=np.int64)
    at, cycles = rests(piece, ends)
    rest[at] = cycles
    return rest


def rests(piece: TokenColumns, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens for which `under_end` is not 0, and these cycles, int64 each."""
    if not ends.any():
        return (np.zeros(0, dtype=np.int64),) * 2
    at = np.flatnonzero(np.append(ends, False)[piece.code_rows(len(ends))])
    rest = piece.busy[at].astype(np.int64) - ISSUE
    return at[rest > 0], rest[rest > 0]
