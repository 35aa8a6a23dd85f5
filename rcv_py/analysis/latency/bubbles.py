"""Bubbles: cycles in which a SIMD holds waves and nothing happens, charged to the waiting instructions.

```
wave 0        ████░░░░░░██      █ issues   ░ stalls or has nothing to do
wave 1        ░░░░░░██░░░░
matrix unit   mmmmm·······
SIMD          ████·b██bb██      b: a bubble, half of each charged to the instruction of either wave
```
A stall that another wave covers costs nothing here, unlike in plain sums of stalls; nor does a stall during
which the matrix unit works (`simd_work` defines work).  Every other cycle with a wave is split equally among
the resident waves: each charges its share to the instruction it stalls in, to the instruction before which it
is idle, or, after its last token, to that token as drain.  Only recorded waves count.

A wave under s_endpgm waits for its last operations: after its issue that is drain as well.  The reference
counts it as issue, which hides most bubbles of kernels that end with stores; it counts cycles in which only
the matrix unit works as bubbles.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field
from rcv_py.analysis.core.saturated import Sums, summed
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.device import simd_work
from rcv_py.analysis.program.branches import ends_of, under_end
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, ends_run, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

WAYS = ("idle", "stall", "drain")
_SHARED = 18  # waves up to which a cycle is counted in parts
_PARTS = math.lcm(*range(1, _SHARED + 1))  # parts of a cycle, divisible by any number of waves up to _SHARED


class Bubbles(ColumnTable):
    """One row per instruction that is charged anything, most first; cycles summed over SIMDs."""

    line: np.ndarray  # int32, code row; -1: tokens without a code line
    idle: np.ndarray  # float64, cycles before it
    stall: np.ndarray  # float64, cycles in it
    drain: np.ndarray  # float64, cycles after it, as the last instruction of its wave
    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    issuing: int  # cycles in which a SIMD issued; a few may be after the recorded end of a wave
    no_issue: int  # cycles in which a SIMD held waves and issued nothing
    matrix: int  # cycles in which a SIMD held waves and its matrix unit worked; 0 by the reference's rule
    bubble: int  # cycles in which a SIMD held waves and nothing happened (the reference: and none issued)
    place: np.ndarray  # int32 [SIMDs], shader engine * 256 + SIMD
    of_simd: Mapping[str, np.ndarray]  # int64 [SIMDs], the same cycles of each SIMD, by those five names
    waves: int  # number of waves analysed
    assumption: str = ""  # about matrix instructions

    @property
    def total(self) -> np.ndarray:
        """Charged cycles of each line, float64."""
        return self.idle + self.stall + self.drain

    @property
    def busy_share(self) -> float:
        """Issuing part of the resident cycles, 0 if there are none."""
        return self.issuing / self.resident if self.resident else 0.0


class _Charged(Value):
    # Key: number of waves that share (0: any up to _SHARED), kind of wait, code row.  Cycles; for number 0 in
    # parts of a cycle.
    charged: Sums
    cycles: simd_work.SimdCycles
    waves: int


def _map(rule: ReferenceRule, left_out: frozenset[int], trace: Trace, parcel: Parcel) -> _Charged:
    work, size = simd_work.work_of(trace, parcel, left_out, rule), len(trace.code) + 1
    ends = ends_of(trace.code) if rule is ReferenceRule.OURS else np.zeros(0, dtype=bool)
    keys, charged = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    counts = zip(parcel.tokens.waves, parcel.chosen.tolist(), strict=True)
    tokens = of_waves(wave for wave, is_chosen in counts if is_chosen and wave.row not in left_out)
    if len(tokens.waves):
        axis, rest = work.axis, under_end(tokens, ends)
        begin, end = simd_work.lives(tokens, axis)
        edges = (axis.held(np.array([time])) for time in (parcel.begin, parcel.end))
        low, high = (edge + axis.shift(tokens) for edge in edges)
        sweep = _Sweep(np.clip(begin, low, high), np.clip(end, low, high), work.work)
        waits = list(_waiting(tokens, axis, rest))
        for shared in sweep.shared:
            until = sweep.until(shared)
            for way, (line, begin, end) in enumerate(waits):
                row = np.where((line >= 0) & (line < size - 1), line, size - 1)
                parts = until(end) - until(begin)
                some = np.flatnonzero(parts)
                keys.append((shared * len(WAYS) + way) * size + row[some])
                charged.append(parts[some])
    sums = summed(np.concatenate(keys), np.concatenate(charged))
    return _Charged(sums, simd_work.simd_cycles(work), work.waves)


def _finish(rule: ReferenceRule, left_out: frozenset[int], trace: Trace, part: _Charged) -> Bubbles:
    size = len(trace.code) + 1
    key, parts = part.charged
    shared, place = key // (len(WAYS) * size), key % (len(WAYS) * size)
    charged = np.bincount(place, parts / np.where(shared > 0, shared, _PARTS), len(WAYS) * size)
    cycles = charged.reshape(len(WAYS), size)
    whole = cycles.sum(axis=0)
    line = np.flatnonzero(whole)
    line = line[np.lexsort((line, -whole[line]))]
    idle, stall, drain = cycles[:, line]
    names = ("resident", "issuing", "no_issue", "matrix")
    of_simd = {**{name: getattr(part.cycles, name) for name in names}, "bubble": part.cycles.nothing}
    return Bubbles(
        line=np.where(line == size - 1, -1, line).astype(np.int32),
        idle=idle,
        stall=stall,
        drain=drain,
        **{name: int(column.sum()) for name, column in of_simd.items()},
        place=part.cycles.place.astype(np.int32),
        of_simd=of_simd,
        waves=part.waves,
        assumption=simd_work.assumption(matrix_passes(trace.code, trace.target), left_out, rule),
    )


_MERGE = by_field(_Charged, charged=added(1), cycles=simd_work.joined_cycles, waves=sum)


def bubbles_by(rule: ReferenceRule, left_out: frozenset[int]) -> Reduction[_Charged, Bubbles]:
    """Return the bubbles of waves by a rule; `left_out` is the result of ASTRAY."""
    map_, finish = partial(_map, rule, left_out), partial(_finish, rule, left_out)
    return Reduction(map_, _MERGE, finish, is_together=True, is_of_simd=True)


# Waves that do not count still issue and keep units busy; bubbles are split among the waves that count.
BUBBLES = {rule: Staged(simd_work.ASTRAY, partial(bubbles_by, rule)) for rule in ReferenceRule}


def _waiting(
    tokens: TokenColumns, axis: simd_work.SimdAxis, rest: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (line, begin, end) of the waits of waves, in the order of WAYS, clipped to their lives.

    While an earlier token of the wave is not done, cycles belong to that token, so that overlapping tokens
    are not charged twice.
    """
    owner, last_token = tokens.owner, np.flatnonzero(tokens.is_last)
    low, high = simd_work.lives(tokens, axis)
    start, idle, stall = tokens.start + axis.shift(tokens)[owner], tokens.idle, tokens.stall
    waits = np.flatnonzero(idle)
    yield tokens.line[waits], *_cut(start[waits] - idle[waits], start[waits], low, high, owner[waits])
    waits = np.flatnonzero(stall)
    begin = np.maximum(start[waits], _done(tokens, start, waits))
    yield tokens.line[waits], *_cut(begin, start[waits] + stall[waits], low, high, owner[waits])
    done = low.copy()
    np.maximum.at(done, owner, start + tokens.duration - rest)
    line = np.full(len(low), -1, dtype=np.int64)
    line[owner[last_token]] = tokens.line[last_token]
    yield line, np.minimum(done, high), high


