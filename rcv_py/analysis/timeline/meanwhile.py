"""Instructions that other waves of a SIMD issued while one of its waves stalled.

```
 this wave    ▓issue▓ · · · · stall · · · · ▓issue▓
 others           ▓VALU▓ ▓VALU▓    ▓MFMA▓       ▓VALU▓
 covered          └─────────┘      └────┘              covered part of the stall
```
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """Cycles in which other waves issued or executed, in a span of time."""

    covered: int  # cycles in which any of them issued or executed
    by_kind: tuple[tuple[int, int], ...]  # token kind and its cycles, most first; they may overlap
    line: int  # code row with most of them, -1: none
    waves: int  # number of these waves


NO_OTHER_WAVES = Meanwhile(0, (), -1, 0)


def meanwhile(wave: TracedWave, waves: Iterable[TracedWave], span: TimeWindow) -> Meanwhile:
    """Return what other waves on the SIMD of a wave issued within a span; `waves` may include any SIMD."""
    place = _place(wave)
    begins, ends, kinds, lines, count = [], [], [], [], 0
    for other in waves:
        if other.row == wave.row or _place(other) != place:
            continue
        if other.end <= span.begin or other.begin >= span.end:
            continue
        tokens = other.tokens
        rows = tokens.rows_in(span)
        issue = tokens.base + tokens.offset[rows].astype(np.int64) + tokens.stall[rows]
        begin = np.maximum(issue, span.begin)
        end = np.minimum(issue + tokens.busy[rows], span.end)
        met = np.flatnonzero(end > begin)
        count += bool(len(met))
        begins.append(begin[met])
        ends.append(end[met])
        kinds.append(tokens.kind[rows][met])
        lines.append(tokens.line[rows][met].astype(np.int64))
    if not count:
        return NO_OTHER_WAVES
    begin, end, kind, line = (np.concatenate(parts) for parts in (begins, ends, kinds, lines))
    cycles = np.bincount(kind, end - begin).astype(np.int64)
    by_kind = [(int(one), int(cycles[one])) for one in np.argsort(-cycles, kind="stable") if cycles[one]]
    known = line >= 0
    of_line = np.bincount(line[known], (end - begin)[known])
    most = int(of_line.argmax()) if len(of_line) else -1
    return Meanwhile(IntervalSet.of(begin, end).total, tuple(by_kind), most, count)


def _place(wave: TracedWave) -> tuple[int, int, int]:
    return wave.id.se, wave.cu, wave.id.simd
