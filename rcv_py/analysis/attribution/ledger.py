"""Book-keeping: every cycle of a stall or gap is given to exactly one cause.

Rules claim cycles one after the other; each rule gets what earlier rules left.  Unclaimed cycles are
UNEXPLAINED, so sums are right whatever the rules do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import GUESSED, Cause
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, borders, order, starts_run
from rcv_py.model.columns import ColumnTable, joined

Causes = Cause | np.ndarray  # one for all rows, or one a row
Producers = int | np.ndarray
_NONE = np.zeros(0, dtype=np.int64)
_IS_GUESS = np.isin(np.arange(len(Cause)), GUESSED)


class Claims(ColumnTable):
    """Cycles with a cause, one row per claim; a token may have several."""

    token: np.ndarray  # int64
    cause: np.ndarray  # uint8
    producer: np.ndarray  # int64, token; -1: none; below -1: -2 less its row in LastOperations
    cycles: np.ndarray  # int64, more than 0
    is_guess: np.ndarray  # bool, the producer is a guess: its cause is in GUESSED, or other candidates fit


class ClaimSpans(ColumnTable):
    """When the cycles of claims were spent, one row per span; spans of a token do not overlap."""

    claim: np.ndarray  # int64, row of the Claims
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles


class Within(Value):
    """The intervals from which cycles are claimed first, as far as they are open there."""

    covered: IntervalSet
    shift: np.ndarray  # int64, offset that puts times of each claiming row on the axis of `covered`


class _Part(NamedTuple):
    row: np.ndarray
    cause: np.ndarray
    producer: np.ndarray
    cycles: np.ndarray
    is_guess: np.ndarray
    within: Within | None


class Ledger:
    """The stalls (or gaps) of some tokens, from `at` to `end`; `left` counts cycles without a cause.

    `cycles` are the cycles of the stall or gap: more than `end - at` if a stream clipped invalid times.
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
        """Rows that have cycles left and are selected, bool [rows]."""
        return np.flatnonzero((self.left > 0) & is_meant)

    def of_lines(self, is_meant: np.ndarray) -> np.ndarray:
        """Rows that have cycles left and whose line is selected, `is_meant` bool [rows of Lines]."""
        return self.open(is_meant.take(self.line))

    def take(
        self,
        row: np.ndarray,
        cycles: np.ndarray,
        cause: Causes,
        producer: Producers = -1,
        within: Within | None = None,
        *,
        is_guess: bool | np.ndarray = False,
    ) -> None:
        """Charge `cycles` of each row, or what is left, to a cause; no row may occur twice.

        They are the earliest open cycles, cycles `within` a union first.  `is_guess`: another producer fits
        as well.
        """
        got = np.minimum(np.maximum(cycles, 0), self.left.take(row))
        some = np.flatnonzero(got)
        if not len(some):
            return
        columns = ((cause, np.uint8), (producer, np.int64), (is_guess | _IS_GUESS[cause], bool))
        why, blamed, guess = (
            column.take(some).astype(dtype, copy=False)
            if isinstance(column, np.ndarray)
            else np.full(len(some), column, dtype=dtype)
            for column, dtype in columns
        )
        row, got = row.take(some), got.take(some)
        guess &= blamed != -1
        self.left[row] -= got
        where = None if within is None else Within(within.covered, within.shift.take(some))
        self._parts.append(_Part(row, why, blamed, got, guess, where))

    def until(self, row: np.ndarray, time: np.ndarray, cause: Causes, producer: Producers = -1) -> None:
        """Charge the cycles before a time to a cause; cycles that this method charged before stay."""
        reach, at = np.minimum(time, self.end.take(row)), self.at.take(row)
        self.take(row, np.maximum(reach - at, 0), cause, producer)
        self.at[row] = np.maximum(at, reach)

    def rest(
        self, row: np.ndarray, cause: Causes, producer: Producers = -1, *, is_guess: bool | np.ndarray = False
    ) -> None:
        """Charge all remaining cycles of the rows to a cause."""
        self.take(row, self.left.take(row), cause, producer, is_guess=is_guess)

    def claims(self) -> Claims:
        """All claims; remaining cycles are UNEXPLAINED."""
        return self.closed()[0]

    def closed(self) -> tuple[Claims, Spent]:
        """All claims, and when their cycles were spent; the ledger itself is no longer needed."""
        self.rest(np.flatnonzero(self.left > 0), Cause.UNEXPLAINED)
        none = _Part(_NONE, _NONE.astype(np.uint8), _NONE, _NONE, _NONE.astype(bool), None)
        parts = self._parts or [none]
        columns = zip(*(part[:5] for part in parts), strict=True)
        row, why, producer, cycles, is_guess = (np.concatenate(column) for column in columns)
        edges = pairwise(borders([len(part.row) for part in parts]).tolist())
        shares = tuple(
            _Share(row[low:high], cycles[low:high], part.within)  # views: nothing is in memory twice
            for (low, high), part in zip(edges, parts, strict=True)
        )
        claims = Claims(self.token.take(row), why, producer, cycles, is_guess)
        return claims, Spent(self.begin, self.end, row, shares)


class _Share(Value):
    row: np.ndarray
    cycles: np.ndarray
    within: Within | None


class Spent(Value):
    """When the cycles of claims were spent, in a compact form that `spans` expands."""

    begin: np.ndarray  # int64, of each row of the ledger
    end: np.ndarray  # int64
    row: np.ndarray  # int64, row of the ledger of each claim
    shares: tuple[_Share, ...]  # the claims, in order

    def spans(self) -> ClaimSpans:
        """When the cycles of the claims were spent; claims that have their row alone come first."""
        row = self.row
        is_alone = np.bincount(row, minlength=len(self.begin)).take(row) == 1  # the only claim of its row
        alone = np.flatnonzero(is_alone)
        whole = (column.take(row.take(alone)) for column in (self.begin, self.end))  # a generator keeps none
        spans = [ClaimSpans(alone, *whole)]
        rows = ascending(row.take(np.flatnonzero(~is_alone)))
        # The cycles of the other rows that no claim has yet, by row and time.
        open_ = ClaimSpans(rows, self.begin[rows], self.end[rows])
        first = 0
        for share in self.shares:
            some = np.flatnonzero(~is_alone[first : first + len(share.row)])
            if len(some):
                taken, open_ = _taken(open_, share, some)
                spans.append(replace(taken, claim=first + taken.claim))
            first += len(share.row)
        return joined(spans)


def _taken(open_: ClaimSpans, part: _Share, some: np.ndarray) -> tuple[ClaimSpans, ClaimSpans]:
    """Take the cycles that some rows of a part claim from open spans (`claim` is their row).

    Return the taken spans, by index in the part, and the spans that stay open.
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
        # By claim; cycles inside `within` before the others, then by time.
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
