"""Which pattern each attributed cycle belongs to: every row of an attribution to one pattern at most.

So no cycle is at stake twice, and no two findings explain the same wait.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.model.code import CodeTable


class Pattern(IntEnum):
    """Patterns that a cause decides; other findings come from other analyses."""

    NONE = 0
    SCRATCH = 1
    ATOMIC = 2
    LOAD = 3
    DMA = 4
    LDS = 5
    CROSS_LANE = 6
    SCALAR = 7
    STORE = 8
    BARRIER = 9
    MATRIX_RESULT = 10
    MATRIX_BUSY = 11
    NOP = 12
    FETCH = 13
    MEMORY_QUEUE = 14
    LDS_QUEUE = 15
    SCALAR_QUEUE = 16
    DRAIN = 17
    LAUNCH = 18
    REGISTER = 19


OF_CAUSE = {
    Cause.WAIT_LOAD: Pattern.LOAD,
    Cause.WAIT_DMA: Pattern.DMA,
    Cause.WAIT_LDS: Pattern.LDS,
    Cause.WAIT_CROSS_LANE: Pattern.CROSS_LANE,
    Cause.WAIT_SCALAR: Pattern.SCALAR,
    Cause.WAIT_STORE: Pattern.STORE,
    Cause.WAIT_ATOMIC: Pattern.ATOMIC,
    Cause.BARRIER: Pattern.BARRIER,
    Cause.MATRIX_RESULT: Pattern.MATRIX_RESULT,
    Cause.MATRIX_BUSY: Pattern.MATRIX_BUSY,
    Cause.NOP: Pattern.NOP,
    Cause.FETCH: Pattern.FETCH,
    Cause.MEMORY_QUEUE: Pattern.MEMORY_QUEUE,
    Cause.LDS_QUEUE: Pattern.LDS_QUEUE,
    Cause.SCALAR_QUEUE: Pattern.SCALAR_QUEUE,
    Cause.DRAIN: Pattern.DRAIN,
    Cause.LAUNCH: Pattern.LAUNCH,
    Cause.REGISTER: Pattern.REGISTER,
}
_WAITS = (Pattern.LOAD, Pattern.STORE, Pattern.MEMORY_QUEUE)  # that scratch and atomics are taken out of


def patterns(table: Attribution, code: CodeTable) -> np.ndarray:
    """Return the Pattern of each row of an attribution, uint8."""
    of_cause = np.zeros(max(Cause) + 1, dtype=np.uint8)
    for cause, pattern in OF_CAUSE.items():
        of_cause[cause] = pattern
    found = of_cause[table.cause]
    for pattern, says in ((Pattern.SCRATCH, is_scratch), (Pattern.ATOMIC, is_atomic)):
        named = np.append([says(text) for text in code.text], False).astype(bool)
        if named.any():  # -1, no instruction, is the last entry
            found[np.isin(found, _WAITS) & (named[table.line] | named[table.producer])] = pattern
    return found


def is_scratch(text: str) -> bool:
    """Whether an instruction reads or writes the private memory of a wave."""
    return text.startswith("scratch_") or (
        text.startswith(("buffer_load", "buffer_store")) and " s32 " in text and "offset:" in text
    )


def is_atomic(text: str) -> bool:
    """Whether an instruction is an atomic operation on memory."""
    return "_atomic_" in text.partition(" ")[0]
