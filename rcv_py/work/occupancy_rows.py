"""How many waves were resident over time: in all, by shader engine, by kernel, or by state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rcv_py.analysis.dispatch_curves import dispatch_curves
from rcv_py.analysis.occupancy import Steps
from rcv_py.analysis.occupancy_curves import OccupancyNumbers, occupancy_curves, occupancy_numbers
from rcv_py.analysis.wave_states import LIVING, wave_states
from rcv_py.formats.uiout.names import demangled
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

ALL = "all"
NUMBERS = ("begin", "end", "area", "mean", "peak", "tail", "ramp", "drain")
Read = Callable[[], Iterable[WaveBatch]]


@dataclass(frozen=True, eq=False)
class OccupancyRow:
    """A curve by name with its numbers; `ids` are the kernels it stands for."""

    name: str
    steps: Steps
    numbers: OccupancyNumbers
    ids: tuple[int, ...] = ()


def occupancy_rows(trace: Trace, by: str, read: Read) -> list[OccupancyRow]:
    """Return the curve of all and those `by` se, kernel or state; `read` is called if waves are needed."""
    return _READERS[by](trace, read)


def shares(rows: list[OccupancyRow]) -> list[float]:
    """Return what part of the wave-cycles of all each row has, 0 to 1."""
    whole = rows[0].numbers.area if rows else 0
    return [row.numbers.area / whole if whole else 0.0 for row in rows]


def _of_engines(trace: Trace, read: Read) -> list[OccupancyRow]:
    found = [*occupancy_curves(trace, "all"), *occupancy_curves(trace, "se")]
    names = [ALL, *(one.name for one in found[1:])]
    return [_row(name, one.steps) for name, one in zip(names, found, strict=False)]


def _of_kernels(trace: Trace, read: Read) -> list[OccupancyRow]:
    every = [_row(ALL, one.steps) for one in occupancy_curves(trace, "all")]
    return every + [
        _row(demangled(one.name) or f"kernel {one.ids[0]} (no name)", one.steps, one.ids)
        for one in dispatch_curves(trace.occupancy, trace.dispatches)
    ]


def _of_states(trace: Trace, read: Read) -> list[OccupancyRow]:
    made = wave_states(list(read()))
    if not made.waves:
        return []
    every = _row(ALL, Steps(made.time, made.count.sum(axis=0)))
    return [every, *(_row(state.name, Steps(made.time, made.count[state])) for state in LIVING)]


_READERS = {"se": _of_engines, "kernel": _of_kernels, "state": _of_states}


def _row(name: str, steps: Steps, ids: tuple[int, ...] = ()) -> OccupancyRow:
    return OccupancyRow(name, steps, occupancy_numbers(steps), ids)
