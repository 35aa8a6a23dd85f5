"""Which memory operations each wait of a program names, from its text alone, and where to draw arrows.

Instructions are followed in the order of the program, innermost loops twice, so that a wait finds what the
iteration before left open.  After an instruction that never goes on to the next one nothing is open.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.branches import flow
from rcv_py.analysis.program.loops import loops
from rcv_py.analysis.waits.waitcnt.replay import replay, waits
from rcv_py.base.runs import ascending, is_in
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
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
    parts, at = [], 0
    for first, stop in sorted(spans):
        others = (span for span in spans if span != (first, stop))
        is_innermost = not any(first <= other[0] and other[1] <= stop for other in others)
        if is_innermost and first >= at:
            body = every[(every >= first) & (every < stop)]
            parts += [every[(every >= at) & (every < first)], body, body]
            at = stop
    return np.concatenate([*parts, every[every >= at]])


def _pass(code: CodeTable, rows: np.ndarray) -> TracedWave:
    """Rows of the code as if a wave had executed them, each in a cycle of its own."""
    none = np.zeros(len(rows), dtype=np.int32)
    offset, line = np.arange(len(rows), dtype=np.int32), rows.astype(np.int32)
    tokens = Tokens(0, offset, stall=none, busy=none, kind=code.kind[rows], line=line)
    states = States(0, none[:0], none[:0].astype(np.uint8), 0)
    return TracedWave(
        row=0, id=WaveId(0, 0, 0, 0), cu=0, begin=0, end=len(rows), tokens=tokens, states=states, waits=None
    )


ARROW_COLORS = 13


class Arrows(ColumnTable):
    """One row per arrow, from a producer to the line that waits for it.

    `slot` 0 is next to the code.  An interior arrow crosses no other waiting line.
    """

    wait: np.ndarray  # int32, code row
    producer: np.ndarray  # int32, code row
    slot: np.ndarray  # int32
    is_interior: np.ndarray  # bool
    color: np.ndarray  # int32, 0 to ARROW_COLORS - 1; the same for all arrows of a wait


def wait_pairs(waits: Waits) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct pairs (wait line, producer line), sorted; none to itself or without a code line."""
    wait = np.repeat(waits.line, np.diff(waits.first)).astype(np.int64)
    producer = waits.depends_on.astype(np.int64)
    keep = (wait != producer) & (wait >= 0) & (producer >= 0)
    pairs = ascending(wait[keep] << 32 | producer[keep])
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def arrows(wait: np.ndarray, producer: np.ndarray) -> Arrows:
    """Place the arrows of distinct pairs (wait line, producer line), int32 code rows sorted by wait.

    Interior arrows of a wait get the slots 0, 1, 2 … outward, upward and downward separately.  The others
    follow, the shortest first; each takes the first slot from 1 that is free over all code rows it spans,
    where the n interior arrows of a wait on one side hold the slots 0 to n.
    """
    lines, number = np.unique(wait, return_inverse=True)
    number = number.reshape(-1)
    before = np.append(np.int64(-1), lines)[number]
    after = np.append(lines, np.iinfo(np.int64).max)[number + 1]
    interior = (producer >= before) & (producer <= after)
    is_down, distance = producer > wait, np.abs(wait - producer)
    near = np.flatnonzero(interior)
    order = near[np.lexsort((distance[near], is_down[near], wait[near]))]
    group = wait[order].astype(np.int64) * 2 + is_down[order]
    slot = np.zeros(len(wait), dtype=np.int32)
    slot[order] = np.arange(len(order)) - np.searchsorted(group, group, side="left")
    far = np.flatnonzero(~interior)
    far = far[np.argsort(distance[far], kind="stable")]
    _place_far(slot, far, order, wait, producer)
    rows = np.concatenate([order, far])
    color = (number % ARROW_COLORS).astype(np.int32)
    return Arrows(wait[rows], producer[rows], slot[rows], interior[rows], color[rows])


def _place_far(
    slot: np.ndarray, far: np.ndarray, near: np.ndarray, wait: np.ndarray, producer: np.ndarray
) -> None:
    """Fill in the slots of `far`, in that order; its loop suits a few hundred arrows, not one per token."""
    top, bottom = np.minimum(wait, producer), np.maximum(wait, producer)
    # A wait's interior arrows on one side end next to each other; the slot outside the longest is kept free.
    outermost = near[np.append(slot[near][1:] <= slot[near][:-1], True)[: len(near)]]
    rows = np.concatenate([near, outermost, far])
    held = np.concatenate([slot[near], slot[outermost] + 1, np.zeros(len(far), dtype=np.int32)])
    first, last = top[rows], bottom[rows]
    for place in range(len(rows) - len(far), len(rows)):
        crossed = (first[:place] <= last[place]) & (last[:place] >= first[place])
        is_free = ~is_in(np.arange(1, place + 2), held[:place][crossed])
        held[place] = 1 + int(is_free.argmax())  # the first free one
    slot[far] = held[len(rows) - len(far) :]
