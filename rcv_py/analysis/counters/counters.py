"""Streamed hardware counters: their samples, places and intervals.

A thread trace of gfx9 carries samples of up to eight SQ counters of each compute unit: rows of two banks of
four. Any generation may come with streamed performance monitors (SPM) of whole shader engines, sampled less
often. A sample counts since the previous sample, so it belongs to the interval *before* its timestamp.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.base.record import Value
from rcv_py.base.runs import starts_run
from rcv_py.base.text import Message, plural
from rcv_py.model.columns import ColumnTable
from rcv_py.model.device import SpmSeries
from rcv_py.model.trace import Trace

_MARGIN = 4.0  # trace lengths that samples may lie outside the trace: they start early and end late
_CONVERTED = "Performance monitors were sampled on the constant clock; their times were converted to cycles."
_UNKNOWN = (
    "The clock of the performance monitors is unknown: their first sample is drawn where the "
    "trace begins; do not compare their times with times of instructions."
)


def _spm_times(trace: Trace) -> tuple[Callable[[SpmSeries], np.ndarray], str]:
    """Return a function for the aligned times of a series, int64 cycles, and a sentence about it or "".

    Shader cycles get the same offset as everything else of the engine; ticks are converted with the engine's
    two clock samples (the first engine's for a counter of a whole die).
    """
    clock, series = trace.clock, [one for one in trace.spm if len(one.time)]

    def shader(series: SpmSeries) -> np.ndarray:
        return series.time + (0 if series.is_xcc else clock.offsets.get(series.se, 0))

    def realtime(series: SpmSeries) -> np.ndarray:
        se = series.se if series.se in clock.samples and not series.is_xcc else min(clock.samples)
        ticks = series.time - clock.samples[se].realtime[0]
        cycles = np.rint(ticks / clock.ticks_per_cycle).astype(np.int64)
        return cycles + clock.samples[se].shader[0] + clock.offsets.get(se, 0)

    if all(_is_beside(trace, shader(one)) for one in series):
        return shader, ""
    if (
        clock.samples
        and clock.ticks_per_cycle > 0
        and all(_is_beside(trace, realtime(one)) for one in series)
    ):
        return realtime, _CONVERTED
    first = min(int(one.time.min()) for one in series)
    return lambda one: one.time - first + trace.span.begin, _UNKNOWN


def _is_beside(trace: Trace, time: np.ndarray) -> bool:
    """Whether samples lie near the trace in time."""
    if not trace.has_times:
        return True
    room = max(_MARGIN * trace.span.width, 1e6)
    return trace.span.begin - room <= float(time.min()) and float(time.max()) <= trace.span.end + room


LANES = 4  # counters of a bank
ALL_SIMDS = 15
MAX_BANKS = 16
MAX_XCCS, MAX_ENGINES, MAX_UNITS = 16, 128, 512  # larger numbers are damage; tensors span all places
SLOWEST = 4096  # cycles: the interval if there is no second sample
_LATE = 1.5  # intervals: a longer distance between two samples is a gap without counts
_MASK = re.compile(r"(.+?):(?:0[xX])?([0-9a-fA-F]{1,8})")


class CounterFamily(Enum):
    """How a counter was recorded."""

    SQ = "thread trace"
    SPM = "performance monitors"


class Samples(ColumnTable):
    """Samples of one counter."""

    time: np.ndarray  # int64, cycles, aligned
    xcc: np.ndarray  # int32, die; 0 unless the counter belongs to a whole die
    se: np.ndarray  # int32
    cu: np.ndarray  # int32, compute unit; for SPM the instance, or its number among all arrays and WGPs
    value: np.ndarray  # float64

    def of(self, engines: Collection[int] | None, units: Collection[int] | None) -> Samples:
        """Return the samples of some shader engines and compute units; None is all of them."""
        rows = np.ones(len(self), dtype=bool)
        for column, wanted in ((self.se, engines), (self.cu, units)):
            if wanted is not None:
                rows &= np.isin(column, list(wanted))
        return self if rows.all() else self.at(rows)

    def by_time(self) -> Samples:
        """Return the samples sorted by time."""
        return self.at(np.argsort(self.time, kind="stable"))

    def by_place(self) -> Samples:
        """Return the samples sorted by place, then by time."""
        return self.at(np.lexsort((self.time, self.place())))

    def place(self) -> np.ndarray:
        """Return a key of each sample's place, int64: equal if XCC, SE and CU are equal."""
        return (self.xcc.astype(np.int64) << 40) | (self.se.astype(np.int64) << 20) | self.cu

    def gaps(self) -> np.ndarray:
        """Return the cycles between consecutive samples of a place, int64."""
        ordered = self.by_place()
        return np.diff(ordered.time)[~starts_run(ordered.place())[1:]]


class RawCounter(Value):
    """A hardware counter at all its places."""

    name: str  # `BUSY_CU_CYCLES`, `LDS_BANK_CONFLICT:1`; without `SQ_` if from the thread trace
    family: CounterFamily
    simds: int  # bit mask of the SIMDs that are counted
    samples: Samples
    interval: int  # cycles between two samples

    @property
    def is_level(self) -> bool:
        """Whether a sample is the number of operations in flight, not a number of events."""
        return "_LEVEL" in self.name

    @property
    def unit(self) -> str:
        """The unit of a value."""
        return "in flight" if self.is_level else Message("per {0:,} cycles", self.interval)

    @property
    def plain(self) -> str:
        """The name without its SIMD mask."""
        match = _MASK.fullmatch(self.name)
        return match[1] if match else self.name


class Counters(Value):
    """Every raw counter of a capture, and notes about them."""

    raw: tuple[RawCounter, ...]
    notes: tuple[str, ...] = ()  # sentences

    def of(self, family: CounterFamily) -> tuple[RawCounter, ...]:
        """Return the counters of one family."""
        return tuple(counter for counter in self.raw if counter.family is family)

    def engines(self) -> list[int]:
        """Return the numbers of the shader engines that have samples, ascending."""
        return _numbers(counter.samples.se for counter in self.raw)

    def units(self) -> list[int]:
        """Return the numbers of the compute units that have samples of the thread trace, ascending."""
        return _numbers(counter.samples.cu for counter in self.of(CounterFamily.SQ))


def _numbers(columns: Iterable[np.ndarray]) -> list[int]:
    return sorted({number for column in columns for number in np.unique(column).tolist()})


def counters(trace: Trace) -> Counters:
    """Return the raw counters of a capture, thread trace first.

    Columns without a name are called `UNK_` and their number; they are left out if all zero.
    """
    notes: list[str] = []
    spm_times, note = _spm_times(trace)
    all_counters = [*_sq(trace, notes), *_spm(trace.spm, spm_times)]
    notes += [text for text in (trace.spm_note, note) if text]
    left, lost, seen = [], 0, Counter[str]()
    for counter in all_counters:
        samples = counter.samples
        rows = (samples.xcc < MAX_XCCS) & (samples.se < MAX_ENGINES) & (samples.cu < MAX_UNITS)
        lost += int(np.count_nonzero(~rows))
        if rows.any():  # a repeated name gets a number
            seen[counter.name] += 1
            times = seen[counter.name]
            name = counter.name if times == 1 else f"{counter.name}_{times}"
            left.append(replace(counter, name=name, samples=samples.at(rows)))
    _note_lost(notes, lost)
    return Counters(tuple(left), tuple(notes))


def _note_lost(notes: list[str], lost: int) -> None:
    if lost:
        text = Message("{0} of banks or places that no device has are left out.", plural(lost, "sample"))
        notes.append(text)


def _sq(trace: Trace, notes: list[str]) -> Iterator[RawCounter]:
    """Yield a counter for each column of a bank, in the order of `counter_names`."""
    tables = [table for table in trace.counters if len(table.time)]
    if not tables:
        return
    columns = zip(*((table.time, table.cu, table.bank, table.value) for table in tables), strict=True)
    time, cu, bank, value = (np.concatenate(column) for column in columns)
    se = np.repeat(np.array([table.se for table in tables], np.int32), [len(table.time) for table in tables])
    rows = np.flatnonzero((bank >= 0) & (bank < MAX_BANKS) & (cu >= 0))
    _note_lost(notes, len(time) - len(rows))
    samples = Samples(time, np.zeros_like(se), se, cu.astype(np.int32), value.astype(np.float64))
    samples, bank = samples.at(rows), bank[rows]
    banks = {number: samples.at(bank == number) for number in np.unique(bank).tolist()}
    interval = _most_frequent([samples.gaps() for samples in banks.values()])
    unnamed = 0
    for number, samples in banks.items():
        for lane in range(LANES):
            slot = LANES * number + lane
            name = trace.counter_names[slot] if slot < len(trace.counter_names) else ""
            if name or samples.value[:, lane].any():
                unnamed += not name
                plain = name.removeprefix("SQ_") or f"UNK_{slot}"
                match = _MASK.fullmatch(plain)
                simds = int(match[2], 16) & ALL_SIMDS if match else ALL_SIMDS
                own = replace(samples, value=samples.value[:, lane])
                yield RawCounter(plain, CounterFamily.SQ, simds, own.by_time(), interval)
    if unnamed:
        text = "The capture does not name {0}: shown as UNK and a number."
        notes.append(Message(text, plural(unnamed, "counter")))


def _most_frequent(gaps: Sequence[np.ndarray]) -> int:
    gap = np.concatenate([np.zeros(0, np.int64), *gaps])
    distance, times = np.unique(gap[gap > 0], return_counts=True)
    return int(distance[np.argmax(times)]) if len(distance) else SLOWEST


def _spm(series: Sequence[SpmSeries], times: Callable[[SpmSeries], np.ndarray]) -> Iterator[RawCounter]:
    """Yield a counter for each name, in the order of the file."""
    # Runs of zero are left out of the file, so a distance may be a multiple of the interval.
    interval = _most_frequent([np.diff(one.time) for one in series])
    places = sorted({(one.array, one.wgp, one.instance) for one in series})
    is_plain = all(place[:2] == (-1, -1) for place in places)
    unit = {place: place[2] if is_plain else number for number, place in enumerate(places)}
    for name in dict.fromkeys(one.counter for one in series):
        parts = [one for one in series if one.counter == name]
        units = ((one, unit[one.array, one.wgp, one.instance]) for one in parts)
        place = [(one.se, 0, at) if one.is_xcc else (0, one.se, at) for one, at in units]
        xcc, se, cu = np.repeat(np.array(place, np.int32), [len(one.time) for one in parts], axis=0).T
        time, value = ([times(one) for one in parts], [one.value for one in parts])
        samples = Samples(np.concatenate(time), xcc, se, cu, np.concatenate(value))
        yield RawCounter(name, CounterFamily.SPM, ALL_SIMDS, samples.by_time(), interval)


def raw_curve(
    counter: RawCounter, engines: Collection[int] | None = None, units: Collection[int] | None = None
) -> StepCurve:
    """Return the sum of a counter over the chosen places as a function of time, up to its last time.

    A sample's value holds from the previous sample to its own time; where a place had no sample for more than
    one and a half intervals, its value is zero.
    """
    samples = counter.samples.of(engines, units).by_place()
    gap = np.diff(samples.time, prepend=0)
    is_next = ~starts_run(samples.place()) & (gap <= _LATE * counter.interval)
    begin = samples.time - np.where(is_next, gap, counter.interval)
    moments, place = np.unique(np.concatenate([begin, samples.time]), return_inverse=True)
    change = np.bincount(place, np.concatenate([samples.value, -samples.value]), len(moments))
    return StepCurve(moments, np.cumsum(change))


def silences(counter: RawCounter) -> int:
    """Return the number of gaps of over one and a half intervals between consecutive samples of a place."""
    return int(np.count_nonzero(counter.samples.gaps() > _LATE * counter.interval))
