"""Book-keeping: every cycle of a stall or gap is given to exactly one cause.

Rules claim cycles one after the other; a rule gets what is left.  What nobody claims is UNEXPLAINED, so sums
are right whatever the rules do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.causes import GUESSED, Cause
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.base.records import dataclass
from rcv_py.base.runs import ascending, order, starts_run
from rcv_py.model.columns import joined

_NONE = np.zeros(0, dtype=np.int64)
_IS_GUESS = np.isin(np.arange(len(Cause)), GUESSED)


@dataclass(frozen=True, eq=False)
class Claims:
    """Cycles with a cause, one row a claim; a token may have several."""

    token: np.ndarray  # int64
    cause: np.ndarray  # uint8
    producer: np.ndarray  # int64, token, -1: none, below: -2 less its row in LastOperations
    cycles: np.ndarray  # int64, more than 0
    is_guess: np.ndarray  # bool, the producer is a guess: of a cause in GUESSED, or another fits as well

    def __len__(self) -> int:
        return len(self.token)


@dataclass(frozen=True, eq=False)
class ClaimSpans:
    """When the cycles of claims were spent: one row a span; those of a token do not overlap."""

    claim: np.ndarray  # int64, row of the Claims
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles


class Within(NamedTuple):
    """Where cycles are claimed first, as far as they are open there."""

    covered: IntervalSet
    shift: np.ndarray  # int64, what brings a time of each row that claims onto the axis of `covered`


class _Part(NamedTuple):
    """What one rule claimed."""

    row: np.ndarray
    cause: np.ndarray
    producer: np.ndarray
    cycles: np.ndarray
    is_guess: np.ndarray
    within: Within | None


class Ledger:
    """The stalls (or gaps) of some tokens, from `at` to `end`; `left` counts what has no cause yet.

    `cycles` are those of the stall or gap: more than from begin to end where a stream cut absurd times.
    `line` are the rows of Lines of the tokens.
    """

    def __init__(
        self, token: np.ndarray, line: np.ndarray, begin: np.ndarray, end: np.ndarray, cycles: np.ndarray
    ) -> None:
        self.token, self.line, self.begin, self.at, self.end = token, line, begin, begin.copy(), end
        self.left = cycles.copy()
        self._parts: list[_Part] = []

    def __len__(self) -> int:
        return len(self.token)

    def open(self, is_meant: np.ndarray) -> np.ndarray:
        """Rows that have cycles left and are meant, bool [rows]."""
        return np.flatnonzero((self.left > 0) & is_meant)

    def of_lines(self, is_meant: np.ndarray) -> np.ndarray:
        """Rows that have cycles left and whose line is meant, bool [rows of Lines]."""
        return self.open(is_meant[self.line])

    def take(
        self,
        row: np.ndarray,
        cycles: np.ndarray,
        cause: Cause | np.ndarray,
        producer: int | np.ndarray = -1,
        within: Within | None = None,
        *,
        is_guess: bool | np.ndarray = False,
    ) -> None:
        """Give so many cycles of each row, or what is left, to a cause; no row may be named twice.

        They are the earliest that are open, those `within` a union before others.  `is_guess`: another
        producer fits as well.
        """
        got = np.clip(cycles, 0, self.left[row])
        some = np.flatnonzero(got)
        if not len(some):
            return
        columns = (
            column[some] if isinstance(column, np.ndarray) else np.full(len(some), column)
            for column in (cause, producer, is_guess)
        )
        why, blamed, guess = columns
        row, got = row[some], got[some]
        guess = (guess | _IS_GUESS[why]) & (blamed != -1)
        self.left[row] -= got
        where = None if within is None else Within(within.covered, within.shift[some])
        self._parts.append(_Part(row, why, blamed, got, guess, where))

    def until(
        self, row: np.ndarray, time: np.ndarray, cause: Cause | np.ndarray, producer: int | np.ndarray = -1
    ) -> None:
        """Give the cycles before a time to a cause; what was claimed this way before stays."""
        reach = np.minimum(time, self.end[row])
        self.take(row, np.maximum(reach - self.at[row], 0), cause, producer)
        self.at[row] = np.maximum(self.at[row], reach)

    def rest(
        self,
        row: np.ndarray,
        cause: Cause | np.ndarray,
        producer: int | np.ndarray = -1,
        *,
        is_guess: bool | np.ndarray = False,
    ) -> None:
        """Give all that is left of the rows to a cause."""
        self.take(row, self.left[row], cause, producer, is_guess=is_guess)

    def claims(self) -> Claims:
        """All claims, and what is left as UNEXPLAINED."""
        self.rest(np.flatnonzero(self.left > 0), Cause.UNEXPLAINED)
        if not self._parts:
            return Claims(_NONE, _NONE.astype(np.uint8), _NONE, _NONE, _NONE.astype(bool))
        columns = zip(*(part[:5] for part in self._parts), strict=True)
        row, why, producer, cycles, is_guess = (np.concatenate(column) for column in columns)
        return Claims(self.token[row], why.astype(np.uint8), producer.astype(np.int64), cycles, is_guess)

    def spans(self) -> ClaimSpans:
        """When the cycles of `claims` were spent; those come first."""
        row = np.concatenate([_NONE, *(part.row for part in self._parts)])
        is_alone = np.bincount(row, minlength=len(self))[row] == 1  # the only claim of its row: all of it
        alone = np.flatnonzero(is_alone)
        spans = [ClaimSpans(alone, self.begin[row[alone]], self.end[row[alone]])]
        rows = ascending(row[~is_alone])
        # The cycles of the other rows that no claim has got yet, by row and time.
        open_ = ClaimSpans(rows, self.begin[rows], self.end[rows])
        first = 0
        for part in self._parts:
            some = np.flatnonzero(~is_alone[first : first + len(part.row)])
            if len(some):
                taken, open_ = _taken(open_, part, some)
                spans.append(replace(taken, claim=first + taken.claim))
            first += len(part.row)
        return joined(spans)


def _taken(open_: ClaimSpans, part: _Part, some: np.ndarray) -> tuple[ClaimSpans, ClaimSpans]:
    """Take what some rows of a part claim of open spans (`claim` is their row).

    Return what is taken, by place in the part, and what stays open.
    """
    by_row = some[order(part.row[some])]
    rows = part.row[by_row]
    at = np.minimum(np.searchsorted(rows, open_.claim), len(rows) - 1)
    is_claimed = rows[at] == open_.claim
    mine, others = np.flatnonzero(is_claimed), np.flatnonzero(~is_claimed)
    claim, begin, end = by_row[at[mine]], open_.begin[mine], open_.end[mine]
    if part.within is None:
        in_order = np.lexsort((begin, claim))
        claim, begin, end = claim[in_order], begin[in_order], end[in_order]
    else:
        shift = part.within.shift[claim]
        cut = part.within.covered.split(begin + shift, end + shift)
        # By claim, what is within before what is not, then by time.
        in_order = np.lexsort((cut.begin, ~cut.is_inside, claim[cut.span]))
        claim, shift = claim[cut.span[in_order]], shift[cut.span[in_order]]
        begin, end = cut.begin[in_order] - shift, cut.end[in_order] - shift
    length, first = end - begin, starts_run(claim)
    before = np.cumsum(length) - length
    before -= np.repeat(before[first], np.diff(np.flatnonzero(first), append=len(claim)))
    stop = begin + np.clip(part.cycles[claim] - before, 0, length)
    got, left = np.flatnonzero(stop > begin), np.flatnonzero(end > stop)
    still = ClaimSpans(
        np.append(open_.claim[others], part.row[claim[left]]),
        np.append(open_.begin[others], stop[left]),
        np.append(open_.end[others], end[left]),
    )
    return ClaimSpans(claim[got], begin[got], stop[got]), still
