"""Notes on the launch: whether it filled the machine, had a tail, or ran next to other kernels."""

import numpy as np

from rcv_py.analysis.core.occupancy import residencies, resident
from rcv_py.analysis.device.occupancy_curves import OccupancyNumbers, occupancy_numbers, slots_of_simd
from rcv_py.analysis.health.note import HealthNote, Measured, number, share
from rcv_py.analysis.health.traced_units import main_kernel, unit_key
from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace

NOTABLE = 0.01  # of the wave-cycles while the traced kernel ran


def concurrent_kernels(trace: Trace) -> HealthNote | None:
    """Return a note if waves of other kernels ran at the same time as the traced kernel."""
    lives = residencies(trace.occupancy)
    if not len(lives) or not len(trace.waves):
        return None
    own = lives.kernel == main_kernel(trace, lives)
    if own.all() or not own.any():
        return None
    begin, end = int(lives.begin[own].min()), int(lives.end[own].max())
    beside = np.maximum(0, np.minimum(lives.end, end) - np.maximum(lives.begin, begin))
    theirs, total = int(beside[~own].sum()), int(beside.sum())
    if theirs <= NOTABLE * total:
        return None
    kernels = len(ascending(lives.kernel[~own & (beside > 0)]))
    waves = int(np.count_nonzero(beside[~own]))
    return HealthNote(
        name="sharing",
        title="Other kernels ran at the same time",
        evidence=(
            Measured("their waves", waves, Message("{0} of {1}", count(waves), plural(kernels, "kernel"))),
            Measured("share of the wave-cycles", theirs / total, percent(theirs, total)),
        ),
        consequence="Latency contains the wait for units and memory that others used.",
        remedy="Let the profiler serialize kernels, including kernels that it does not trace.",
        settings={"att_serialize_all": True},
    )


LONG_TAIL = 0.25  # of the time with at most half of the peak resident: a quarter of the machine's time
UNEVEN = 0.25  # coefficient of variation of wave-cycles by compute unit
HALF_FULL = 0.5  # of the slots: below it more waves could have hidden latency


class GridFill(Value):
    """How the waves of the traced kernel filled the compute units on which any of them ran."""

    waves: int
    units: int  # compute units with a wave
    engines: int  # shader engines with a wave
    slots: int  # waves those units can hold at a time, 0 if unknown
    most_of_unit: int  # most waves resident on a compute unit at a time
    numbers: OccupancyNumbers
    least_busy: float  # share of the time with a wave, of the least busy compute unit
    variation: float  # standard deviation over mean of the wave-cycles of compute units


def grid_fill(trace: Trace) -> GridFill | None:
    """Return how full the machine was; None without waves."""
    lives = residencies(trace.occupancy)
    own = np.flatnonzero(lives.kernel == main_kernel(trace, lives))
    if not len(own):
        return None
    chosen = lives.at(own)
    array = np.maximum(chosen.sa.astype(np.int64), 0)
    names, place = np.unique(unit_key(chosen.se, chosen.cu) | array << 16, return_inverse=True)
    curve = resident(chosen, np.full(len(own), -1, dtype=np.int64))[-1]
    curves = resident(chosen, place.reshape(-1).astype(np.int64)).values()
    numbers = occupancy_numbers(curve)
    span = max(1, numbers.end - numbers.begin)
    busy = [int((np.diff(unit.time) * (unit.value[:-1] > 0)).sum()) / span for unit in curves]
    area = np.array([unit.area for unit in curves], dtype=np.float64)
    return GridFill(
        waves=len(own),
        units=len(names),
        engines=len(ascending(chosen.se)),
        slots=slots_of_simd(trace, lives) * trace.architecture.simds * len(names),
        most_of_unit=max(int(unit.value.max()) for unit in curves),
        numbers=numbers,
        least_busy=min(busy),
        variation=float(area.std() / area.mean()) if area.any() else 0.0,
    )


def underfilled(trace: Trace) -> HealthNote | None:
    """Return a note if the whole grid was resident at once and left most slots empty."""
    fill = grid_fill(trace)
    if fill is None or not fill.slots or not fill.waves <= fill.numbers.peak <= HALF_FULL * fill.slots:
        return None
    name, taken = "slots on the compute units they used", percent(fill.numbers.peak, fill.slots)
    engines = plural(fill.engines, "shader engine")
    return HealthNote(
        name="grid",
        severity=Severity.INFO,
        title="The whole grid was resident at once and under-fills the device",
        evidence=(
            number("waves", fill.waves, "{0}, all resident at a time"),
            number(name, fill.slots, "{0}, of which {1} were taken", taken),
            number("compute units with a wave", fill.units, "{0} on {1}", engines),
            number("most waves on one", fill.most_of_unit),
        ),
        consequence="There was no second round of workgroups: fewer waves hide latency, and the slowest "
        "workgroup sets the duration.  Registers or LDS may limit it too; the record does not "
        "show it.",
        remedy="To judge the kernel, not the launch, record a larger problem, or split the work finer.",
    )


def tail(trace: Trace) -> HealthNote | None:
    """Return a note if much of the time passed with few waves."""
    fill = grid_fill(trace)
    if fill is None or fill.numbers.tail < LONG_TAIL or trace.clock.apart:
        return None
    numbers = fill.numbers
    tail = Message("the last {0} of {1} cycles", percent(numbers.tail, 1), count(numbers.end - numbers.begin))
    resident = Message("{0:,.1f} waves on average, {1} at most", numbers.mean, count(numbers.peak))
    evidence = [
        Measured("with at most half of the peak", numbers.tail, tail),
        Measured("resident", numbers.mean, resident),
        share("least busy compute unit", fill.least_busy, " of the time"),
    ]
    if fill.variation >= UNEVEN:
        spread = "{0:.2f} (standard deviation over mean of wave-cycles by compute unit)"
        evidence.append(Measured("unevenness", fill.variation, Message(spread, fill.variation)))
    return HealthNote(
        name="tail",
        severity=Severity.INFO,
        title="Much of the time passed with at most half of the peak resident",
        evidence=tuple(evidence),
        consequence="In the tail the device is nearly empty; shares of the total mix its stall with the "
        "stall of the full device.",
        remedy="Compare a range before the tail with the total; more workgroups of equal work shorten it.",
    )
