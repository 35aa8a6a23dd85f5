"""Which instructions each executed wait waited for, found by replaying the counters of a wave.

Writers store this; some leave it out.  A counter is a queue of outstanding operations.  Where they come back
in order, waiting until N are left releases all but the newest N; where they may not (scalar memory, FLAT, or
several kinds at once) only waiting for none of them tells anything, and then everything.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.wait_counters import NOTHING, UNORDERED, Effect, effect
from rcv_py.model.code import CodeTable
from rcv_py.model.tokens import Tokens, Waits
from rcv_py.model.waves import Wave

Queue = list[tuple[int, str]]  # (code row, kind of operation), oldest first


def waits_of(wave: Wave, code: CodeTable, gfxip: int) -> Waits:
    """Return the waits that the wave's file lists, or, if it lists none, those that a replay finds."""
    if wave.waits is not None and len(wave.waits):
        return wave.waits
    return replay(wave.tokens, code, gfxip)


def replay(tokens: Tokens, code: CodeTable, gfxip: int) -> Waits:
    """Return one entry for each executed wait and counter that released anything, in order of execution."""
    effects = [effect(text, gfxip) for text in code.text]
    matters = np.array([one != NOTHING for one in effects], dtype=bool)
    ran = tokens.line[tokens.line >= 0]
    queues: dict[str, Queue] = {}
    lines: list[int] = []
    released: list[list[int]] = []
    for line in ran[matters[ran]].tolist():  # memory operations and waits only, about one token in ten
        for producers in _step(queues, line, effects[line]):
            lines.append(line)
            released.append(producers)
    return Waits(
        np.array(lines, dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(rows) for rows in released])]).astype(np.int32),
        np.array([row for rows in released for row in rows], dtype=np.int32),
    )


def _step(queues: dict[str, Queue], line: int, what: Effect) -> list[list[int]]:
    for counter, kind in what.raises:
        queues.setdefault(counter, []).append((line, kind))
    found = [_release(queues.get(counter, []), left) for counter, left in what.waits]
    return [rows for rows in found if rows]


def _release(queue: Queue, left: int) -> list[int]:
    """Take what must have come back out of the queue; a code row that raised it twice is named once."""
    kinds = {kind for _, kind in queue}
    if left and (len(kinds) > 1 or kinds & UNORDERED):
        return []
    done = queue[: max(0, len(queue) - left)]
    del queue[: len(done)]
    return list(dict.fromkeys(row for row, _ in done))
