"""The worst execution of each instruction for each cause, cycles of issue, and the longest end of a program.

Causes are kept apart: an instruction may wait for a load once and for a full queue another time, and its
longest stall need not be evidence for the load.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.attribution.attribute import ParcelClaims
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.program.branches import ends_of
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, run_starts, starts_run
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

_CAUSES = len(Cause)


class WorstExecution(Value):
    """An execution and its cycles of one cause."""

    cycles: int
    wave: int  # row of the wave index
    token: int  # row of the wave's tokens
    line: int  # code row
    is_idle: bool  # the cycles lie before the instruction, not in its stall
    begin: int  # cycles, aligned
    end: int


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
        names = ("cycles", "wave", "token", "is_idle", "begin", "end")
        return WorstExecution(line=line, **{name: getattr(self, name)[row].item() for name in names})


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
    owner, tokens = stream.owner[token], stream.tokens
    return WorstExecutions(
        key=key,
        cycles=worst,
        se=tokens.engines[owner],
        is_idle=np.full(len(token), each.is_idle),
        wave=tokens.rows[owner],
        token=token - tokens.first[owner],
        begin=tokens.start[token],
        end=tokens.ends_at(token),
    )


def joined_worst(parts: Sequence[WorstExecutions]) -> WorstExecutions:
    """Return the worst of several sets of executions."""
    every = joined([_NO_EXECUTIONS, *parts])
    order = np.lexsort((every.token, every.wave, every.is_idle, every.se, -every.cycles, every.key))
    return every.at(order[starts_run(every.key[order])])


class Issued(Value):
    """What some waves issued."""

    cycles: np.ndarray  # int64 [code rows], of issue (later than gfx9: of execution), summed over waves
    longest_end: WorstExecution | None  # of s_endpgm, the first of equals; None if none took a cycle


def _map(trace: Trace, parcel: Parcel) -> Issued:
    tokens, size = parcel.own, len(trace.code)
    rows = tokens.code_rows(size)
    cycles = saturated.sums(rows, np.where(tokens.kind == TokenKind.MSG, 0, tokens.busy), size + 1)[:size]
    ends = np.flatnonzero(np.append(ends_of(trace.code), False)[rows])
    if not tokens.busy[ends].any():
        return Issued(cycles, None)
    row = tokens.rows[tokens.owner[ends]]
    token = int(ends[np.lexsort((row, -tokens.busy[ends].astype(np.int64)))[0]])
    owner = int(tokens.owner[token])
    wave, place = tokens.waves[owner], token - int(tokens.first[owner])
    span = wave.tokens.span(place)
    took, line = int(tokens.busy[token]), int(tokens.line[token])
    longest = WorstExecution(took, wave.row, place, line=line, is_idle=False, begin=span.begin, end=span.end)
    return Issued(cycles, longest)


def _merge(parts: Sequence[Issued]) -> Issued:
    ends = [part.longest_end for part in parts if part.longest_end is not None]
    longest = min(ends, key=lambda one: (-one.cycles, one.wave, one.token), default=None)
    return Issued(sum((part.cycles for part in parts), np.zeros(1, dtype=np.int64)), longest)


def _finish(trace: Trace, part: Issued) -> Issued:
    return Issued(np.broadcast_to(part.cycles, len(trace.code)), part.longest_end)


ISSUED = Reduction(_map, _merge, _finish)
