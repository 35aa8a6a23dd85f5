"""How long the traced waves were in each state, summed over their timelines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.chosen import pieces
from rcv_py.model.kinds import WaveState
from rcv_py.model.waves import Wave, WaveBatch

MEANING = {
    WaveState.IDLE: "nothing to do, or not chosen by the scheduler",
    WaveState.EXEC: "an instruction issues or executes",
    WaveState.WAIT: "in a wait, a barrier or a sleep",
    WaveState.STALL: "an instruction is ready and its unit refuses it",
}
SHOWN = tuple(MEANING)  # the states that count; EMPTY is no state of a wave


@dataclass(frozen=True, eq=False)
class StateShares:
    """Cycles in each WaveState over some waves."""

    cycles: np.ndarray  # int64 [WaveState]
    waves: int  # how many waves were counted: those with a timeline

    @property
    def whole(self) -> int:
        """Cycles in any state but EMPTY: what shares are taken of."""
        return int(self.cycles[list(SHOWN)].sum())

    def percent(self, state: WaveState) -> float:
        """Share of a state in percent, 0 if there is no state at all."""
        return 100 * int(self.cycles[state]) / max(self.whole, 1)


def state_shares(batches: Iterable[WaveBatch]) -> StateShares:
    """Return the cycles of all waves in each state; numbers beyond the known states do not count."""
    cycles, waves = np.zeros(len(WaveState), dtype=np.int64), 0
    for piece in pieces(batches):
        waves += sum(len(wave.states) > 0 for wave in piece.waves)
        cycles += _of_waves(piece.waves)
    return StateShares(cycles, waves)


def _of_waves(waves: tuple[Wave, ...]) -> np.ndarray:
    tables = [wave.states for wave in waves if len(wave.states)]
    if not tables:
        return np.zeros(len(WaveState), dtype=np.int64)
    offset = np.concatenate([table.offset for table in tables]).astype(np.int64)
    state = np.concatenate([table.state for table in tables])
    last = np.cumsum([len(table) for table in tables]) - 1
    length = np.diff(offset, append=0)
    length[last] = np.array([table.length for table in tables], dtype=np.int64) - offset[last]
    counted = np.bincount(state, weights=length, minlength=len(WaveState))
    return counted[: len(WaveState)].astype(np.int64)
