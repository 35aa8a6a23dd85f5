"""Busy time of each SIMD and its pipes while a traced wave was resident on it.

```
resident   |--------------------------------|      union of the lives of the SIMD's waves
wave 0      vvVV  bbBB      vV  MM                 a token is busy from start + stall to its end
wave 1        lL  VV   iiI      VV
busy          ####  ##   #   #  ##                 union over all tokens
VALU          ##  ##         #  ##                 union over the tokens of a pipe
```

On gfx9 a token's busy part is its issue; later work of the pipe is not recorded.  Later generations record
execution.  Only traced waves are known: the waves of one compute unit an engine.
"""

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.parcels import FOREVER, Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums, sums, total
from rcv_py.base.runs import ascending
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

# Name and meaning of each pipe, and the kinds of tokens that it executes; the first kind gives its colour.
# fmt: off
_TABLE = (
    ("Matrix", "matrix arithmetic", (TokenKind.MATRIX,)),
    ("VALU", "vector arithmetic", (TokenKind.VALU,)),
    ("LDS", "local data share", (TokenKind.LDS,)),
    ("VMEM", "vector memory: buffer, image, global, flat and scratch", (TokenKind.VMEM, TokenKind.FLAT)),
    ("Ray", "ray tracing", (TokenKind.BVH,)),
    ("Scalar", "scalar arithmetic and scalar memory", (TokenKind.SALU, TokenKind.SMEM)),
    ("Other", "branches, waits, barriers, messages, and s_endpgm until its wave is gone",
        (TokenKind.IMMED,)),
)
# fmt: on
PIPES = tuple(name for name, _, _ in _TABLE)
PIPE_TEXT = {name: text for name, text, _ in _TABLE}
PIPE_KIND = {name: kinds[0] for name, _, kinds in _TABLE}
_PIPE_OF_KIND = np.full(256, PIPES.index("Other"), dtype=np.int64)
for _at, (_, _, _kinds) in enumerate(_TABLE):
    _PIPE_OF_KIND[list(_kinds)] = _at
_MAX_CYCLE = 1 << 62  # cycles: the length of the axis that all groups share


class PipeUse(ColumnTable):
    """One row a SIMD with traced waves, sorted by (se, cu, simd).  No cycle counts twice."""

    se: np.ndarray  # int64
    cu: np.ndarray  # int64, -1 if unknown
    simd: np.ndarray  # int64
    resident: np.ndarray  # int64, cycles with at least one traced wave
    busy: np.ndarray  # int64, cycles in which at least one wave issued or executed
    working: np.ndarray  # int64, the same without the tokens of "Other": waits, s_endpgm and the like
    pipes: np.ndarray  # int64 [rows, PIPES], the same for the tokens of each pipe

    def column(self, pipe: str = "") -> np.ndarray:
        """Busy cycles of each SIMD, or of one pipe if given; int64."""
        return self.pipes[:, PIPES.index(pipe)] if pipe else self.busy

    def share(self, pipe: str = "") -> float:
        """Busy share of resident cycles over all SIMDs, 0 to 1, or of one pipe if given."""
        return self.share_of(self.column(pipe))

    def share_of(self, cycles: np.ndarray) -> float:
        """A column of cycles as a share of resident cycles over all SIMDs, 0 to 1."""
        return int(cycles.sum()) / max(int(self.resident.sum()), 1)

    @property
    def used(self) -> tuple[str, ...]:
        """Pipes that were ever busy."""
        return tuple(name for i, name in enumerate(PIPES) if self.pipes[:, i].any())


def _map(_trace: Trace, parcel: Parcel) -> Sums:
    """Return se, cu and simd as a single key, and the cycles in the slab: resident, busy, working, pipes.

    Chosen waves are resident; all waves keep pipes busy.  What all and what chosen waves cover, less what
    both together cover, is what both cover at once.
    """
    tokens, chosen = parcel.tokens, parcel.chosen
    place = (tokens.engines << 32) | ((tokens.cus + 1) << 16) | tokens.simds
    begin, end = (time[chosen] for time in _inside(parcel, *tokens.lives))
    start, stop = _inside(parcel, tokens.issue, tokens.end)
    places, row = np.unique(place[chosen], return_inverse=True)
    owner, pipe, n = np.searchsorted(places, place)[tokens.owner], _PIPE_OF_KIND[tokens.kind], len(places)
    own = chosen[tokens.owner]
    if not chosen.all():
        is_there = np.isin(place, places)[tokens.owner]
        owner, pipe, start, stop, own = (one[is_there] for one in (owner, pipe, start, stop, own))

    def used(group: np.ndarray, at: np.ndarray | slice, times: int = 1) -> np.ndarray:
        """Cycles of groups, `times` for each SIMD, while a chosen wave was resident or issued."""
        first, last, is_own = start[at], stop[at], own[at]
        cycles = covered(group, first, last, n * times)
        if is_own.all():
            return cycles
        of = np.append(group, row * times + np.arange(times)[:, np.newaxis])
        first, last = np.append(first, np.tile(begin, times)), np.append(last, np.tile(end, times))
        held = np.append(is_own, np.ones(len(of) - len(group), dtype=bool))
        held_cycles = covered(of[held], first[held], last[held], n * times)
        return cycles + held_cycles - covered(of, first, last, n * times)

    works = pipe != PIPES.index("Other")
    pipes = used(owner * len(PIPES) + pipe, slice(None), len(PIPES))
    return (
        places,
        covered(row, begin, end, n),
        used(owner, slice(None)),
        used(owner[works], works),
        *pipes.reshape(n, len(PIPES)).T,
    )


def _inside(parcel: Parcel, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clip spans to the slab; spans outside become empty."""
    low = np.iinfo(np.int64).min if parcel.begin == -FOREVER else parcel.begin
    high = np.iinfo(np.int64).max if parcel.end == FOREVER else parcel.end
    return np.clip(start, low, high), np.clip(np.maximum(start, stop), low, high)


def _finish(_trace: Trace, part: Sums) -> PipeUse:
    place, resident, busy, working, *pipes = part
    se, cu, simd = place >> 32, (place >> 16 & 0xFFFF) - 1, place & 0xFFFF
    table = np.stack(pipes, axis=1)
    return PipeUse(se, cu, simd, resident=resident, busy=busy, working=working, pipes=table)


PIPE_USE = Reduction(_map, added(3 + len(PIPES)), _finish, is_together=True, is_of_simd=True)


def covered(group: np.ndarray, start: np.ndarray, stop: np.ndarray, n: int) -> np.ndarray:
    """Return the cycles covered by the spans of each group (0 to n - 1), overlaps counted once; int64 [n]."""
    if not len(start):
        return np.zeros(n, dtype=np.int64)
    origin = int(start.min())
    reach = int(stop.max()) - origin + 1  # every group gets a stretch of time of its own
    if reach > _MAX_CYCLE // max(1, n):  # times of a damaged file are too far apart for one axis
        cycles = np.zeros(n, dtype=np.int64)
        for one in ascending(group).tolist():
            own = IntervalSet.of(start[group == one], stop[group == one])
            cycles[one] = total(own.end - own.begin)
        return cycles
    shift = group.astype(np.int64) * reach - origin
    first, last = start + shift, stop + shift
    order = np.argsort(first, kind="stable")
    merged = IntervalSet.of(first[order], last[order])
    length = merged.end - merged.begin
    return sums(merged.begin // reach, length, n)
