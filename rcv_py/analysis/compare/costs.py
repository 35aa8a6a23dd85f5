"""What every instruction of a capture costs, in all and in each group of waves.

```
wave       se0: 0, 1, 2, 3   se0: 4, 5, 6, 7   se1: 8, 9, 10, 11
group      0                 1                 2
engine     0                 0                 1
```

Waves of one workgroup wait for each other, so the group is what varies on its own: the workgroups as
`analysis/waves/workgroups.py` numbers them.  Where there is only one such group every wave counts as one.

Traced are the waves of one compute unit, but `occupancy.json` has the start and the end of every wave of the
traced shader engines: the launch.  So builds with other tiles can be compared although their waves cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.waves.populations import WORKING, populations, wave_choice
from rcv_py.analysis.waves.workgroups import workgroups
from rcv_py.base.runs import borders, ranges
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch

DRAWN = 4_000_000  # lives, over all draws
SIDES = 1.96  # standard deviations that a 95 % interval reaches to either side
# A launch ends with its last wave, and drawing from 16 to 256 lives makes the last vary too little by this.
OF_A_MAXIMUM = 1.6


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch as the trace saw it, on all compute units of the traced shader engines."""

    duration: int  # cycles from the first start of a wave to the last end
    waves: int
    wave_cycles: int  # cycles that these waves lived, summed
    engines: tuple[int, ...]  # shader engines that had a wave
    is_cut: bool  # a wave was there before the trace began, or its end was not seen
    begin: np.ndarray = field(compare=False, repr=False)  # int64 [waves], cycles since the first start
    life: np.ndarray = field(compare=False, repr=False)  # int64 [waves], cycles

    @property
    def per_wave(self) -> float:
        """Mean life of a wave, cycles."""
        return self.wave_cycles / self.waves

    @property
    def waves_per_engine(self) -> float:
        """Waves on one of the shader engines that the trace saw: captures may have traced other numbers."""
        return self.waves / max(1, len(self.engines))


def launch_of(trace: Trace) -> Launch | None:
    """Return the launch of the capture's kernel; None if no file says when waves began and ended.

    Where several kernels ran, only waves of those with the name of the capture's kernel count.
    """
    lives = residencies(trace.occupancy)
    own = _own(trace, lives)
    if not len(own):
        return None
    begin, end = lives.begin[own], lives.end[own]
    duration, life = int(end.max() - begin.min()), end - begin
    if duration <= 0:
        return None
    return Launch(
        duration=duration,
        waves=len(own),
        wave_cycles=int(life.sum()),
        engines=tuple(np.unique(lives.se[own]).tolist()),
        is_cut=bool((lives.is_open_start[own] | lives.is_open_end[own]).any()),
        begin=begin - begin.min(),
        life=life,
    )


