"""Resident waves by place and by kernel, statistics of such step functions, and a table of compute units."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies, resident
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counter_shares import CounterShares
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.model.device import Dispatch, WaveEvents
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex

FULL = 0.9  # of the peak: from here on the launch counts as done


class OccupancyCurve(Value):
    """Waves resident at a place over time."""

    name: str
    steps: StepCurve
    units: int  # compute units with any wave
    slots: int  # waves that those units can hold; 0 if unknown


class OccupancyNumbers(Value):
    """Statistics of a step function of waves from its first to its last time."""

    begin: int  # cycles
    end: int
    area: int  # wave-cycles
    mean: float  # waves, weighted with time
    peak: int  # waves
    tail: float  # share of the time after the last moment with more than half of the peak, 0 to 1
    ramp: int  # cycles from the first wave until nine tenths of the peak are reached
    drain: int  # cycles from the last moment with nine tenths of the peak to the end


def occupancy_numbers(steps: StepCurve) -> OccupancyNumbers:
    """Return mean, peak, tail, ramp and drain; all 0 for a curve without duration.

    The mean is area divided by duration.  In the tail at most half of the peak is resident for the rest of
    the time: a long tail means that a few long workgroups came last.
    """
    if not len(steps):
        return OccupancyNumbers(begin=0, end=0, area=0, mean=0.0, peak=0, tail=0.0, ramp=0, drain=0)
    begin, end = int(steps.time[0]), int(steps.time[-1])
    peak, width = int(steps.value.max()), max(1, end - begin)
    full = np.flatnonzero(steps.value >= FULL * peak)
    ramp = int(steps.time[full[0]]) - begin
    tail, drain = (end - _over(steps, rows) for rows in (np.flatnonzero(2 * steps.value > peak), full))
    area, mean, share = int(steps.area), steps.area / width, tail / width
    return OccupancyNumbers(begin, end, area, mean=mean, peak=peak, tail=share, ramp=ramp, drain=drain)


def _over(steps: StepCurve, rows: np.ndarray) -> int:
    """The time at which the last of these rows ends; the curve's end if there are none."""
    last = int(rows[-1]) + 1 if len(rows) else len(steps) - 1
    return int(steps.time[min(last, len(steps) - 1)])


def occupancy_curves(trace: Trace, by: str = "se", *, is_all: bool = False) -> tuple[OccupancyCurve, ...]:
    """Return resident waves in total, by shader engine, or by compute unit or SIMD.

    Compute units and SIMDs are listed only if the capture has instructions of their waves, or with `is_all`
    if they had any wave.
    """
    lives = residencies(trace.occupancy)
    unit = _unit(lives.se, lives.sa, lives.cu)
    index = trace.waves
    traced = ascending(_unit(index.se, index.sa, index.cu)[index.cu >= 0])
    group = {
        "all": np.zeros(len(lives), np.int64),
        "se": lives.se.astype(np.int64),
        "cu": unit,
        "simd": unit * trace.architecture.simds + lives.simd,
    }[by]
    is_some = by in ("cu", "simd") and not is_all
    counts = np.isin(unit, traced) if is_some else np.ones(len(lives), bool)
    group = np.where(counts, group, -1)
    per_simd = slots_of_simd(trace, lives)
    curves = []
    for one, steps in resident(lives, group).items():
        if one >= 0:
            row = int(np.flatnonzero(group == one)[0])
            units = len(ascending(unit[group == one]))
            simds = 1 if by == "simd" else trace.architecture.simds * units
            curves.append(OccupancyCurve(_name(lives, row, by), steps, units, per_simd * simds))
    return tuple(curves)


def slots_of_simd(trace: Trace, lives: Residencies) -> int:
    """Return the waves that a SIMD of the target can hold, 0 if unknown or contradicted by the capture."""
    gpu = trace.architecture
    most = max(int(lives.slot.max(initial=-1)), -1) + 1
    is_possible = most <= gpu.known_slots and int(lives.simd.max(initial=0)) < gpu.simds
    return gpu.known_slots if is_possible else 0


def _unit(se: np.ndarray, sa: np.ndarray | int, cu: np.ndarray) -> np.ndarray:
    """A key for each compute unit, int64, ordered like (se, sa, cu)."""
    return (se.astype(np.int64) << 32) | (np.maximum(sa, 0, dtype=np.int64) << 16) | np.maximum(cu, 0)


def _name(lives: Residencies, row: int, by: str) -> str:
    if by == "all":
        return "all waves"
    name = f"SE{lives.se[row]}"
    if by in ("cu", "simd"):
        name += (f" SA{lives.sa[row]}" if lives.sa.any() else "") + f" CU{lives.cu[row]}"
    return f"{name} SIMD{lives.simd[row]}" if by == "simd" else name


