"""Waits of all waves together: what they waited for, and their stalls.

The stall of a wait is charged to the operation that ended it, by the rule of `waits.py`: the newest required
one if the counter returns in order, else the likeliest by the latencies of all waves.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.attribution.waits import WaitEnds, wait_ends_in
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field
from rcv_py.analysis.core.saturated import Sums, summed
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.wait_latency import WaitLatency, latency_samples, measured, wait_latency
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.runs import borders, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

_PAIR_SHIFT = 32  # bits of a producer in a key, below its wait
_NO_PRODUCER = (1 << _PAIR_SHIFT) - 1  # in place of a producer: the wait itself


@dataclass(frozen=True, eq=False)
class Blocking(ColumnTable):
    """One row per wait line that ran, most stall first; row i has the producers `first[i]:first[i + 1]`.

    Producers of a wait are sorted by charged stall, then by line.  Stall without a producer belongs to
    executions that had no known outstanding operations.
    """

    line: np.ndarray  # int32 [n], code row of the wait
    hits: np.ndarray  # int64 [n]
    stall: np.ndarray  # int64 [n], cycles
    blocked: np.ndarray  # int64 [n]
    first: np.ndarray  # int64 [n + 1]
    producer: np.ndarray  # int32, code row
    n: np.ndarray  # int64
    charged: np.ndarray  # int64, cycles
    guessed: np.ndarray  # int64, cycles of it that another operation may have caused as well

    @property
    def is_guess(self) -> np.ndarray:
        """Whether the producer is a guess in half of the charged cycles or more, bool."""
        return (self.guessed > 0) & (self.guessed >= self.charged - self.guessed)

    def producers(self, row: int) -> slice:
        """The slice of the producers of a wait."""
        return slice(int(self.first[row]), int(self.first[row + 1]))


def _sums(tokens: TokenColumns, links: WaitLinks, ends: WaitEnds, is_wait: np.ndarray) -> Sums:
    """Return keys (wait line, producer line or _NO_PRODUCER), and four sums of each.

    They are executions, stall, measured ends and guessed cycles.  `is_wait` marks the code rows that wait for
    a counter.
    """
    line, rows = tokens.line, len(is_wait)
    waits = np.flatnonzero((line >= 0) & (line < rows))
    waits = waits[is_wait[line[waits]]]
    hits = np.bincount(line[waits], minlength=rows)
    stall = saturated.sums(line[waits], tokens.stall[waits], rows)
    blocked = np.bincount(line[links.token[measured(tokens, links)[0]]], minlength=rows)
    own = np.flatnonzero(hits)
    token, producer = links.token[links.row_of], line[links.producers]
    order = np.lexsort((producer, token))
    order = order[starts_run(token[order], producer[order])]  # each producer once per execution
    wait = np.concatenate([own, line[token[order]], line[ends.token]]).astype(np.int64)
    producer = np.concatenate([np.full(len(own), _NO_PRODUCER), producer[order], line[ends.operation]])
    n, pairs = np.ones(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    charged = tokens.stall[ends.token]
    return summed(
        wait << _PAIR_SHIFT | producer,
        np.concatenate([hits[own], n, np.zeros(len(charged), dtype=np.int64)]),
        np.concatenate([stall[own], pairs, charged]),
        np.pad(blocked[own], (0, len(wait) - len(own))),
        np.pad(np.where(ends.is_guess, charged, 0), (len(wait) - len(charged), 0)),
    )


def _blocking(sums: Sums) -> Blocking:
    key, n, stall, blocked, guessed = sums
    wait, producer = key >> _PAIR_SHIFT, key & _NO_PRODUCER
    own, pairs = np.flatnonzero(producer == _NO_PRODUCER), np.flatnonzero(producer != _NO_PRODUCER)
    own = own[np.lexsort((wait[own], -stall[own]))]
    place = np.empty(int(wait.max(initial=-1)) + 1, dtype=np.int64)
    place[wait[own]] = np.arange(len(own))
    pairs = pairs[np.lexsort((producer[pairs], -stall[pairs], place[wait[pairs]]))]
    return Blocking(
        line=wait[own].astype(np.int32),
        hits=n[own],
        stall=stall[own],
        blocked=blocked[own],
        first=borders(np.bincount(place[wait[pairs]], minlength=len(own))),
        producer=producer[pairs].astype(np.int32),
        n=n[pairs],
        charged=stall[pairs],
        guessed=guessed[pairs],
    )


class WaitSummary(NamedTuple):
    """Waits of the waves that were read."""

    blocking: Blocking
    latency: WaitLatency
    waves: int  # waves that were read
    of: int  # waves of the trace


class _Waits(NamedTuple):
    """Sums over the waits of some waves."""

    sums: Sums
    samples: Sums
    waves: int


def _map(survey: Survey, trace: Trace, parcel: Parcel) -> _Waits:
    tokens = parcel.own
    effect = generation_of(trace.architecture, trace.code.text).effect
    is_wait = [text.startswith("s_wait") and bool(effect(text).waits) for text in trace.code.text]
    links = replay(tokens, trace.code, trace.architecture)
    sums = _sums(tokens, links, wait_ends_in(tokens, links, trace, survey), np.array(is_wait, bool))
    return _Waits(sums, latency_samples(tokens, links, trace.architecture), len(tokens.waves))


def _finish(trace: Trace, part: _Waits) -> WaitSummary:
    latency = wait_latency(trace, part.samples)
    return WaitSummary(_blocking(part.sums), latency, part.waves, len(trace.waves))


_MERGE = by_field(_Waits, sums=added(4), samples=added(1), waves=sum)


def _waits_by(survey: Survey) -> Reduction[_Waits, WaitSummary]:
    return Reduction(partial(_map, survey), _MERGE, _finish)


WAITS = Staged(SURVEY, _waits_by)
