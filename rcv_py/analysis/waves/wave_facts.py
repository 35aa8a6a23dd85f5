"""What each wave that was read did, one row per wave: when it lived, and how much it ran and stalled."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from rcv_py.analysis.core.parcels import FOREVER, Parcel
from rcv_py.analysis.core.reduction import Reduction, unchanged
from rcv_py.analysis.timeline.token_details import state_cycles
from rcv_py.model.columns import ColumnTable, Table, joined
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow


class WaveFactColumns(ColumnTable):
    """One row per wave that was read, in order of the wave index."""

    row: np.ndarray  # int64, of the wave index
    cu: np.ndarray  # int64
    begin: np.ndarray  # int64, cycles, aligned, by its file
    end: np.ndarray  # int64, cycles, aligned
    tokens: np.ndarray  # int64
    stall: np.ndarray  # int64, cycles

    @property
    def life(self) -> np.ndarray:
        """Cycles from begin to end, int64."""
        return self.end - self.begin


def _map(_trace: Trace, parcel: Parcel) -> WaveFactColumns:
    facts = [
        (one.row, one.cu, one.begin, one.end, len(one.tokens), int(one.tokens.stall.sum(dtype=np.int64)))
        for one in parcel.own.waves
    ]
    return WaveFactColumns(*np.array(facts, dtype=np.int64).reshape(-1, 6).T)


def _in_order(nothing: Table, parts: Sequence[Table]) -> Table:
    every: Any = joined([nothing, *parts])
    return every.at(np.argsort(every.row, kind="stable"))


_merge = partial(_in_order, WaveFactColumns.empty())
WAVE_FACTS = Reduction(_map, _merge, unchanged)


class WaveStates(ColumnTable):
    """How long each wave that was read was in each state, one row per wave in order of the wave index."""

    row: np.ndarray  # int64, of the wave index
    tokens: np.ndarray  # int64
    cycles: np.ndarray  # int64 [waves, WaveState]; -1 if no states were recorded


def states_within(wave: TracedWave, window: TimeWindow | None) -> tuple[int, ...] | None:
    """Return the cycles in each state, None if the wave has no record of its states.

    Without a window the whole record counts, including states beyond the end of the wave's life.
    """
    if not len(wave.states):
        return None
    begin, end = (-FOREVER, FOREVER) if window is None else (window.begin, window.end)
    return state_cycles(wave, begin, end)


def wave_states(window: TimeWindow | None) -> Reduction[WaveStates, WaveStates]:
    """Return how long each wave was in each state inside a window, None: in its whole life."""
    none = np.zeros((0, len(WaveState)), dtype=np.int64)
    merge = partial(_in_order, WaveStates(none[:, 0], none[:, 0], none))
    return Reduction(partial(_map_states, window), merge, unchanged)


def _map_states(window: TimeWindow | None, _trace: Trace, parcel: Parcel) -> WaveStates:
    waves, unknown = parcel.own.waves, (-1,) * len(WaveState)
    cycles = [states_within(wave, window) or unknown for wave in waves]
    return WaveStates(
        row=np.array([wave.row for wave in waves], dtype=np.int64),
        tokens=np.array([len(wave.tokens) for wave in waves], dtype=np.int64),
        cycles=np.array(cycles, dtype=np.int64).reshape(-1, len(WaveState)),
    )
