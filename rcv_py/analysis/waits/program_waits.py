"""Which memory operations each wait of a program names, from its text alone.

Instructions are followed in the order of the program, innermost loops twice, so that a wait finds what the
iteration before left open.  After an instruction that never goes on to the next one nothing is open.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.branches import flow
from rcv_py.analysis.program.loops import loops
from rcv_py.analysis.waits.waitcnt.replay import replay, waits
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.ids import WaveId
from rcv_py.model.tokens import States, Tokens, Waits
from rcv_py.model.waves import TracedWave


@lru_cache(maxsize=2)
def program_waits(code: CodeTable, architecture: Architecture) -> Waits:
    """Return the operations that each wait names, as for an executed wave."""
    rows = _order(code)
    ends = ~flow(code).falls[rows] | np.isin(rows + 1, [kernel.first for kernel in code.kernels])
    edges = [0, *(np.flatnonzero(ends[:-1]) + 1).tolist(), len(rows)]
    tokens = of_waves([_pass(code, rows[begin:end]) for begin, end in pairwise(edges)])
    return waits(replay(tokens, code, architecture), tokens.line)


def _order(code: CodeTable) -> np.ndarray:
    """Code rows without labels, ascending, the rows of innermost loops again after each of these loops."""
    every = np.flatnonzero(~code.is_label)
    found = loops(blocks(code))
    spans = list(zip(found.first.tolist(), found.stop.tolist(), strict=True))
    inner = [
        one
        for one in spans
        if not any(one != other and one[0] <= other[0] and other[1] <= one[1] for other in spans)
    ]
    parts, at = [], 0
    for first, stop in sorted(inner):
        if first >= at:
            body = every[(every >= first) & (every < stop)]
            parts += [every[(every >= at) & (every < first)], body, body]
            at = stop
    return np.concatenate([*parts, every[every >= at]])


def _pass(code: CodeTable, rows: np.ndarray) -> TracedWave:
    """Rows of the code as if a wave had executed them, each in a cycle of its own."""
    none = np.zeros(len(rows), dtype=np.int32)
    tokens = Tokens(
        base=0,
        offset=np.arange(len(rows), dtype=np.int32),
        stall=none,
        busy=none,
        kind=code.kind[rows],
        line=rows.astype(np.int32),
    )
    states = States(0, none[:0], none[:0].astype(np.uint8), 0)
    return TracedWave(
        row=0, id=WaveId(0, 0, 0, 0), cu=0, begin=0, end=len(rows), tokens=tokens, states=states, waits=None
    )
