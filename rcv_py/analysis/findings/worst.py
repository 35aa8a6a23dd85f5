"""The worst execution of each instruction for each cause: evidence of a finding is of its own cause.

An instruction may wait for a load once and for a full queue another time; the longest stall of all is no
evidence for the load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.attribute import EngineClaims
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.model.waves import Wave

_CAUSES = len(Cause)


class WorstExecution(NamedTuple):
    """An execution and the cycles that one cause has of it."""

    cycles: int
    wave: Wave
    token: int  # row of the wave's tokens
    is_idle: bool  # the cycles lie before the instruction, not in its stall


class WorstExecutions:
    """Collects them while claims pass by; cycles of equal length keep the first."""

    def __init__(self) -> None:
        self._found: dict[int, WorstExecution] = {}

    def add(self, each: EngineClaims) -> None:
        """Look at the claims of a shader engine."""
        one, claims = each.stream, each.claims
        rows = each.counts
        if not len(rows):
            return
        key = one.line[claims.token[rows]].astype(np.int64) * _CAUSES + claims.cause[rows]
        order = np.lexsort((claims.token[rows], -claims.cycles[rows], key))
        first = np.unique(key[order], return_index=True)[1]
        for at in order[first].tolist():
            self._take(int(key[at]), each, int(rows[at]))

    def _take(self, key: int, each: EngineClaims, row: int) -> None:
        cycles, token = int(each.claims.cycles[row]), int(each.claims.token[row])
        best = self._found.get(key)
        if best is None or cycles > best.cycles:
            piece = each.stream.piece
            owner = int(each.stream.owner[token])
            self._found[key] = WorstExecution(
                cycles, piece.waves[owner], token - int(piece.first[owner]), each.is_idle
            )

    def of(self, line: int, causes: np.ndarray) -> WorstExecution | None:
        """Return the worst execution of an instruction for some causes; None if there is none."""
        found = [self._found.get(line * _CAUSES + int(cause)) for cause in np.unique(causes).tolist()]
        return max((one for one in found if one is not None), key=lambda one: one.cycles, default=None)