class KernelCurve(Value):
    """A kernel with the step function of its resident waves."""

    name: str  # symbol as in the capture; "" if it names none of the ids
    ids: tuple[int, ...]  # kernel ids that had waves
    steps: StepCurve
    waves: int  # lives of a wave in a slot
    launches: int  # dispatch records; 0 if the capture has none
    is_whole: bool  # whether begin and end of every wave were recorded


def dispatch_curves(events: WaveEvents, dispatches: Sequence[Dispatch] = ()) -> tuple[KernelCurve, ...]:
    """Return a curve for each kernel name with waves, in the order of first waves.

    An id without a name in the capture is a kernel of its own.  Every shader engine records the launches it
    takes part in, so the number of launches is the largest number of records of an engine.
    """
    lives = residencies(events)
    used = ascending(lives.kernel).tolist()
    names = {kernel: events.names.get(kernel, "") for kernel in used}
    numbers: dict[str | int, int] = {}  # kernels of the same name form a group
    groups = {kernel: numbers.setdefault(name or kernel, len(numbers)) for kernel, name in names.items()}
    number = np.array([groups[kernel] for kernel in used], np.int64)
    group = number[np.searchsorted(used, lives.kernel)] if used else np.zeros(0, np.int64)
    curves = []
    for one, curve in resident(lives, group).items():
        ids = tuple(kernel for kernel in used if groups[kernel] == one)
        own = np.flatnonzero(group == one)
        is_whole = not (lives.is_open_start[own].any() or lives.is_open_end[own].any())
        engines = Counter(one.se for one in dispatches if one.kernel in ids)
        launches = max(engines.values(), default=0)
        curves.append(KernelCurve(names[ids[0]], ids, curve, len(own), launches, is_whole))
    return tuple(sorted(curves, key=lambda kernel: (int(kernel.steps.time[0]), kernel.ids)))


class UnitTable(Record):
    """Rows sorted by (se, sa, cu).

    Columns are int64 or float64, NaN if unknown: se, sa (if any is not 0) and cu; of the waves `waves` that
    lived on the unit, `traced` waves, `mean` and `peak` of resident waves, their `cycles`, and `start` and
    `end` in cycles after the first start on any unit; of each pipe, `share_` in percent of the unit's busy
    time; of each counter, `sum_` over all samples.
    """

    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.columns["se"])


def unit_table(trace: Trace, counted: CounterShares | None = None) -> UnitTable | None:
    """Return the table of all compute units with waves or counts, None if there are none."""
    lives = residencies(trace.occupancy)
    parts = [_waves(trace.waves, lives)] if len(lives) else []
    if counted is not None and len(counted):
        shares = {f"share_{pipe}": counted.share(pipe) for pipe in counted.utilized}
        totals = {f"sum_{name}": total for name, total in zip(counted.names, counted.total.T, strict=True)}
        parts.append((_unit(counted.se, 0, counted.cu), shares | totals))  # counters have no shader array
    if not parts:
        return None
    keys = ascending(np.concatenate([key for key, _ in parts]))

    def spread(key: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Expand values of some units to a column of all units, NaN where missing."""
        column = np.full(len(keys), np.nan) if len(key) < len(keys) else np.empty_like(values)
        column[np.searchsorted(keys, key)] = values
        return column

    array = keys >> 16 & 0xFFFF
    places = {"se": keys >> 32, **({"sa": array} if array.any() else {}), "cu": keys & 0xFFFF}
    known = {name: spread(key, values) for key, columns in parts for name, values in columns.items()}
    return UnitTable(places | known)


def _waves(index: WaveIndex, lives: Residencies) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The key of each unit with waves, and the columns about these waves."""
    units, group = np.unique(_unit(lives.se, lives.sa, lives.cu), return_inverse=True)
    n, origin = len(units), int(lives.begin.min())
    begin, end = np.full(n, lives.begin.max()), np.full(n, lives.end.min())
    np.minimum.at(begin, group, lives.begin)
    np.maximum.at(end, group, lives.end)
    cycles = sums(group, lives.end - lives.begin, n)
    curves = resident(lives, group)
    own = _unit(index.se, index.sa, index.cu)[index.cu >= 0]
    at = np.minimum(np.searchsorted(units, own), n - 1)
    return units, {
        "waves": np.bincount(group),
        "traced": np.bincount(at[units[at] == own], minlength=n),
        "mean": cycles / max(1, int(lives.end.max()) - origin),
        "peak": np.array([int(curves[unit].value.max()) for unit in range(n)]),
        "cycles": cycles,
        "start": begin - origin,
        "end": end - origin,
    }
