"""Bubbles: cycles in which a SIMD holds waves and nothing happens, charged to the instructions that wait.

```
wave 0        ████░░░░░░██      █ issues   ░ stalls or has nothing to do
wave 1        ░░░░░░██░░░░
matrix unit   mmmmm·······
SIMD          ████·b██bb██      b: a bubble, half of each charged to the instruction of either wave
```
A stall that another wave covers costs nothing here, which plain sums of stall do not tell, and neither does
one under which the matrix unit works (`simd_work`: what counts as work).  Every other cycle with a wave is
split equally among the waves that are there: each charges its share to the instruction it stalls in, to the
one before which it is idle, or, behind its last token, as drain to that last one.  Only waves that were
recorded count.

A wave under s_endpgm waits for its last operations: behind its issue that is drain as well.  The reference
counts it as issue, which hides most bubbles of kernels that end with stores, and counts cycles in which only
the matrix unit works as bubbles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.device.simd_work import lives, simd_work, without_rows
from rcv_py.analysis.program.program_ends import ends_of, under_end
from rcv_py.base.runs import ends_run, starts_run
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

WAYS = ("idle", "stall", "drain")
_MAX_PARTS = 1 << 24  # up to here a cycle is counted in whole parts that every number of waves divides


@dataclass(frozen=True, eq=False)
class Bubbles:
    """One row an instruction that is charged anything, most first; cycles summed over SIMDs."""

    line: np.ndarray  # int32, code row; -1: tokens without a code line
    idle: np.ndarray  # float64, cycles before it
    stall: np.ndarray  # float64, cycles in it
    drain: np.ndarray  # float64, cycles behind it, as the last of its wave
    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    issuing: int  # cycles in which a SIMD issued; a few may lie behind the recorded end of a wave
    no_issue: int  # cycles in which a SIMD held waves and issued nothing
    matrix: int  # cycles in which a SIMD held waves and its matrix unit worked; 0 by the reference's rule
    bubble: int  # cycles in which a SIMD held waves and nothing happened (the reference: and none issued)
    place: np.ndarray  # int32 [SIMDs], shader engine * 256 + SIMD
    of_simd: Mapping[str, np.ndarray]  # int64 [SIMDs], the same cycles of each SIMD, by those five names
    waves: int  # how many were looked at
    assumption: str = ""  # what is taken for granted about matrix instructions

    def __len__(self) -> int:
        return len(self.line)

    @property
    def total(self) -> np.ndarray:
        """Charged cycles of each line, float64."""
        return self.idle + self.stall + self.drain

    @property
    def busy_share(self) -> float:
        """Issuing part of the resident cycles, 0 if there are none."""
        return self.issuing / self.resident if self.resident else 0.0


def bubbles(
    trace: Trace,
    batches: Iterable[WaveBatch],
    rows: Collection[int] | None = None,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> Bubbles:
    """Return the bubbles of the waves whose index row is in `rows` (None: all), each wave once.

    Waves that are left out still issue and keep units busy; bubbles are split among those that count.
    """
    batches = tuple(batches)
    work = simd_work(trace, batches, rows, rule)
    chosen = without_rows([one for one in token_columns(batches, rows) if len(one.waves)], work.left_out)
    axis = work.axis
    ends = ends_of(trace.code) if rule is ReferenceRule.OURS else np.zeros(0, dtype=bool)
    sweep = _Sweep(*lives([wave for tokens in chosen for wave in tokens.waves], axis), work.work)
    charged = np.zeros((len(WAYS), len(trace.code) + 1), dtype=np.int64 if sweep.is_exact else np.float64)
    for tokens in chosen:
        rest = under_end(tokens, ends)
        for way, (line, begin, end) in enumerate(_waiting(tokens, axis.shift(tokens.waves), rest)):
            row = np.where((line >= 0) & (line < len(trace.code)), line, len(trace.code))
            np.add.at(charged[way], row, sweep.until(end) - sweep.until(begin))
    cycles = charged / sweep.parts
    whole = cycles.sum(axis=0)
    line = np.flatnonzero(whole)
    line = line[np.lexsort((line, -whole[line]))]
    idle, stall, drain = cycles[:, line]
    line = np.where(line == len(trace.code), -1, line).astype(np.int32)
    covered = {
        "resident": work.resident,
        "issuing": work.issue,
        "no_issue": work.no_issue,
        "matrix": work.resident_matrix,
        "bubble": work.nothing,
    }
    return Bubbles(
        line=line,
        idle=idle,
        stall=stall,
        drain=drain,
        resident=work.resident.total,
        issuing=work.issue.total,
        no_issue=work.no_issue.total,
        matrix=work.resident_matrix.total,
        bubble=work.nothing.total,
        place=axis.place.astype(np.int32),
        of_simd={name: axis.by_simd(cycles) for name, cycles in covered.items()},
        waves=work.waves,
        assumption=work.assumption,
    )


def _waiting(
    tokens: TokenColumns, shift: np.ndarray, rest: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (line, begin, end) of what waves wait for, in the order of WAYS: parts of their lives.

    What a token does while an earlier one of its wave is not done is the earlier one's, so that nothing is
    charged twice where tokens overlap.
    """
    owner, last_token = tokens.owner, np.flatnonzero(tokens.is_last)
    low, high = np.array([(wave.begin, wave.end) for wave in tokens.waves], dtype=np.int64).T + shift
    high = np.maximum(low, high)
    start, idle, stall = tokens.start + shift[owner], tokens.idle, tokens.stall
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
    """The latest end of the tokens of the same wave before each of these rows."""
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
    """The axis cut wherever a SIMD begins or ends to work, or a wave comes or goes."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, busy: IntervalSet) -> None:
        time = np.concatenate([begin, end])
        order = np.argsort(time, kind="stable")
        change, time = np.repeat([1, -1], len(begin))[order], time[order]
        last = ends_run(time)
        time, waves = time[last], np.append(0, np.cumsum(change)[last])  # none before the first
        # Three sorted runs: a stable sort merges them, which is much faster than `np.unique`.
        cut = np.sort(np.concatenate([time, busy.begin, busy.end]), kind="stable")
        self._cut = cut[starts_run(cut)]
        waves = waves[np.searchsorted(time, self._cut, side="right")]
        covered = np.searchsorted(busy.begin, self._cut, side="right") - 1
        is_busy = (covered >= 0) & (self._cut < busy.end[covered]) if len(busy.begin) else waves < 0
        waves = np.where(is_busy, 0, waves)
        parts = int(np.lcm.reduce(np.unique(waves[waves > 0]), initial=1)) if waves.max(initial=0) < 24 else 0
        self.is_exact = 0 < parts <= _MAX_PARTS
        self.parts = parts if self.is_exact else 1
        self._rate = np.where(waves > 0, self.parts / np.maximum(waves, 1), 0)
        if self.is_exact:
            self._rate = self._rate.round().astype(np.int64)
        length = np.diff(self._cut, append=self._cut[-1:])
        self._before = np.cumsum(length * self._rate) - length * self._rate

    def until(self, time: np.ndarray) -> np.ndarray:
        """What one wave that is there all the time is charged before each time, in parts of a cycle."""
        row = np.maximum(np.searchsorted(self._cut, time, side="right") - 1, 0)
        return self._before[row] + (time - self._cut[row]) * self._rate[row]
