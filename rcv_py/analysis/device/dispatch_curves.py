"""How many waves of each kernel are resident: kernels that have one name count as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.occupancy import Steps, residencies, resident
from rcv_py.model.device import Dispatch, WaveEvents


@dataclass(frozen=True, eq=False)
class KernelCurve:
    """A kernel with the step function of its resident waves."""

    name: str  # symbol as the capture has it; "" if it names none of the ids
    ids: tuple[int, ...]  # kernel ids that had waves
    steps: Steps
    waves: int  # lives of a wave in a slot
    launches: int  # dispatch records; 0 if the capture keeps none
    is_whole: bool  # whether every wave was seen to begin and to end


def dispatch_curves(events: WaveEvents, dispatches: Sequence[Dispatch] = ()) -> tuple[KernelCurve, ...]:
    """Return a curve for each name of a kernel that had waves, in the order of their first wave.

    An id the capture does not name is a kernel of its own, and costs only itself.  Every shader engine
    records the launches it takes part in, so their number is that of the engine with most records.
    """
    lives = residencies(events)
    used = np.unique(lives.kernel).tolist()
    names = {kernel: events.names.get(kernel, "") for kernel in used}
    groups = _groups(names)
    number = np.array([groups[kernel] for kernel in used], np.int64)
    group = number[np.searchsorted(used, lives.kernel)] if used else np.zeros(0, np.int64)
    found = []
    for one, curve in resident(lives, group).items():
        ids = tuple(kernel for kernel in used if groups[kernel] == one)
        own = np.flatnonzero(group == one)
        is_whole = not (lives.is_open_start[own].any() or lives.is_open_end[own].any())
        launches = _launches(ids, dispatches)
        found.append(KernelCurve(names[ids[0]], ids, curve, len(own), launches, is_whole))
    return tuple(sorted(found, key=lambda kernel: (int(kernel.steps.time[0]), kernel.ids)))


def _groups(names: Mapping[int, str]) -> dict[int, int]:
    """Number the kernels: those of one name get one number."""
    numbers: dict[str | int, int] = {}
    return {kernel: numbers.setdefault(name or kernel, len(numbers)) for kernel, name in names.items()}


def _launches(ids: tuple[int, ...], dispatches: Sequence[Dispatch]) -> int:
    engines = Counter(one.se for one in dispatches if one.kernel in ids)
    return max(engines.values(), default=0)
