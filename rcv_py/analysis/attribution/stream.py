"""The executed instructions of one shader engine as columns, with everything the rules need.

Which earlier instruction wrote what an executed one reads depends only on the code lines that ran before, so
tokens with the same last lines are looked at once.  A result further back than WINDOW instructions is never
waited for: on gfx9 the longest distance is 21 turns, and later a matrix instruction takes 32 cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.attribution.lines import Lines, lines
from rcv_py.analysis.attribution.survey import SURVEY, Survey, known_lines
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.saturated import later, since
from rcv_py.analysis.core.token_columns import TokenColumns, batch_of, of_waves
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.analysis.waves.workgroups import Meetings, TokenCrossings, crossings, last_ends, meetings
from rcv_py.base.runs import borders, ranges
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave

_FARTHEST = 1 << 62  # cycles: no time that is shifted by `stride` is as late
_MARGIN = 4096  # cycles behind the last time in which results may still be on their way


@dataclass(frozen=True, eq=False)
class Stream:
    """Tokens of some waves of one shader engine, wave by wave.  Times are int64 cycles since `base`.

    Times that only a damaged file holds, years behind the base, are taken as just before `stride`; `stall` is
    always that of the token.
    """

    tokens: TokenColumns
    lines: Lines
    links: WaitLinks
    base: int
    line: np.ndarray  # int64 [n], row of `lines`; the last one if no code line matched
    owner: np.ndarray  # int64 [n], place of the wave
    start: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n]
    end: np.ndarray  # int64 [n]
    simd: np.ndarray  # int64 [waves], number of its SIMD
    cu: np.ndarray  # int64 [waves], number of its compute unit
    stride: int  # no time is as late as this; times a SIMD, unit, wave or cache line still fit into int64
    crossings: TokenCrossings  # barriers the waves went through; times are aligned, not since `base`
    meetings: Meetings  # of those
    survey: Survey
    engine: int  # row of the survey

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit of each token, uint8."""
        return self.lines.unit[self.line]

    @cached_property
    def stall(self) -> np.ndarray:
        """Stalled cycles of each token, int64."""
        return self.tokens.stall.astype(np.int64)

    @cached_property
    def first(self) -> np.ndarray:
        """The first token of the wave of each token, int64."""
        return self.tokens.first[:-1][self.owner]

    @cached_property
    def released(self) -> np.ndarray:
        """When each token's operation was done at the latest: the end of the first wait for it, int64.

        Operations nobody waited for count until the end of their wave.
        """
        stops = np.zeros(len(self.simd), dtype=np.int64)
        np.maximum.at(stops, self.owner, self.end)
        done = stops[self.owner]
        links = self.links
        np.minimum.at(done, links.producers, self.issue[links.token[links.row_of]])
        return done

    def shift(self, lane: np.ndarray) -> np.ndarray:
        """What brings times of each token onto an axis where lanes (int64 [waves]) do not overlap, int64."""
        return lane[self.owner] * self.stride

    def last_of(self, is_meant: np.ndarray) -> np.ndarray:
        """Return for each token the last token of its wave before it that is meant, int64, -1: none."""
        place = np.where(is_meant, np.arange(len(self)), -1)
        last = np.maximum.accumulate(np.append(-1, place[:-1])) if len(self) else place
        return np.where(last >= self.first, last, -1)


def engine_stream(trace: Trace, waves: Sequence[Wave]) -> Stream:
    """Return the columns of all waves of one shader engine, with what each wait waited for."""
    return _stream(trace, of_waves(waves), SURVEY.of(trace, [batch_of(waves)]))


def parcel_stream(trace: Trace, parcel: Parcel, survey: Survey) -> Stream:
    """Return the columns of the waves of a parcel, with what each wait waited for."""
    return _stream(trace, parcel.tokens, survey)


def _stream(trace: Trace, tokens: TokenColumns, known: Survey) -> Stream:
    waves = tokens.waves
    of_code, line = lines(trace.code, trace.gfxip, trace.target), known_lines(tokens, trace.code)
    far = np.iinfo(np.int64).max
    base = min([int(tokens.start.min(initial=far)), *(wave.begin for wave in waves)], default=0)
    simd = _numbers([(wave.cu, wave.id.simd) for wave in waves])
    cu = _numbers([(wave.cu,) for wave in waves])
    lanes = len(waves) + len(of_code) * (1 + int(cu.max(initial=0)))
    latest = _FARTHEST // (lanes + 1) - _MARGIN
    start = since(tokens.start, base, latest)
    issue = np.minimum(later(start, tokens.stall), latest)
    end = np.minimum(later(issue, tokens.busy), latest)
    stride = int(max(end.max(initial=0), start.max(initial=0))) + _MARGIN
    links = replay(tokens, trace.code, trace.gfxip, trace.target)
    crossed = crossings(tokens, trace.code)
    engine = known.place(waves[0].id.se) if waves else 0
    delay = int(known.delay[engine]) if waves else 0
    met = meetings(crossed, known.groups(waves), last_ends(tokens), delay=delay)
    return Stream(
        tokens=tokens,
        lines=of_code,
        links=links,
        base=base,
        line=line,
        owner=tokens.owner,
        start=start,
        issue=issue,
        end=end,
        simd=simd,
        cu=cu,
        stride=stride,
        crossings=crossed,
        meetings=met,
        survey=known,
        engine=engine,
    )