def chance(launch: Launch, rng: np.random.Generator) -> float:
    """Return by which share of its duration a launch could differ by chance alone: a 95 % interval.

    Waves start when they did and live as long as another wave of the launch, drawn with replacement.  Lives
    that differ because their work does, not by chance, make that more than it is, never less.
    """
    # However lives are drawn, one of these is the last: all others end before some wave can at the earliest.
    may_be_last = launch.begin + launch.life.max() >= (launch.begin + launch.life.min()).max()
    begin = launch.begin[may_be_last]
    draws = int(np.clip(DRAWN // len(begin), 32, 400))
    ends = [int((begin + launch.life[rng.integers(0, launch.waves, len(begin))]).max()) for _ in range(draws)]
    return SIDES * OF_A_MAXIMUM * float(np.std(ends)) / launch.duration


def _own(trace: Trace, lives: Residencies) -> np.ndarray:
    """Rows of the residencies that are waves of the capture's kernel; all of them if no name fits."""
    same = [kernel for kernel in trace.code.kernels if kernel.demangled == trace.kernel_name]
    said = {name for kernel in same for name in (kernel.name, kernel.demangled)}
    ids = [number for number, name in trace.occupancy.names.items() if name and name in said]
    own = np.flatnonzero(np.isin(lives.kernel, ids))
    return own if len(own) else np.arange(len(lives))


MEASURES = ("cost", "latency", "stall")  # cost: latency plus the idle before it
MAX_GROUPS = 128  # more are joined, within their engine, so that memory stays small


@dataclass(frozen=True, eq=False)
class CaptureCosts:
    """Sums over the loaded waves of one capture; `n` are the code rows, `g` the groups of waves."""

    name: str
    kernel: str  # with most traced cycles, "" if unknown
    isa: str  # generation, e.g. "gfx9"
    step: int  # cycles, the smallest step of time
    code: CodeTable
    sources: tuple[SourceFile, ...]
    engine: np.ndarray  # int16 [g], shader engine of each group
    waves: np.ndarray  # int64 [g], how many waves are in each group
    hits: np.ndarray  # float64 [g, n], executions
    latency: np.ndarray  # float64 [g, n], cycles
    stall: np.ndarray  # float64 [g, n], cycles
    idle: np.ndarray  # float64 [g, n], cycles
    workgroups: int  # before they were joined
    is_by_wave: bool  # every wave is a group: one workgroup is all there is
    missing: int = 0  # waves that could not be read
    places: np.ndarray | None = None  # int64 [waves or workgroups, 3], sorted: engine, unit, number of each
    launch: Launch | None = None  # None if the capture does not say when waves began and ended
    selection: str = ""  # which waves these are, "" if they are all that were read

    @property
    def wave_count(self) -> int:
        """Number of loaded waves."""
        return int(self.waves.sum())

    def column(self, name: str) -> np.ndarray:
        """The table of a measure, float64 [g, n]."""
        return self.latency + self.idle if name == "cost" else getattr(self, name)

    def sums(self, name: str) -> np.ndarray:
        """The sum of a measure over all waves, int64 [n]."""
        return np.rint(self.column(name).sum(axis=0)).astype(np.int64)


def capture_costs(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> CaptureCosts:
    """Return the costs of the waves whose index row is in `rows` (None: all), each wave once.

    Tokens without a line count nowhere.
    """
    n, read = len(trace.code), tuple(batches)
    parts = list(token_columns(read, rows))
    waves = [wave for part in parts for wave in part.waves]
    group, engine, places, is_by_wave = _groups(waves, workgroups(trace, read).number)
    tables = np.zeros((4, len(engine) * n))
    first = borders([len(part.waves) for part in parts]).tolist()
    for part, (begin, end) in zip(parts, pairwise(first), strict=True):
        _add(tables, part, group[begin:end], n)
    hits, latency, stall, idle = tables.reshape(4, len(engine), n)
    unread = {row for batch in read for row, _ in batch.missing}
    return CaptureCosts(
        name=trace.name,
        kernel=trace.kernel_name,
        isa=trace.isa,
        step=trace.base_clock,
        code=trace.code,
        sources=trace.sources,
        engine=engine,
        waves=np.bincount(group, minlength=len(engine)),
        hits=hits,
        latency=latency,
        stall=stall,
        idle=idle,
        workgroups=len(np.unique(places, axis=0)),
        is_by_wave=is_by_wave,
        missing=len(unread - {wave.row for batch in read for wave in batch.waves}),
        places=places,
        launch=launch_of(trace),
    )


def explained_costs(trace: Trace, batches: Iterable[WaveBatch], waves: str = WORKING) -> CaptureCosts:
    """Return the costs of the waves that a name stands for: `working`, `all`, or a population.

    Raise UsageError for another name.
    """
    read = tuple(batches)
    choice = wave_choice(populations(trace, read), waves)
    costs = capture_costs(trace, read, choice.rows)
    return costs if choice.rows is None else replace(costs, selection=choice.text)


def _add(tables: np.ndarray, part: TokenColumns, group: np.ndarray, n: int) -> None:
    """Add the tokens of some waves to the tables of hits, latency, stall and idle."""
    known = np.flatnonzero((part.line >= 0) & (part.line < n))
    of = np.repeat(group, np.diff(part.first))[known]
    cell = of * n + part.line[known]
    low = int(cell.min(initial=0))
    for table, values in zip(tables, (None, part.duration, part.stall, part.idle), strict=True):
        sums = np.bincount(cell - low, weights=None if values is None else values[known])
        table[low : low + len(sums)] += sums


def _groups(waves: list[Wave], number: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Return the group of each wave, the engine of each group, where groups ran, and whether by wave.

    `number` is the workgroup of each row of the wave index.
    """
    places = np.array([(wave.id.se, wave.cu, number[wave.row]) for wave in waves], dtype=np.int64)
    key, group = np.unique(places.reshape(-1, 3), axis=0, return_inverse=True)
    group = group.reshape(-1)
    is_by_wave = len(key) == 1
    if is_by_wave:
        key, group = np.repeat(key, len(waves), axis=0), np.arange(len(waves))
    _, first, of = np.unique(_joined(key[:, 0]), return_index=True, return_inverse=True)
    return of.reshape(-1)[group], key[first, 0].astype(np.int16), key, is_by_wave


def _joined(engine: np.ndarray) -> np.ndarray:
    """Return a number for each group, equal for those that are joined; groups of an engine are dealt out."""
    engines, of = np.unique(engine, return_inverse=True)
    room, order = max(1, MAX_GROUPS // max(1, len(engines))), np.argsort(of, kind="stable")
    turn = np.empty(len(of), dtype=np.int64)
    turn[order] = ranges(0, np.bincount(of))
    return of * room + turn % room
