"""Why one executed instruction stalled, and why there was a gap in front of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.attribution.attribute import engine_stream, stalls
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.gaps import gaps
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch


@dataclass(frozen=True, slots=True)
class TokenCause:
    """Some cycles of one token."""

    cause: Cause
    cycles: int
    is_idle: bool  # in the gap in front of it; else in its stall
    line: int  # code row of the producer, -1 if none is known
    row: int  # token of the producer in its wave, -1 if none is known
    wave: int  # index row of the producer's wave, -1 if none is known
    is_guess: bool = False  # the producer is one of several that fit


def token_causes(trace: Trace, batches: Iterable[WaveBatch], wave: Wave, row: int) -> tuple[TokenCause, ...]:
    """Return the causes of the token at `row`, most cycles first, its stall before its gap.

    Of other waves only those on the same compute unit that lived at the same time are looked at; nothing else
    can hold an instruction back.
    """
    waves = _neighbours(batches, wave)
    one = engine_stream(trace, waves)
    place = next(i for i, other in enumerate(waves) if other.row == wave.row)
    token = int(one.piece.first[place]) + row
    found = []
    for claims, is_idle in ((stalls(one, trace.gfxip).claims(), False), (gaps(one).claims(), True)):
        for at in np.flatnonzero(claims.token == token).tolist():
            blamed = int(claims.producer[at])
            owner = int(one.owner[blamed]) if blamed >= 0 else -1
            found.append(
                TokenCause(
                    Cause(int(claims.cause[at])),
                    int(claims.cycles[at]),
                    is_idle,
                    int(one.piece.line[blamed]) if blamed >= 0 else -1,
                    blamed - int(one.piece.first[owner]) if blamed >= 0 else -1,
                    waves[owner].row if blamed >= 0 else -1,
                    bool(claims.is_guess[at]),
                )
            )
    return tuple(sorted(found, key=lambda item: (item.is_idle, -item.cycles)))


def _neighbours(batches: Iterable[WaveBatch], wave: Wave) -> list[Wave]:
    found = {wave.row: wave}
    for batch in batches:
        for other in batch.waves:
            is_there = other.id.se == wave.id.se and other.cu == wave.cu
            if is_there and other.begin <= wave.end and other.end >= wave.begin:
                found.setdefault(other.row, other)
    return list(found.values())