def _numbers(places: list[tuple[int, ...]]) -> np.ndarray:
    known = {place: number for number, place in enumerate(sorted(set(places)))}
    return np.array([known[place] for place in places], dtype=np.int64)


def largest_in(value: np.ndarray, first: np.ndarray, stop: np.ndarray, is_last: bool = False) -> np.ndarray:
    """Return the row of the largest of rows `first` to `stop - 1` of each range, the first (last) of equals.

    int64, -1 for a range without rows.
    """
    row = np.arange(len(value))
    order = np.lexsort((row if is_last else -row, value))
    rank = np.full(len(value) + 1, -1, dtype=np.int64)
    rank[order] = row
    edges = np.column_stack([first, np.maximum(first, stop)]).reshape(-1)
    largest = np.maximum.reduceat(rank, edges)[::2] if len(edges) else first
    return np.where(stop > first, np.append(order, -1)[largest], -1)


# -- which earlier instruction wrote what one reads -------------------------------------------------------

WINDOW = 32  # instructions
_ODD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Uses:
    """One row a reader and writer, nearest writers first within a reader."""

    row: np.ndarray  # int64, place in the readers
    writer: np.ndarray  # int64, token


def uses(stream: Stream, readers: np.ndarray, is_writer: np.ndarray) -> Uses:
    """Return for each reader (token) the last writer of each register it reads, each pair once.

    `is_writer` (bool, rows of `Stream.lines`) leaves out pairs with other writers; they still overwrite.
    """
    lines = stream.lines
    return _pairs(stream, readers, is_writer, lines.reads, lines.writes)


def overwritten(stream: Stream, writers: np.ndarray, is_reader: np.ndarray) -> Uses:
    """Return for each token the last reader before it of each register it writes, each pair once.

    Only instructions in `is_reader` (bool, rows of `Stream.lines`) count; `Uses.writer` is the reader here.
    """
    lines = stream.lines
    read = np.where(is_reader[:, None], lines.reads, np.uint64(0))
    return _pairs(stream, writers, is_reader, lines.writes, read)


def _pairs(
    stream: Stream, readers: np.ndarray, is_meant: np.ndarray, wanted: np.ndarray, offered: np.ndarray
) -> Uses:
    """Pairs of tokens where the later one wants a register that an earlier one was the last to offer."""
    first, of = _contexts(stream, readers)
    context, back = _looked_up(stream, readers[first], is_meant, wanted, offered)
    back = back[np.argsort(context, kind="stable")]
    counts = np.bincount(context, minlength=len(first))
    row = np.repeat(np.arange(len(readers)), counts[of])
    return Uses(row, readers[row] - back[ranges(borders(counts)[of], counts[of])])


def _contexts(stream: Stream, readers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one reader of each sequence of last lines, and which of those each reader belongs to."""
    hashed = np.zeros(len(readers), dtype=np.uint64)
    start = stream.first[readers]
    line = (stream.line + 1).astype(np.uint64)
    for back in range(WINDOW + 1):
        at = readers - back
        there = at >= start
        if not there.any():
            break
        hashed = hashed * np.uint64(_ODD) + np.where(there, line[np.maximum(at, 0)], np.uint64(0))
        hashed ^= hashed >> np.uint64(29)
    _, first, of = np.unique(hashed, return_index=True, return_inverse=True)
    return first, of.reshape(-1)


def _looked_up(
    stream: Stream, readers: np.ndarray, is_meant: np.ndarray, wanted: np.ndarray, offered: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (place in readers, instructions back) of every last one that offered something wanted."""
    missing = wanted[stream.line[readers]].copy()
    start = stream.first[readers]
    places, backs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for back in range(1, WINDOW + 1):
        at = readers - back
        there = np.flatnonzero((at >= start) & missing.any(axis=1))
        if not len(there):
            break
        line = stream.line[at[there]]
        is_found = (missing[there] & offered[line]).any(axis=1) & is_meant[line]
        missing[there] &= ~offered[line]
        places.append(there[is_found])
        backs.append(np.full(len(places[-1]), back))
    return np.concatenate(places), np.concatenate(backs)
