"""`rcv loops --show iterations --loop`: every round of one loop, as the panel Loops lists them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.iterations.loop_tables import Asked, Rows, iteration
from rcv_py.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop by its code rows, the index row of a wave (None: all), and whether only outliers count."""

    head: int
    branch: int
    wave: int | None
    is_outliers: bool


def rounds(asked: Asked, choice: Rounds) -> Rows:
    """Return the rounds of a loop by time; `note` says what they are; UsageError for no such loop."""
    found = asked.loops.found
    table, one = found.table, found.iterations
    chosen = np.flatnonzero((table.head == choice.head) & (table.branch == choice.branch))
    if not len(chosen):
        pairs = ", ".join(f"{head}:{branch}" for head, branch in zip(table.head, table.branch, strict=True))
        raise UsageError(
            f"No wave ran a loop from {choice.head} to {choice.branch}.", hint=f"Loops: {pairs or 'none'}."
        )
    outliers = set(found.outliers.tolist())
    keep = one.loop == chosen[0]
    if choice.wave is not None:
        keep &= one.wave == choice.wave
    rows = np.flatnonzero(keep)
    if choice.is_outliers:
        rows = found.outliers[np.isin(found.outliers, rows)]
    elif choice.wave is None:
        rows = rows[np.argsort(one.begin[rows], kind="stable")]
    return [
        iteration(asked, i, i in outliers) | {"note": _note(one.is_first[i], one.is_last[i], i in outliers)}
        for i in rows.tolist()
    ]


def _note(is_first: bool, is_last: bool, is_outlier: bool) -> str:
    return "entry" if is_first else "last" if is_last else "outlier" if is_outlier else ""
