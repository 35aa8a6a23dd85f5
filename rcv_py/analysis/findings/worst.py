"""The worst execution of each instruction for each cause.

Causes are kept apart: an instruction may wait for a load once and for a full queue another time, and its
longest stall need not be evidence for the load.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.attribute import ParcelClaims
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.base.runs import ascending, run_starts, starts_run
from rcv_py.model.columns import ColumnTable, joined, of_rows

_CAUSES = len(Cause)


class WorstExecution(NamedTuple):
    """An execution and its cycles of one cause."""

    cycles: int
    wave: int  # row of the wave index
    token: int  # row of the wave's tokens
    line: int  # code row
    is_idle: bool  # the cycles lie before the instruction, not in its stall
    begin: int  # cycles, aligned
    end: int


@dataclass(frozen=True, eq=False)
class WorstExecutions(ColumnTable):
    """One row per instruction and cause, ascending; of equals the first, stalls before gaps."""

    key: np.ndarray  # int64, code row times the number of causes, plus the cause
    cycles: np.ndarray  # int64
    se: np.ndarray  # int64, shader engine
    is_idle: np.ndarray  # bool
    wave: np.ndarray  # int64, row of the wave index
    token: np.ndarray  # int64, row of the wave's tokens
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned

    def of(self, line: int, causes: np.ndarray) -> WorstExecution | None:
        """Return the worst execution of an instruction for some causes; None if there is none."""
        wanted = line * _CAUSES + ascending(causes).astype(np.int64)
        rows = np.flatnonzero(np.isin(self.key, wanted))
        if not len(rows):
            return None
        row = int(rows[np.argmax(self.cycles[rows])])
        return WorstExecution(
            cycles=int(self.cycles[row]),
            wave=int(self.wave[row]),
            token=int(self.token[row]),
            line=line,
            is_idle=bool(self.is_idle[row]),
            begin=int(self.begin[row]),
            end=int(self.end[row]),
        )


_NO_EXECUTIONS = WorstExecutions.empty(is_idle=bool)


def worst_of(each: ParcelClaims) -> WorstExecutions:
    """Return the worst executions of the claims that count."""
    stream, claims = each.stream, each.claims
    rows, key = each.by_key
    key = key // len(stream.lines)  # of all producers
    first, cycles = run_starts(key), claims.cycles.take(rows)
    key, worst = key[first], np.maximum.reduceat(cycles, first) if len(first) else cycles
    is_worst = cycles == np.repeat(worst, np.diff(first, append=len(rows)))
    token = np.where(is_worst, claims.token.take(rows), len(stream))
    token = np.minimum.reduceat(token, first) if len(first) else token
    owner, waves = stream.owner[token], stream.tokens.waves
    ids = np.array([(wave.row, wave.id.se) for wave in waves], dtype=np.int64).reshape(-1, 2)
    return WorstExecutions(
        key=key,
        cycles=worst,
        se=ids[owner, 1],
        is_idle=np.full(len(token), each.is_idle),
        wave=ids[owner, 0],
        token=token - stream.tokens.first[owner],
        begin=stream.tokens.start[token],
        end=stream.tokens.ends_at(token),
    )


def joined_worst(parts: Sequence[WorstExecutions]) -> WorstExecutions:
    """Return the worst of several sets of executions."""
    every = joined([_NO_EXECUTIONS, *parts])
    order = np.lexsort((every.token, every.wave, every.is_idle, every.se, -every.cycles, every.key))
    return of_rows(every, order[starts_run(every.key[order])])
