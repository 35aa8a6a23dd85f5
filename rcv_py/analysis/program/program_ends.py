"""Time under s_endpgm: the trace counts it as execution, but a wave only waits there for its last operations.

It issues once, within `ISSUE` cycles; what the token lasts beyond that keeps its slot, not its SIMD.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.kept import kept
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.model.code import CodeTable

ISSUE = 4  # cycles a scalar instruction takes to issue


@kept
def ends_of(code: CodeTable) -> np.ndarray:
    """Whether each code row ends a program; bool [code rows]."""
    return np.fromiter((text.startswith("s_endpgm") for text in code.text), dtype=bool, count=len(code.text))


def under_end(piece: TokenColumns, ends: np.ndarray) -> np.ndarray:
    """Return the cycles of each token beyond the issue of an end of a program, int64 [tokens]; else 0."""
    rest = np.zeros(len(piece), dtype=np.int64)
    at, cycles = rests(piece, ends)
    rest[at] = cycles
    return rest


def rests(piece: TokenColumns, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens of which that is more than none, and these cycles, int64 each."""
    if not ends.any():
        return (np.zeros(0, dtype=np.int64),) * 2
    at = np.flatnonzero(np.append(ends, False)[piece.code_rows(len(ends))])
    rest = piece.busy[at].astype(np.int64) - ISSUE
    return at[rest > 0], rest[rest > 0]
