"""Book-keeping: every cycle of a stall or gap is given to exactly one cause.

Rules claim cycles one after the other; a rule gets what is left.  What nobody claims is UNEXPLAINED, so sums
are right whatever the rules do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.attribution.causes import GUESSED, Cause


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


class Ledger:
    """The stalls (or gaps) of some tokens, from `at` to `end`; `left` counts what has no cause yet.

    `cycles` are those of the stall or gap: more than from begin to end where a stream cut absurd times.
    """

    def __init__(self, token: np.ndarray, begin: np.ndarray, end: np.ndarray, cycles: np.ndarray) -> None:
        self.token, self.at, self.end = token, begin.copy(), end
        self.left = cycles.copy()
        self._parts: list[tuple[np.ndarray, ...]] = []

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
        *,
        is_guess: bool | np.ndarray = False,
    ) -> None:
        """Give so many cycles of each row, or what is left, to a cause; no row may be named twice.

        `is_guess`: another producer fits as well.
        """
        got = np.clip(cycles, 0, self.left[row])
        some = np.flatnonzero(got)
        row, got = row[some], got[some]
        blamed = np.full(len(row), -1, dtype=np.int64) if producer is None else producer[some]
        why = cause[some] if isinstance(cause, np.ndarray) else np.full(len(row), cause)
        guess = is_guess[some] if isinstance(is_guess, np.ndarray) else np.full(len(row), is_guess)
        self.left[row] -= got
        self._parts.append((row, why, blamed, got, guess & (blamed >= 0)))

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
        row, why, producer, cycles, is_guess = map(np.concatenate, zip(*self._parts, strict=True))
        is_guess |= np.isin(why, GUESSED) & (producer >= 0)
        return Claims(
            self.token[row],
            why.astype(np.uint8),
            producer.astype(np.int64),
            cycles.astype(np.int64),
            is_guess.astype(bool),
        )
