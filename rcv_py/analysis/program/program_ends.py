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
    if ends.any():
        at = np.flatnonzero(np.append(ends, False)[piece.code_rows(len(ends))])
        rest[at] = np.maximum(0, piece.busy[at].astype(np.int64) - ISSUE)
    return rest
