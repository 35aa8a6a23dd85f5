"""Costs of every instruction of a capture, in total and in each group of waves.

```
wave       se0: 0, 1, 2, 3   se0: 4, 5, 6, 7   se1: 8, 9, 10, 11
group      0                 1                 2
engine     0                 0                 1
```

Waves of a workgroup wait for each other, so the independent unit of variation is the workgroup, numbered as
in `analysis/waves/workgroups.py`.  If there is only one workgroup, every wave is a group.

Only waves of one compute unit are traced, but `occupancy.json` has start and end of every wave of the traced
shader engines: the launch.  So builds with other tiles can be compared although their waves cannot.
"""

from functools import partial

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Answers, Reduction, Rows, Staged, added, by_field, stacked
from rcv_py.analysis.core.saturated import Sums, summed
from rcv_py.analysis.device.wave_states import STRIP, StateStrip
from rcv_py.analysis.health.traced_units import doubt, of_kernel
from rcv_py.analysis.waves.populations import POPULATIONS, WORKING, wave_choice
from rcv_py.analysis.waves.workgroups import WORKGROUPS, Workgroups
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ranges
from rcv_py.base.text import Message
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.device import is_rate
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

DRAWN = 4_000_000  # lives, over all draws
SIDES = 1.96  # standard deviations that a 95 % interval reaches to either side
# A launch ends with its last wave; with 16 to 256 drawn lives the last varies too little by this factor.
OF_A_MAXIMUM = 1.6


class TracedLaunch(Record):
    """The launch as recorded, on all compute units of the traced shader engines."""

    duration: int  # cycles from the first start of a wave to the last end
    waves: int
    wave_cycles: int  # cycles that these waves lived, summed
    engines: tuple[int, ...]  # shader engines that had a wave
    doubt: str  # why it took at least `duration`, "" if it took as long
    begin: np.ndarray  # int64 [waves], cycles since the first start
    life: np.ndarray  # int64 [waves], cycles

    @property
    def per_wave(self) -> float:
        """Mean life of a wave, cycles."""
        return self.wave_cycles / self.waves

    @property
    def waves_per_engine(self) -> float:
        """Waves per traced shader engine: captures may have traced different numbers of engines."""
        return self.waves / max(1, len(self.engines))


def launch_of(trace: Trace) -> TracedLaunch | None:
    """Return the launch of the capture's kernel; None if no file has begins and ends of waves.

    If several kernels ran, only waves of kernels with the name of the capture's kernel count.
    """
    lives = residencies(trace.occupancy)
    lives = lives.at(of_kernel(trace, lives))
    if not len(lives):
        return None
    begin, end = lives.begin, lives.end
    duration, life = int(end.max() - begin.min()), end - begin
    if duration <= 0:
        return None
    return TracedLaunch(
        duration=duration,
        waves=len(lives),
        wave_cycles=int(life.sum()),
        engines=tuple(np.unique(lives.se).tolist()),
        doubt=doubt(trace, lives),
        begin=begin - begin.min(),
        life=life,
    )


def table_ns(launch: TracedLaunch | None, facts: RunFacts) -> int:
    """Return how long the tables of the run say that the launch took, in nanoseconds; -1 if they do not.

    A duration in which no clock counts the cycles of the launch is of another launch, or damaged.
    """
    ns = -1 if facts.kernel is None else facts.kernel.ns
    is_sure = launch is None or launch.doubt or ns <= 0 or is_rate(launch.duration * 1e9 / ns)
    return ns if is_sure else -1


def table_doubt(launch: TracedLaunch | None, facts: RunFacts) -> str:
    """Return why the duration in the tables of the run is not used, as a sentence; "" if it may be used."""
    if (kernel := facts.kernel) is None:
        return ""
    if kernel.ends_early:
        text = "{0} has the launch end no later than it begins: its duration is not used."
        return Message(text, kernel.file)
    text = "{0} gives the launch a duration that its cycles do not have at any clock: it is not used."
    return Message(text, kernel.file) if kernel.ns > 0 > table_ns(launch, facts) else ""