def _done(tokens: TokenColumns, start: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The latest end of earlier tokens of the same wave, for each of the rows."""
    end = start + tokens.duration
    if not np.any((end[:-1] > start[1:]) & ~tokens.is_last[:-1]):
        return start[rows]  # nothing overlaps
    reach = int(end.max() - start.min()) + 1
    lift = tokens.owner * reach - start.min()
    latest = np.maximum.accumulate(np.append(0, (end + lift)[:-1]))
    return np.maximum(latest - lift, start.min())[rows]


def _cut(
    begin: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    begin = np.clip(begin, low[owner], high[owner])
    return begin, np.maximum(begin, np.minimum(end, high[owner]))


class _Sweep:
    """The axis, cut wherever a SIMD begins or ends to work, or a wave begins or ends."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, busy: IntervalSet) -> None:
        time = np.concatenate([begin, end])
        order = np.argsort(time, kind="stable")
        change, time = np.repeat([1, -1], len(begin))[order], time[order]
        last = ends_run(time)
        time, waves = time[last], np.append(0, np.cumsum(change)[last])  # no wave before the first
        # Three sorted runs: a stable sort merges them, which is much faster than `np.unique`.
        cut = np.sort(np.concatenate([time, busy.begin, busy.end]), kind="stable")
        self._cut = cut[starts_run(cut)]
        waves = waves[np.searchsorted(time, self._cut, side="right")]
        covered = np.searchsorted(busy.begin, self._cut, side="right") - 1
        is_busy = (covered >= 0) & (self._cut < busy.end[covered]) if len(busy.begin) else waves < 0
        self._waves = np.where(is_busy, 0, waves)
        many = ascending(self._waves[self._waves > _SHARED])
        self.shared = (0, *many.tolist())  # numbers of waves that need their own sum; 0: up to _SHARED waves
        self._length = np.diff(self._cut, append=self._cut[-1:])

    def until(self, shared: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function from times to the cycles that a wave resident from the start is charged before.

        In parts of a cycle for up to _SHARED waves (`shared` 0), else whole cycles that `shared` waves share.
        """
        waves = self._waves
        is_few = (waves > 0) & (waves <= _SHARED)
        rate = (waves == shared) * 1 if shared else np.where(is_few, _PARTS // np.maximum(waves, 1), 0)
        before = np.cumsum(self._length * rate) - self._length * rate

        def charged(time: np.ndarray) -> np.ndarray:
            row = np.maximum(np.searchsorted(self._cut, time, side="right") - 1, 0)
            return before[row] + np.maximum(time - self._cut[row], 0) * rate[row]

        return charged
