"""Streamed hardware counters: what was sampled where, and how often.

A thread trace of gfx9 carries samples of up to eight SQ counters of each compute unit: rows of two banks of
four. Any generation may come with streamed performance monitors (SPM) of whole shader engines, sampled less
often. A sample tells what was counted since the one before, so it belongs to the interval *before* its
timestamp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.base.text import plural
from rcv_py.model.columns import of_rows
from rcv_py.model.device import CounterSamples, SpmSeries
from rcv_py.model.trace import Trace

_MARGIN = 4.0  # lengths of the trace that samples may lie outside of it: they start early and end late


class SpmClock(Enum):
    """How the times of performance monitors were placed."""

    NONE = 0  # there are none
    SHADER = 1
    REALTIME = 2
    UNKNOWN = 3

    @property
    def sentence(self) -> str:
        """What a reader should know of it; "" if all is well."""
        return _SENTENCES.get(self, "")


_SENTENCES = {
    SpmClock.REALTIME: "Performance monitors were sampled on the constant clock; "
    "their times were converted to cycles.",
    SpmClock.UNKNOWN: "The clock of the performance monitors is unknown: their first sample is drawn "
    "where the trace begins; do not compare their times with those of instructions.",
}


def spm_clock(trace: Trace) -> tuple[SpmClock, Callable[[SpmSeries], np.ndarray]]:
    """Return which clock it is, and a function that gives the aligned times of a series, int64 cycles.

    Shader cycles get the same offset as everything else of the engine; ticks are converted with the engine's
    two clock samples (the first engine's for a counter of a whole die).
    """
    series = [one for one in trace.spm if len(one.time)]
    if not series:
        return SpmClock.NONE, lambda one: one.time
    offsets, samples = trace.clock.offsets, trace.clock.samples
    ways: tuple[tuple[SpmClock, Callable[[SpmSeries], np.ndarray]], ...] = (
        (SpmClock.SHADER, lambda one: one.time + (0 if one.is_xcc else offsets.get(one.se, 0))),
        (SpmClock.REALTIME, lambda one: _cycles(trace, one)),
    )
    usable = ways if samples and trace.clock.ticks_per_cycle > 0 else ways[:1]
    for clock, place in usable:
        if all(_is_beside(trace, place(one)) for one in series):
            return clock, place
    first = min(int(one.time.min()) for one in series)
    return SpmClock.UNKNOWN, lambda one: one.time - first + trace.span.begin


def _is_beside(trace: Trace, time: np.ndarray) -> bool:
    """Whether samples lie about where the trace does."""
    if not trace.has_times:
        return True
    room = max(_MARGIN * trace.span.width, 1e6)
    return trace.span.begin - room <= float(time.min()) and float(time.max()) <= trace.span.end + room


def _cycles(trace: Trace, one: SpmSeries) -> np.ndarray:
    clock = trace.clock
    se = one.se if one.se in clock.samples and not one.is_xcc else min(clock.samples)
    ticks = one.time - clock.samples[se].realtime[0]
    cycles = np.rint(ticks / clock.ticks_per_cycle).astype(np.int64)
    return cycles + clock.samples[se].shader[0] + clock.offsets.get(se, 0)


LANES = 4  # counters of a bank
ALL_SIMDS = 15
MAX_BANKS = 16
MAX_XCCS, MAX_ENGINES, MAX_UNITS = 16, 128, 512  # places beyond that are damage: tensors have them all
SLOWEST = 4096  # cycles: the interval if nothing tells another
_LATE = 1.5  # intervals: what comes later than that after the sample before had nothing between
_MASK = re.compile(r"(.+?):(?:0[xX])?([0-9a-fA-F]{1,8})")


class Family(Enum):
    """How a counter was recorded."""

    SQ = "thread trace"
    SPM = "performance monitors"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of one counter, sorted by time."""

    time: np.ndarray  # int64, cycles, aligned
    xcc: np.ndarray  # int32, die; 0 unless the counter is one of a whole die
    se: np.ndarray  # int32
    cu: np.ndarray  # int32, compute unit; the instance for SPM
    value: np.ndarray  # float64

    def __len__(self) -> int:
        return len(self.time)

    def at(self, chosen: np.ndarray) -> Samples:
        """Return some of the samples, by a mask or by rows."""
        return of_rows(self, chosen)

    def of(self, engines: Collection[int] | None, units: Collection[int] | None) -> Samples:
        """Return the samples of some shader engines and compute units; None is all of them."""
        rows = np.ones(len(self), dtype=bool)
        for column, wanted in ((self.se, engines), (self.cu, units)):
            if wanted is not None:
                rows &= np.isin(column, list(wanted))
        return self if rows.all() else self.at(rows)

    def place(self) -> np.ndarray:
        """Return a number of the place of each sample: equal where XCC, SE and CU are, int64."""
        return (self.xcc.astype(np.int64) << 40) | (self.se.astype(np.int64) << 20) | self.cu


@dataclass(frozen=True, slots=True, eq=False)
class RawCounter:
    """One counter of the hardware at all its places."""

    name: str  # `BUSY_CU_CYCLES`, `LDS_BANK_CONFLICT:1`; without `SQ_` if it is one of the thread trace
    family: Family
    simds: int  # bit mask of the SIMDs that are counted
    samples: Samples
    interval: int  # cycles between two samples

    @property
    def is_level(self) -> bool:
        """Whether a sample tells how many operations were under way, not how many events there were."""
        return "_LEVEL" in self.name

    @property
    def unit(self) -> str:
        """What a value is."""
        return "under way" if self.is_level else f"per {self.interval:,} cycles"

    @property
    def plain(self) -> str:
        """The name without its SIMD mask."""
        match = _MASK.fullmatch(self.name)
        return match[1] if match else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Counters:
    """Every raw counter of a capture, and what a reader should know of them."""

    raw: tuple[RawCounter, ...]
    notes: tuple[str, ...] = ()  # sentences
    spm: SpmClock = SpmClock.NONE

    def of(self, family: Family) -> tuple[RawCounter, ...]:
        """Return the counters of one family."""
        return tuple(counter for counter in self.raw if counter.family is family)

    def engines(self) -> list[int]:
        """Return the numbers of the shader engines that have samples, ascending."""
        return _numbers(counter.samples.se for counter in self.raw)

    def units(self) -> list[int]:
        """Return the numbers of the compute units that have samples of the thread trace, ascending."""
        return _numbers(counter.samples.cu for counter in self.of(Family.SQ))


def _numbers(columns: Iterable[np.ndarray]) -> list[int]:
    return sorted({number for column in columns for number in np.unique(column).tolist()})


def counters(trace: Trace) -> Counters:
    """Return the raw counters of a capture, those of the thread trace first.

    Columns without a name are called `UNK_` and their number, unless nothing was ever counted in them.
    """
    notes: list[str] = []
    found = list(_sq(trace, notes))
    clock, place_times = spm_clock(trace)
    found += _spm(trace.spm, place_times)
    if clock.sentence:
        notes.append(clock.sentence)
    kept, lost = [], 0
    for counter in found:
        samples = counter.samples
        rows = (samples.xcc < MAX_XCCS) & (samples.se < MAX_ENGINES) & (samples.cu < MAX_UNITS)
        lost += int(np.count_nonzero(~rows))
        kept += [replace(counter, samples=samples.at(rows))] if rows.any() else []
    _tell_lost(notes, lost)
    return Counters(_distinct(kept), tuple(notes), clock)


def _tell_lost(notes: list[str], lost: int) -> None:
    if lost:
        notes.append(f"{plural(lost, 'sample')} of banks or places that no device has are left out.")


# -- counters of the thread trace -----------------------------------------------------------------------


def _sq(trace: Trace, notes: list[str]) -> Iterator[RawCounter]:
    """One counter a column of a bank, in the order of `counter_names`."""
    tables = [table for table in trace.counters if len(table.time)]
    if not tables:
        return
    columns = _columns(tables)
    _tell_lost(notes, sum(len(table.time) for table in tables) - len(columns.time))
    if not len(columns.time):
        return
    interval = _sampling_interval(columns)
    unnamed = 0
    for slot in range(LANES * (int(columns.bank.max()) + 1)):
        bank, lane = divmod(slot, LANES)
        rows = columns.bank == bank
        name = trace.counter_names[slot] if slot < len(trace.counter_names) else ""
        value = columns.value[rows, lane].astype(np.float64)
        if not rows.any() or not (name or value.any()):
            continue
        unnamed += not name
        samples = Samples(
            columns.time[rows], np.zeros(len(value), np.int32), columns.se[rows], columns.cu[rows], value
        )
        yield RawCounter(*_named(name, slot), samples, interval)
    if unnamed:
        notes.append(f"The capture does not name {plural(unnamed, 'counter')}: shown as UNK and a number.")


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The samples of all shader engines, by time."""

    time: np.ndarray
    se: np.ndarray
    cu: np.ndarray
    bank: np.ndarray
    value: np.ndarray


def _columns(tables: list[CounterSamples]) -> _Columns:
    time = np.concatenate([table.time for table in tables])
    order = np.argsort(time, kind="stable")
    se = np.repeat([table.se for table in tables], [len(table.time) for table in tables])
    cu = np.concatenate([table.cu for table in tables]).astype(np.int32)
    bank = np.concatenate([table.bank for table in tables]).astype(np.int32)
    value = np.concatenate([table.value for table in tables])
    keep = order[(bank[order] >= 0) & (bank[order] < MAX_BANKS) & (cu[order] >= 0)]
    return _Columns(time[keep], se[keep].astype(np.int32), cu[keep], bank[keep], value[keep])


def _named(name: str, slot: int) -> tuple[str, Family, int]:
    plain = name.removeprefix("SQ_") or f"UNK_{slot}"
    match = _MASK.fullmatch(plain)
    return plain, Family.SQ, int(match[2], 16) & ALL_SIMDS if match else ALL_SIMDS


def _distinct(found: list[RawCounter]) -> tuple[RawCounter, ...]:
    """The counters, with a number behind a name that was there before."""
    seen: dict[str, int] = {}
    result = []
    for counter in found:
        seen[counter.name] = times = seen.get(counter.name, 0) + 1
        result.append(counter if times == 1 else replace(counter, name=f"{counter.name}_{times}"))
    return tuple(result)


def _sampling_interval(columns: _Columns) -> int:
    """The most frequent distance in cycles between two samples of one compute unit."""
    order = np.lexsort((columns.time, columns.cu, columns.se, columns.bank))
    keys = [column[order] for column in (columns.bank, columns.se, columns.cu)]
    same = np.all([key[1:] == key[:-1] for key in keys], axis=0)
    return _most_frequent(np.diff(columns.time[order])[same])


def _most_frequent(gap: np.ndarray) -> int:
    distance, times = np.unique(gap[gap > 0], return_counts=True)
    return int(distance[np.argmax(times)]) if len(distance) else SLOWEST


# -- performance monitors -------------------------------------------------------------------------------


def _spm(
    series: tuple[SpmSeries, ...], place_times: Callable[[SpmSeries], np.ndarray]
) -> Iterator[RawCounter]:
    """One counter a name, in the order of the file."""
    if not series:
        return
    # Runs of zero are left out of the file, so a distance may be a multiple of the interval.
    interval = _most_frequent(np.concatenate([np.diff(one.time) for one in series]))
    for name in dict.fromkeys(one.counter for one in series):
        parts = [one for one in series if one.counter == name]
        lengths = [len(one.time) for one in parts]
        time = np.concatenate([place_times(one) for one in parts])
        place = [(one.se, 0) if one.is_xcc else (0, one.se) for one in parts]
        xcc, se = (np.repeat(np.array(column, np.int32), lengths) for column in zip(*place, strict=True))
        cu = np.repeat(np.array([one.instance for one in parts], np.int32), lengths)
        samples = Samples(time, xcc, se, cu, np.concatenate([one.value for one in parts]))
        samples = samples.at(np.argsort(time, kind="stable"))
        yield RawCounter(name, Family.SPM, ALL_SIMDS, samples, interval)


# -- curves ---------------------------------------------------------------------------------------------


def raw_curve(
    counter: RawCounter, engines: Collection[int] | None = None, units: Collection[int] | None = None
) -> StepCurve:
    """Return the sum of a counter over the chosen places as a function of time; at its last time it ends.

    A sample's value holds from the sample before it to its own time; where a place was silent for more than
    one and a half intervals its value is zero.
    """
    samples = counter.samples.of(engines, units)
    order, has_before, before = _neighbours(samples)
    time, value = samples.time[order], samples.value[order]
    is_next = has_before & (time - before <= _LATE * counter.interval)
    begin = np.where(is_next, before, time - counter.interval)
    moments, place = np.unique(np.concatenate([begin, time]), return_inverse=True)
    change = np.bincount(place, weights=np.concatenate([value, -value]), minlength=len(moments))
    return StepCurve(moments, np.cumsum(change))


def silences(counter: RawCounter) -> int:
    """Return how often a place had no sample for more than one and a half intervals between two samples."""
    order, has_before, before = _neighbours(counter.samples)
    gap = counter.samples.time[order] - before
    return int(np.count_nonzero(has_before & (gap > _LATE * counter.interval)))


def _neighbours(samples: Samples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows by place and time; whether a row has one before it at its place; and the time of that one."""
    place = samples.place()
    order = np.lexsort((samples.time, place))
    time, place = samples.time[order], place[order]
    has_before = np.append(False, place[1:] == place[:-1])[: len(time)]
    return order, has_before, np.append(time[:1], time[:-1])
