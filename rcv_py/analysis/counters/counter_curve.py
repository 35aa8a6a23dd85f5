"""Raw counters as curves over time: the sum over the chosen places, as a step function."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.counters.counters import RawCounter, Samples
from rcv_py.model.columns import joined
from rcv_py.model.modes import ReferenceRule

_NEAR = 4  # cycles: the reference joins points that are no further apart
_LATE = 1.5  # intervals: what comes later than that after the sample before had nothing between


@dataclass(frozen=True, slots=True, eq=False)
class StepValues:
    """`value[i]` holds from `time[i]` to `time[i + 1]`; the last one is where the curve ends."""

    time: np.ndarray  # int64, cycles
    value: np.ndarray  # float64


def chosen(samples: Samples, engines: Collection[int] | None, units: Collection[int] | None) -> Samples:
    """Return the samples of some shader engines and compute units; None is all of them."""
    rows = np.ones(len(samples), dtype=bool)
    for column, wanted in ((samples.se, engines), (samples.cu, units)):
        if wanted is not None:
            rows &= np.isin(column, list(wanted))
    return samples if rows.all() else samples.at(rows)


def raw_curve(
    counter: RawCounter,
    engines: Collection[int] | None = None,
    units: Collection[int] | None = None,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> StepValues:
    """Return the sum of a counter over the chosen places as a function of time.

    Ours: a sample's value holds from the sample before it to its own time; where a place was silent for more
    than one and a half intervals its value is zero.  The reference: a value holds from its own time to the
    next sample of the place, or an interval, whichever is first; points up to 4 cycles apart become one; it
    starts at (0, 0).
    """
    samples = chosen(counter.samples, engines, units)
    if rule is ReferenceRule.REFERENCE:
        return _reference_curve(zero_filled(samples, counter.interval))
    order, has_before, before = _neighbours(samples)
    time, value = samples.time[order], samples.value[order]
    is_next = has_before & (time - before <= _LATE * counter.interval)
    begin = np.where(is_next, before, time - counter.interval)
    return _steps(np.concatenate([begin, time]), np.concatenate([value, -value]))


def _neighbours(samples: Samples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows by place and time; whether a row has one before it at its place; and the time of that one."""
    place = samples.place()
    order = np.lexsort((samples.time, place))
    time, place = samples.time[order], place[order]
    has_before = np.append(False, place[1:] == place[:-1])[: len(time)]
    return order, has_before, np.append(time[:1], time[:-1])


def _steps(time: np.ndarray, change: np.ndarray) -> StepValues:
    moments, place = np.unique(time, return_inverse=True)
    return StepValues(moments, np.cumsum(np.bincount(place, weights=change, minlength=len(moments))))


def silences(counter: RawCounter) -> int:
    """Return how often a place had no sample for more than one and a half intervals between two samples."""
    order, has_before, before = _neighbours(counter.samples)
    gap = counter.samples.time[order] - before
    return int(np.count_nonzero(has_before & (gap > _LATE * counter.interval)))


def zero_filled(samples: Samples, interval: int) -> Samples:
    """Return the samples as the reference completes them: silence after a sample becomes a zero.

    If the next sample of a place comes later than an interval after one, a sample of value zero is put an
    interval after it; the last one of a place is left alone.
    """
    order, has_before, before = _neighbours(samples)
    late = np.flatnonzero(has_before & (samples.time[order] > before + interval)) - 1
    silent = samples.at(order[late])
    both = joined([samples, replace(silent, time=silent.time + interval, value=np.zeros(len(late)))])
    return both.at(np.argsort(both.time, kind="stable"))


def _reference_curve(samples: Samples) -> StepValues:
    order, has_before, _ = _neighbours(samples)
    value = samples.value[order]
    change = np.empty_like(value)
    change[order] = value - np.where(has_before, np.append(0.0, value[:-1])[: len(value)], 0.0)
    total = np.cumsum(change)
    time = samples.time
    keep = np.append(np.diff(time) > _NEAR, True)[: len(time)]
    return StepValues(np.append(0, time[keep]), np.append(0.0, total[keep]))
