"""Time under s_endpgm: the trace counts it as execution, but the wave only waits for its last operations.

It issues once, within `ISSUE` cycles; the rest of the token occupies the wave's slot, not its SIMD.
"""

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import memoized

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
