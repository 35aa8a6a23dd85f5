"""Book-keeping: every cycle of a stall or gap is given to exactly one cause.

Rules claim cycles one after the other; a rule gets what is left.  What nobody claims is UNEXPLAINED, so sums
are right whatever the rules do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.causes import GUESSED, Cause
from rcv_py.analysis.core.intervals import IntervalSet, Split


@dataclass(frozen=True, eq=False)
class Claims:
    """Cycles with a cause, one row a claim; a token may have several."""

    token: np.ndarray  # int64
    cause: np.ndarray  # uint8
    producer: np.ndarray  # int64, token, -1: none
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
    """

    def __init__(self, token: np.ndarray, begin: np.ndarray, end: np.ndarray, cycles: np.ndarray) -> None:
        self.token, self.begin, self.at, self.end = token, begin, begin.copy(), end
        self.left = cycles.copy()
        self._parts: list[_Part] = []

    def __len__(self) -> int:
        return len(self.token)

    def open(self, is_meant: np.ndarray) -> np.ndarray:
        """Rows that have cycles left and whose token is meant; `is_meant` is a column of all tokens."""
        return np.flatnonzero((self.left > 0) & is_meant[self.token])

    def take(
        self,
        row: np.ndarray,
        cycles: np.ndarray,
        cause: Cause | np.ndarray,
        producer: np.ndarray | None = None,
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
        row, got = row[some], got[some]
        blamed = np.full(len(row), -1, dtype=np.int64) if producer is None else producer[some]
        why = cause[some] if isinstance(cause, np.ndarray) else np.full(len(row), int(cause))
        guess = is_guess[some] if isinstance(is_guess, np.ndarray) else np.full(len(row), is_guess)
        guess = (guess | np.isin(why, GUESSED)) & (blamed >= 0)
        self.left[row] -= got
        where = None if within is None else Within(within.covered, within.shift[some])
        self._parts.append(_Part(row, why, blamed, got, guess, where))

    def until(
        self, row: np.ndarray, time: np.ndarray, cause: Cause | np.ndarray, producer: np.ndarray | None = None
    ) -> None:
        """Give the cycles before a time to a cause; what was claimed this way before stays."""
        reach = np.minimum(time, self.end[row])
        cycles = np.maximum(reach - self.at[row], 0)
        self.take(row, cycles, cause, producer)
        self.at[row] = np.maximum(self.at[row], reach)

    def rest(
        self,
        row: np.ndarray,
        cause: Cause | np.ndarray,
        producer: np.ndarray | None = None,
        *,
        is_guess: bool | np.ndarray = False,
    ) -> None:
        """Give all that is left of the rows to a cause."""
        self.take(row, self.left[row], cause, producer, is_guess=is_guess)

    def claims(self) -> Claims:
        """All claims, and what is left as UNEXPLAINED."""
        rest = np.flatnonzero(self.left > 0)
        self.take(rest, self.left[rest], Cause.UNEXPLAINED)
        if not self._parts:
            none = np.zeros(0, dtype=np.int64)
            return Claims(none, none.astype(np.uint8), none, none, none.astype(bool))
        columns = ("row", "cause", "producer", "cycles", "is_guess")
        row, why, producer, cycles, is_guess = (
            np.concatenate([getattr(part, name) for part in self._parts]) for name in columns
        )
        return Claims(
            self.token[row],
            why.astype(np.uint8),
            producer.astype(np.int64),
            cycles.astype(np.int64),
            is_guess.astype(bool),
        )

    def spans(self) -> ClaimSpans:
        """When the cycles of `claims` were spent; ask for those before."""
        if not self._parts:
            none = np.zeros(0, dtype=np.int64)
            return ClaimSpans(none, none, none)
        row = np.concatenate([part.row for part in self._parts])
        is_whole = np.bincount(row, minlength=len(self))[row] == 1  # the only claim of its row: all of it
        whole = np.flatnonzero(is_whole)
        found = [(whole, self.begin[row[whole]], self.end[row[whole]])]
        open_ = _Open(np.unique(row[~is_whole]), self.begin, self.end)
        first = 0
        for part in self._parts:
            some = np.flatnonzero(~is_whole[first : first + len(part.row)])
            if len(some):
                claim, begin, end = open_.taken(part, some)
                found.append((first + claim, begin, end))
            first += len(part.row)
        claim, begin, end = (np.concatenate([part[i] for part in found]) for i in range(3))
        return ClaimSpans(claim, begin, end)


class _Open:
    """The cycles of some rows that no claim has got yet: spans, by row and time."""

    def __init__(self, rows: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        self._row, self._begin, self._end = rows, begin[rows], end[rows]

    def taken(self, part: _Part, some: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take what some rows of a part claim: place in the part, begin and end of each span."""
        order = some[np.argsort(part.row[some], kind="stable")]
        rows = part.row[order]
        at = np.minimum(np.searchsorted(rows, self._row), len(rows) - 1)
        is_asked = rows[at] == self._row
        claim = order[at[is_asked]]
        cut = _cut(self._begin[is_asked], self._end[is_asked], claim, part.within)
        claim = claim[cut.span]
        # By claim, what is within before what is not, then by time.
        order = np.lexsort((cut.begin, ~cut.is_inside, claim))
        claim, begin, end = claim[order], cut.begin[order], cut.end[order]
        length = end - begin
        before = np.cumsum(length) - length
        first = np.flatnonzero(np.append(True, claim[1:] != claim[:-1])[: len(claim)])
        before -= np.repeat(before[first], np.diff(np.append(first, len(claim))))
        got = np.clip(part.cycles[claim] - before, 0, length)
        self._keep(~is_asked, part.row[claim], begin + got, end)
        has = np.flatnonzero(got)
        return claim[has], begin[has], (begin + got)[has]

    def _keep(self, others: np.ndarray, row: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        rest = np.flatnonzero(end > begin)
        self._row = np.concatenate([self._row[others], row[rest]])
        self._begin = np.concatenate([self._begin[others], begin[rest]])
        self._end = np.concatenate([self._end[others], end[rest]])


def _cut(begin: np.ndarray, end: np.ndarray, claim: np.ndarray, within: Within | None) -> Split:
    """Return spans cut by what is within; if that is nothing, as they are."""
    if within is None:
        return Split(np.arange(len(begin)), begin, end, np.zeros(len(begin), dtype=bool))
    shift = within.shift[claim]
    cut = within.covered.split(begin + shift, end + shift)
    return Split(cut.span, cut.begin - shift[cut.span], cut.end - shift[cut.span], cut.is_inside)
