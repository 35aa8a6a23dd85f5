"""Looking up what began last at a place: many questions in one pass."""

from __future__ import annotations

import numpy as np


def latest(
    place: np.ndarray, begin: np.ndarray, asked_place: np.ndarray, asked_time: np.ndarray
) -> np.ndarray:
    """Return for each question the row that began last at its place, at or before its time; int64, -1: none.

    Rows need no order; of rows that began at once the later one is meant.
    """
    rows, questions = len(place), len(asked_place)
    if not rows or not questions:
        return np.full(questions, -1, dtype=np.int64)
    where = np.concatenate([place, asked_place])
    time = np.concatenate([begin, asked_time])
    is_asked = np.repeat([False, True], [rows, questions])
    order = np.lexsort((is_asked, time, where))
    at = np.maximum.accumulate(np.where(is_asked[order], -1, np.arange(len(order))))
    found = np.where(at >= 0, order[np.maximum(at, 0)], -1)
    found[where[found] != where[order]] = -1
    answer = np.empty(questions, dtype=np.int64)
    asked = is_asked[order]
    answer[order[asked] - rows] = found[asked]
    return answer
