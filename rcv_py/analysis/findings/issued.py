"""Cycles in which each instruction issued, and the end of a program that took longest."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.findings.worst import WorstExecution
from rcv_py.analysis.program.branches import ends_of
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace


class Issued(NamedTuple):
    """What some waves issued."""

    cycles: np.ndarray  # int64 [code rows], of issue (later than gfx9: of execution), summed over waves
    longest_end: WorstExecution | None  # of s_endpgm, the first of equals; None if none took a cycle


def _map(trace: Trace, parcel: Parcel) -> Issued:
    tokens, size = parcel.own, len(trace.code)
    line = tokens.code_rows(size)
    cycles = saturated.sums(line, np.where(tokens.kind == TokenKind.MSG, 0, tokens.busy), size + 1)[:size]
    ends = np.flatnonzero(np.append(ends_of(trace.code), False)[line])
    if not tokens.busy[ends].any():
        return Issued(cycles, None)
    row = np.array([wave.row for wave in tokens.waves], dtype=np.int64)[tokens.owner[ends]]
    token = int(ends[np.lexsort((row, -tokens.busy[ends].astype(np.int64)))[0]])
    owner = int(tokens.owner[token])
    wave, place = tokens.waves[owner], token - int(tokens.first[owner])
    span = wave.tokens.span(place)
    longest = WorstExecution(
        cycles=int(tokens.busy[token]),
        wave=wave.row,
        token=place,
        line=int(tokens.line[token]),
        is_idle=False,
        begin=span.begin,
        end=span.end,
    )
    return Issued(cycles, longest)


def _merge(parts: Sequence[Issued]) -> Issued:
    ends = [part.longest_end for part in parts if part.longest_end is not None]
    longest = min(ends, key=lambda one: (-one.cycles, one.wave, one.token), default=None)
    return Issued(sum((part.cycles for part in parts), np.zeros(1, dtype=np.int64)), longest)


def _finish(trace: Trace, part: Issued) -> Issued:
    return Issued(np.broadcast_to(part.cycles, len(trace.code)), part.longest_end)


ISSUED = Reduction(_map, _merge, _finish)
