"""Did the launch fill the machine, did it end together, and did other kernels run at the same time?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.occupancy import residencies, resident
from rcv_py.analysis.device.occupancy_curves import SIMDS, OccupancyNumbers, occupancy_numbers, slots_of_simd
from rcv_py.analysis.health.note import HealthNote, Measured, number, share
from rcv_py.analysis.health.traced_units import main_kernel, unit_key
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.columns import of_rows
from rcv_py.model.trace import Trace

NOTABLE = 0.01  # of the wave-cycles while the traced kernel ran


def concurrent_kernels(trace: Trace) -> HealthNote | None:
    """Say so if waves of other kernels lived beside those of the traced one."""
    lives = residencies(trace.occupancy)
    if not len(lives) or not len(trace.waves):
        return None
    own = lives.kernel == main_kernel(trace, lives)
    if own.all() or not own.any():
        return None
    begin, end = int(lives.begin[own].min()), int(lives.end[own].max())
    beside = np.maximum(0, np.minimum(lives.end, end) - np.maximum(lives.begin, begin))
    theirs, whole = int(beside[~own].sum()), int(beside.sum())
    if theirs <= NOTABLE * whole:
        return None
    kernels = len(np.unique(lives.kernel[~own & (beside > 0)]))
    waves = int(np.count_nonzero(beside[~own]))
    return HealthNote(
        name="sharing",
        severity=Severity.WARNING,
        title="Other kernels ran at the same time",
        evidence=(
            Measured("their waves", waves, f"{count(waves)} of {plural(kernels, 'kernel')}"),
            Measured("share of the wave-cycles", theirs / whole, percent(theirs, whole)),
        ),
        consequence="Latency contains the wait for units and memory that others used.",
        remedy="Let the profiler run kernels one after the other, also those it does not trace.",
        settings={"att_serialize_all": True},
    )


LONG_TAIL = 0.25  # of the time with at most half of the peak resident: a quarter of the machine's time
UNEVEN = 0.25  # coefficient of variation of wave-cycles by compute unit
HALF_FULL = 0.5  # of the slots: below, another wave could have hidden latency


@dataclass(frozen=True, slots=True)
class GridFill:
    """How the waves of the traced kernel filled the compute units on which any of them ran."""

    waves: int
    units: int  # compute units with a wave
    engines: int  # shader engines with a wave
    slots: int  # waves those units can hold at a time, 0 if unknown
    most_of_unit: int  # most waves resident on a compute unit at a time
    numbers: OccupancyNumbers
    least_busy: float  # share of the time with a wave, of the least busy compute unit
    variation: float  # standard deviation over mean of the wave-cycles of compute units

    @property
    def is_one_round(self) -> bool:
        """Whether all waves were resident at once, so that none had to wait for a place."""
        return self.waves > 0 and self.numbers.peak >= self.waves


def grid_fill(trace: Trace) -> GridFill | None:
    """Return how full the machine was; None without waves."""
    lives = residencies(trace.occupancy)
    own = np.flatnonzero(lives.kernel == main_kernel(trace, lives))
    if not len(own):
        return None
    unit = unit_key(lives.se, np.maximum(lives.sa, 0) * 128 + (lives.cu & 0x7F))[own]
    unit = unit | np.maximum(lives.sa[own].astype(np.int64), 0) << 16
    names, place = np.unique(unit, return_inverse=True)
    chosen = of_rows(lives, own)
    curve = resident(chosen, np.full(len(own), -1, dtype=np.int64))[-1]
    curves = resident(chosen, place.reshape(-1).astype(np.int64))
    numbers = occupancy_numbers(curve)
    span = max(1, numbers.end - numbers.begin)
    busy = [int((np.diff(one.time) * (one.value[:-1] > 0)).sum()) / span for one in curves.values()]
    area = np.array([one.area for one in curves.values()], dtype=np.float64)
    return GridFill(
        len(own),
        len(names),
        len(np.unique(chosen.se)),
        slots_of_simd(trace, lives) * SIMDS * len(names),
        max(int(one.value.max()) for one in curves.values()),
        numbers,
        min(busy),
        float(area.std() / area.mean()) if area.any() else 0.0,
    )


def underfilled(trace: Trace) -> HealthNote | None:
    """Say so if the whole grid was resident at once and left most places empty."""
    found = grid_fill(trace)
    if found is None or not found.is_one_round or not found.slots:
        return None
    if found.numbers.peak > HALF_FULL * found.slots:
        return None
    taken = percent(found.numbers.peak, found.slots)
    return HealthNote(
        name="grid",
        severity=Severity.INFO,
        title="The whole grid was resident at once and under-fills the device",
        evidence=(
            number("waves", found.waves, ", all resident at a time"),
            number("slots on the compute units they used", found.slots, f", of which {taken} were taken"),
            number("compute units with a wave", found.units, f" on {count(found.engines)} shader engines"),
            number("most waves on one", found.most_of_unit),
        ),
        consequence="There was no second round of workgroups: fewer waves hide latency, and duration is that "
        "of the slowest workgroup.  Registers or LDS may limit it too; the record does not show it.",
        remedy="To judge the kernel, not the launch, record a larger problem, or split the work finer.",
    )


def tail(trace: Trace) -> HealthNote | None:
    """Say so if much of the time passed with few waves."""
    found = grid_fill(trace)
    if found is None or found.numbers.tail < LONG_TAIL:
        return None
    numbers = found.numbers
    tail = f"the last {percent(numbers.tail, 1)} of {count(numbers.end - numbers.begin)} cycles"
    resident = f"{numbers.mean:,.1f} waves on average, {count(numbers.peak)} at most"
    evidence = [
        Measured("with at most half of the peak", numbers.tail, tail),
        Measured("resident", numbers.mean, resident),
        share("least busy compute unit", found.least_busy, " of the time"),
    ]
    if found.variation >= UNEVEN:
        spread = "standard deviation over mean of wave-cycles by compute unit"
        evidence.append(Measured("unevenness", found.variation, f"{found.variation:.2f} ({spread})"))
    return HealthNote(
        name="tail",
        severity=Severity.INFO,
        title="Much of the time passed with at most half of the peak resident",
        evidence=tuple(evidence),
        consequence="Stall in the tail is that of a nearly empty machine; shares of the total mix both.",
        remedy="Compare a time range before the tail with the total; more or evener workgroups shorten it.",
    )
