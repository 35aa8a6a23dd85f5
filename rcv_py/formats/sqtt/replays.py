"""Memory instructions that a wave of gfx1250 issues again after a fault of address translation (XNACK).

```
tokens    … load   wait   REPLAYED   load   …
records   … ────────────────────────load   …     the load is taken once, with a stall since the first try
```
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from rcv_py.base.machine.compiled import kernel, part
from rcv_py.base.runs import borders
from rcv_py.formats.sqtt.records import OF_BORDERS, REPLAYED, WaveRecords, with_state
from rcv_py.model.kinds import TokenKind, WaveState

KINDS = (TokenKind.IMMED, TokenKind.SMEM, TokenKind.VMEM, TokenKind.LDS)
IMMED, SMEM, VMEM, LDS = map(int, KINDS)


def without_replays(waves: WaveRecords) -> WaveRecords:
    """Return the waves without tokens REPLAYED and what each takes back.

    It takes back the waits before it and the memory instruction before these; the wave stalls from one cycle
    before that instruction on, until the next one is issued.
    """
    replays = np.flatnonzero(waves.kind == REPLAYED)
    if not len(replays):
        return waves
    first, size = waves.token_first, len(waves.kind)
    time, stall, duration = (column.astype(np.int64) for column in (waves.time, waves.stall, waves.duration))
    keep, since = np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64)
    before = np.full(size, -1, dtype=np.int64)
    _rewind(first, waves.begin, waves.kind, time, stall, duration, keep, before, since)
    columns = {"time": time, "kind": waves.kind, "stall": stall, "duration": duration, "flags": waves.flags}
    assert set(columns) == set(OF_BORDERS["token_first"])
    kept, wave = borders(keep), np.searchsorted(first, replays, side="right") - 1
    owner, since = np.repeat(first[:-1], np.diff(waves.break_first)), since[replays]
    lasts = waves.time[replays] - since
    return replace(
        waves,
        **{name: column[keep] for name, column in columns.items()},
        token_first=kept[first],
        break_token=kept[owner + waves.break_token + 1] - kept[owner] - 1,
        **with_state(waves, wave, since - waves.begin[wave], lasts, WaveState.STALL),
    )


@part
def taken_back(kind: ndarray, keep: ndarray, before: ndarray, last: int) -> int:
    """Take back the waits from the last kept token on; return the one before them, -1 if there is none."""
    while last >= 0 and kind[last] == IMMED:
        keep[last] = False
        last = before[last]
    return last


@part
def is_memory(kind: int) -> bool:
    """Whether an instruction of this kind is taken back as well."""
    return kind == VMEM or kind == LDS or kind == SMEM  # noqa: PLR1714 - no sets in kernels


@kernel
def _rewind(
    first: ndarray,
    begin: ndarray,
    kind: ndarray,
    time: ndarray,
    stall: ndarray,
    duration: ndarray,
    keep: ndarray,
    before: ndarray,
    since: ndarray,
) -> None:
    """Fill `keep`, `before` (the kept token before each) and `since` (of a replay); correct what follows one.

    `first` is int64 [waves + 1], the first token of each, and `begin` int64 [waves].  Of tokens, `kind` is
    uint8, `keep` bool, at first False, and the others are int64; `time`, `stall` and `duration` change.
    """
    for wave in range(len(begin)):
        last, stalls = -1, -1  # the last kept token; since when the wave stalls, -1: it does not
        for row in range(first[wave], first[wave + 1]):
            if kind[row] == REPLAYED:
                last = taken_back(kind, keep, before, last)
                stalls = time[row] if stalls < 0 else stalls
                if last >= 0:
                    stalls = max(min(time[last] - 1, stalls), begin[wave])
                    if is_memory(kind[last]):
                        keep[last] = False
                        last = before[last]
                since[row] = stalls
                continue
            if stalls >= 0:
                from_then = stalls
                if kind[row] == IMMED and last >= 0:
                    from_then = time[last] + duration[last]
                moved = max(time[row] - from_then, 0)
                time[row] -= moved
                stall[row] += moved
                duration[row] += moved
                stalls = -1
            keep[row] = True
            before[row] = last
            last = row
