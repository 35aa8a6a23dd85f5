"""Resident waves over time, and the limiters of waves per SIMD."""

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import waves_of_unit
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device import occupancy_curves as curves
from rcv_py.analysis.device import occupancy_limits as limits
from rcv_py.analysis.device.wave_states import LIVING, StateCurves, state_curves
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.base.record import Value
from rcv_py.base.text import Message, demangled
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

ALL = "all"
MAX_BYTES = 8 << 20  # bytes of wave files that are read for the size of workgroups
States = Callable[[Reduction[Any, StateCurves]], StateCurves]  # the result of such a reduction


class OccupancyRow(Value):
    """A named curve with its numbers; `ids` are its kernels."""

    name: str
    steps: StepCurve
    numbers: curves.OccupancyNumbers
    ids: tuple[int, ...] = ()


def occupancy_rows(trace: Trace, by: str, states: States, se: int | None = None) -> list[OccupancyRow]:
    """Return the curve of all and those `by` se, cu, simd, kernel or state, or (`all`) nothing else.

    `states` is called if waves are needed; `se` selects the waves of a shader engine.
    """
    if by == "state":
        made = states(state_curves(se))
        every = _row(ALL, StepCurve(made.time, made.count.sum(axis=0)))
        of_states = [_row(state.name, StepCurve(made.time, made.count[state])) for state in LIVING]
        return [every, *of_states] if made.waves else []
    if se is not None:
        trace = replace(trace, occupancy=trace.occupancy.at(trace.occupancy.se == se))
    total = [_row(ALL, one.steps) for one in curves.occupancy_curves(trace, "all")]
    if by == "all":
        return total
    if by == "kernel":
        return total + [
            _row(demangled(one.name) or Message("kernel {0} (no name)", one.ids[0]), one.steps, one.ids)
            for one in curves.dispatch_curves(trace.occupancy, trace.dispatches)
        ]
    return total + [_row(one.name, one.steps) for one in curves.occupancy_curves(trace, by, is_all=True)]


def mixed_rows(trace: Trace, by: str, se: int | None = None) -> slice:
    """Return which rows sum up shader engines that share no clock, so that their moments are not known."""
    return slice(0 if se is not None or not trace.clock.apart else 1 if by in ("se", "cu", "simd") else None)


def _row(name: str, steps: StepCurve, ids: tuple[int, ...] = ()) -> OccupancyRow:
    return OccupancyRow(name, steps, curves.occupancy_numbers(steps), ids)


def limits_of(trace: Trace, facts: RunFacts) -> limits.OccupancyLimits:
    """Return the limits; `facts` are from the tables of the run.

    Without the size of workgroups in them, waves of the first compute unit are read: their barriers show it.
    """
    if limits.is_size_known(trace, facts) or not len(trace.waves):
        return limits.occupancy_limits(trace, facts)
    rows, index = waves_of_unit(trace, 0), trace.waves
    # SIMD by SIMD, at least two waves: only waves that share a SIMD show how many of a workgroup do.
    rows = rows[np.lexsort((index.begin[rows], index.simd[rows]))]
    few = sorted(rows[: max(2, np.count_nonzero(index.size[rows].cumsum() <= MAX_BYTES))].tolist())
    batches = [trace.reader.read(few)] if few else []
    return limits.occupancy_limits(trace, facts, limits.waves_on_simd(trace, WORKGROUPS.of(trace, batches)))