def chance(launch: TracedLaunch, rng: np.random.Generator) -> float:
    """Return the share of its duration by which a launch may differ by chance: a 95 % interval.

    Waves keep their start and get the lifetime of another wave of the launch, drawn with replacement.  If
    lifetimes differ because of different work, the result is too large, never too small.
    """
    # In any draw one of these waves ends last: the others end earlier even with the longest life.
    may_be_last = launch.begin + launch.life.max() >= (launch.begin + launch.life.min()).max()
    begin = launch.begin[may_be_last]
    draws = int(np.clip(DRAWN // len(begin), 32, 400))
    ends = [int((begin + launch.life[rng.integers(0, launch.waves, len(begin))]).max()) for _ in range(draws)]
    return SIDES * OF_A_MAXIMUM * float(np.std(ends)) / launch.duration


MEASURES = ("cost", "latency", "stall")  # cost: latency plus the idle before it
MAX_GROUPS = 128  # more groups are merged, within their engine, to save memory


class CaptureCosts(Value):
    """Sums over the loaded waves of one capture; `n` are the code rows, `g` the groups of waves."""

    name: str
    kernel: str  # with most traced cycles, "" if unknown
    architecture: Architecture
    step: int  # cycles, the smallest step of time
    code: CodeTable
    sources: tuple[SourceFile, ...]
    engine: np.ndarray  # int16 [g], shader engine of each group
    waves: np.ndarray  # int64 [g], number of waves in each group
    hits: np.ndarray  # float64 [g, n], executions
    latency: np.ndarray  # float64 [g, n], cycles
    stall: np.ndarray  # float64 [g, n], cycles
    idle: np.ndarray  # float64 [g, n], cycles
    workgroups: int  # before merging
    is_by_wave: bool  # every wave is a group, because there is only one workgroup
    missing: int = 0  # waves that could not be read
    places: np.ndarray | None = None  # int64 [waves or workgroups, 3], sorted: engine, unit, number of each
    launch: TracedLaunch | None = None  # None if the capture has no begins and ends of waves
    selection: str = ""  # which waves these are, "" if all that were read

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


def explained_costs_from(found: Answers, waves: str = WORKING) -> CaptureCosts:
    """Return the costs of a named selection of waves, `working`, `all` or a population, in two passes.

    Raise UsageError for another name.
    """
    found.ask((POPULATIONS, WORKGROUPS))
    choice = wave_choice(found.of(POPULATIONS), waves)
    costs = costs_from(found, choice.rows)
    return costs if choice.rows is None else replace(costs, selection=choice.text)


def sums_from(found: Answers) -> tuple[CaptureCosts, StateStrip]:
    """Return the costs of the working waves, and all waves by state over time, in two passes."""
    found.ask((STRIP, POPULATIONS, WORKGROUPS))
    return explained_costs_from(found), found.of(STRIP)


def costs_from(found: Answers, rows: Rows = None) -> CaptureCosts:
    """Return the costs of the waves at some rows of the index, in memory or in files."""
    return replace(found.of(costs_of(rows), rows), missing=len(found.missing))


class _Costs(Value):
    cells: Sums  # group * code rows + code row; executions, latency, stall, idle
    row: np.ndarray  # int64, waves that count, by their row of the wave index
    place: np.ndarray  # int64 [waves, 3]: engine, unit and workgroup of each


def costs_of(rows: Rows) -> Staged[Workgroups, _Costs, CaptureCosts]:
    """Return the analysis of the costs of the waves at some rows (None: all), given their workgroups.

    A request for it must name the same rows.
    """
    return Staged(WORKGROUPS, partial(_costs_by, rows))


def _costs_by(rows: Rows, known: Workgroups) -> Reduction[_Costs, CaptureCosts]:
    number = known.number.astype(np.int64)
    counted = np.flatnonzero(number >= 0)
    if rows is not None:
        counted = counted[np.isin(counted, sorted(rows))]
    key, at = np.unique(number[counted], return_index=True)
    is_by_wave = len(key) == 1
    first = counted if is_by_wave else counted[at]
    groups = _Groups(number, counted if is_by_wave else key, first, is_by_wave)
    return Reduction(partial(_map, groups), _MERGE, partial(_finish, groups))


class _Groups(Value):
    """The group of each wave; every wave is a group if all belong to one workgroup."""

    number: np.ndarray  # int64 [waves of the trace], workgroup of each row of the wave index; -1: not read
    key: np.ndarray  # int64, ascending: numbers of workgroups, or rows of the wave index
    first: np.ndarray  # int64, a wave of each, by its row of the wave index
    is_by_wave: bool

    def place(self, row: np.ndarray) -> np.ndarray:
        """Return the index into `key` of each wave, int64."""
        return np.searchsorted(self.key, row if self.is_by_wave else self.number[row])

    def joined(self, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
        """Return the first key of each group, and the group of each key, int64."""
        together = _joined(trace.waves.se[self.first].astype(np.int64))
        _, first, group = np.unique(together, return_index=True, return_inverse=True)
        return first, group.reshape(-1)


def _map(groups: _Groups, trace: Trace, parcel: Parcel) -> _Costs:
    tokens, n = parcel.own, max(1, len(trace.code))
    row = tokens.rows
    place = np.column_stack([tokens.engines, tokens.cus, groups.number[row]])
    known = np.flatnonzero((tokens.line >= 0) & (tokens.line < len(trace.code)))
    group = groups.joined(trace)[1][groups.place(row)]
    key = group[tokens.owner[known]] * n + tokens.line[known]
    columns = (tokens.duration[known], tokens.stall[known], tokens.idle[known])
    return _Costs(summed(key, np.ones_like(key), *columns), row, place)


_MERGE = by_field(_Costs, cells=added(4), row=stacked(), place=stacked(3))


def _finish(groups: _Groups, trace: Trace, part: _Costs) -> CaptureCosts:
    n, at = max(1, len(trace.code)), groups.place(part.row)
    first, group = groups.joined(trace)
    places = np.zeros((len(groups.key), 3), dtype=np.int64)
    places[at] = part.place
    key, *columns = part.cells
    tables = np.zeros((4, len(first) * n))
    tables[:, key] = columns
    hits, latency, stall, idle = tables.reshape(4, len(first), n)[:, :, : len(trace.code)]
    return CaptureCosts(
        **{name: getattr(trace, name) for name in ("name", "architecture", "code", "sources")},
        kernel=trace.kernel_name,
        step=trace.architecture.base_clock,
        engine=places[first, 0].astype(np.int16),
        waves=np.bincount(group[at], minlength=len(first)),
        hits=hits,
        latency=latency,
        stall=stall,
        idle=idle,
        workgroups=len(np.unique(places, axis=0)),
        is_by_wave=groups.is_by_wave,
        places=places,
        launch=launch_of(trace),
    )


def _joined(engine: np.ndarray) -> np.ndarray:
    """Return a number for each group, equal if merged; groups of an engine are merged round-robin."""
    engines, of = np.unique(engine, return_inverse=True)
    room, order = max(1, MAX_GROUPS // max(1, len(engines))), np.argsort(of, kind="stable")
    turn = np.empty(len(of), dtype=np.int64)
    turn[order] = ranges(0, np.bincount(of))
    return of * room + turn % room
