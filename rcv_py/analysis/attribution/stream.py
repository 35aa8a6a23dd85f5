"""The executed instructions of one shader engine as columns, with everything that the rules need.

Columns that every rule needs are made once: the tokens of each unit, also in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import field

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import LDS, MATRIX, MESSAGE, VALU, LineTraits, lines
from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.attribution.uses import LineHistory
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.saturated import later, narrow, since
from rcv_py.analysis.core.token_columns import TokenColumns, batch_of, of_waves
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.analysis.waves.barriers import Meetings, TokenCrossings, crossings, last_ends, meetings
from rcv_py.base.record import Record
from rcv_py.base.runs import borders, order
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

_MAX_CYCLE = 1 << 62  # cycles: times shifted by `stride` are earlier
_SHARED = 1 << 40  # cycles: earlier times, and thousands of units, fit into a key with the number of a token
_MARGIN = 4096  # cycles after the last time in which results may still be on their way


class TokenStream(Record):
    """Tokens of some waves of one shader engine, wave by wave.  Times are int64 cycles since `base`.

    Times years after the base, which only a damaged file has, are clipped to just before `stride`;
    `tokens.stall` is never clipped.
    """

    tokens: TokenColumns
    lines: LineTraits
    links: WaitLinks
    base: int
    line: np.ndarray  # int64 [n], row of `lines`; the last one if no code line matched
    owner: np.ndarray  # int64 [n], index of the wave
    start: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n]
    latest: int  # no time is later
    simd: np.ndarray  # int64 [waves], number of its SIMD
    cu: np.ndarray  # int64 [waves], number of its compute unit
    stride: int  # later than all times; times the number of SIMDs, units, waves or cache lines, it fits int64
    crossings: TokenCrossings  # barriers the waves went through; times are aligned, not since `base`
    meetings: Meetings  # of the crossings
    survey: Survey
    engine: int  # row of the survey
    # When units were busy for a rule, by unit and its number: made once for all pieces of a parcel.
    unions: dict[tuple[int, int], IntervalSet] = field(default_factory=dict)
    _works: dict[int, UnitOperations] = field(default_factory=dict)
    _queues: dict[int, UnitOperations] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit of each token, uint8."""
        return self.lines.unit.take(self.line)

    def ends(self, rows: np.ndarray | slice) -> np.ndarray:
        """When some tokens ended, int64."""
        return np.minimum(later(self.issue[rows], self.tokens.busy[rows]), self.latest)

    @cached_property
    def _stops(self) -> np.ndarray:
        """The latest end of a token of each wave, int64, 0 for waves without tokens."""
        some = np.flatnonzero(np.diff(self.tokens.first))
        stops = np.zeros(len(self.simd), dtype=np.int64)
        if len(some):
            stops[some] = np.maximum.reduceat(self.ends(slice(None)), self.tokens.first[some])
        return stops

    @cached_property
    def flight(self) -> np.ndarray:
        """Cycles from the issue of each token until its operation was done at the latest.

        That is the end of the first wait for it; operations that no instruction waited for count until the
        end of their wave.  int32 (int64 if needed).
        """
        done = np.repeat(self._stops, np.diff(self.tokens.first))
        links = self.links
        np.minimum.at(done, links.producers, self.issue[links.token[links.row_of]])
        done -= self.issue
        return narrow(done)

    def released(self, token: np.ndarray) -> np.ndarray:
        """When the operations of tokens were done at the latest, int64."""
        return self.issue.take(token) + self.flight.take(token)

    @cached_property
    def has_mates(self) -> np.ndarray:
        """Whether another wave of its SIMD overlapped each wave, or held a unit meanwhile; bool [waves]."""
        some, held = np.flatnonzero(np.diff(self.tokens.first)), int(self.lines.hold.max())
        begin = since(self.tokens.lives[0], self.base, self.stride)
        end = np.zeros(len(begin), dtype=np.int64)
        if len(some):
            first = self.tokens.first[some]
            begin[some] = np.minimum(begin[some], np.minimum.reduceat(self.start, first))
            end[some] = self._stops[some] + held
        shift = self.simd * (self.stride + held)
        rows = order(begin + shift)
        begin, end = (begin + shift)[rows], (end + shift)[rows]
        is_met = np.zeros(len(rows), dtype=bool)
        is_met[rows[1:]] = begin[1:] < np.maximum.accumulate(end)[:-1]  # an earlier wave is still resident
        is_met[rows[:-1]] |= begin[1:] < end[:-1]
        return is_met

    def is_first(self, token: np.ndarray) -> np.ndarray:
        """Whether each given token (ascending) is the first token of its wave, bool."""
        first = self.tokens.first
        at = np.searchsorted(token, first)
        is_first = np.zeros(len(token), dtype=bool)
        is_first[at[np.append(token, -1).take(at) == first]] = True
        return is_first

    @cached_property
    def history(self) -> LineHistory:
        """The lines that ran before each token."""
        return LineHistory(self.line, self.tokens.first)

    @cached_property
    def _by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """All tokens grouped by unit (int32), and where each unit begins (int64)."""
        tokens = np.argsort(self.unit, kind="stable").astype(np.int32)
        return tokens, borders(np.bincount(self.unit, minlength=MESSAGE + 1))

    def of_unit(self, unit: int) -> np.ndarray:
        """The tokens of a unit, int64, ascending."""
        tokens, first = self._by_unit
        return tokens[first[unit] : first[unit + 1]].astype(np.int64)

    @cached_property
    def vector(self) -> np.ndarray:
        """The tokens of vector arithmetic and matrix instructions, int64, ascending."""
        return np.flatnonzero((self.unit == VALU) | (self.unit == MATRIX))

    @cached_property
    def lds_accesses(self) -> np.ndarray:
        """The tokens of accesses to LDS, int64, ascending: tokens of its unit except cross-lane moves."""
        lds = self.of_unit(LDS)
        return lds[self.lines.form.take(self.line.take(lds)) == Cause.WAIT_LDS]

    def work(self, unit: int) -> UnitOperations:
        """The operations of a unit, SIMD by SIMD, and how long each held it; VALU includes matrix ones."""
        if unit not in self._works:
            token = self.vector if unit == VALU else self.of_unit(unit)
            held = narrow(self.held(token, self.issue.take(token)))
            self._works[unit] = self._in_order(token, self.simd, held)
        return self._works[unit]

    @cached_property
    def matrix_work(self) -> UnitOperations:
        """Matrix instructions, SIMD by SIMD, and the cycles until the matrix unit was free after each."""
        token = self.of_unit(MATRIX)
        held = narrow(self.lines.lead + self.lines.passes).take(self.line.take(token))
        return self._in_order(token, self.simd, held)

    def queue(self, unit: int) -> UnitOperations:
        """The operations of a unit, compute unit by compute unit, and the cycles until it took the next."""
        if unit not in self._queues:
            self._queues[unit] = self._in_order(self.of_unit(unit), self.cu)
        return self._queues[unit]

    def _in_order(
        self, token: np.ndarray, lane: np.ndarray, held: np.ndarray | None = None
    ) -> UnitOperations:
        """Return tokens (ascending) by lane (int64 [waves]) and issue; `held` None: until the next."""
        key = np.repeat(lane * self.stride, np.diff(np.searchsorted(token, self.tokens.first)))
        key += self.issue.take(token)
        rows = order(key)
        key = key.take(rows)
        held = None if held is None else held.take(rows)
        if held is None:  # until the unit takes its compute unit's next operation; 0 for the last
            each, held = key // self.stride, np.append(np.diff(key), 0)
            last = np.flatnonzero(each[1:] != each[:-1])
            issue, following = (key[at] - each[at] * self.stride for at in (last, last + 1))
            held[last] = np.where(following >= issue, following, self.stride) - issue
            held = narrow(held)
        return UnitOperations(token.astype(np.int32).take(rows), self.stride, key, held)

    def held(self, token: np.ndarray, issue: np.ndarray) -> np.ndarray:
        """Cycles from the issue of tokens until their units are free again, int64.

        Taken from the trace on gfx9, else from the form of the instruction.
        """
        held = self.lines.hold.take(self.line.take(token))
        if self.lines.step == 4:
            np.maximum(held, np.minimum(self.tokens.busy.take(token), self.latest - issue), out=held)
        return held

    def last_of(self, places: np.ndarray, token: np.ndarray) -> np.ndarray:
        """Return for each token the last of `places` (ascending) before it in its wave, int64, -1: none."""
        if not len(places):
            return np.full(len(token), -1, dtype=np.int64)
        at = np.searchsorted(places, token) - 1
        last, first = places.take(at), self.tokens.first.take(self.owner.take(token))
        return np.where((at >= 0) & (last >= first), last, -1)


class UnitOperations(ColumnTable):
    """Operations of one kind of unit, one unit after the other, in order of issue.

    Times are on an axis where units do not overlap: each is shifted by `stride` against the previous one.  A
    parcel keeps the operations of all its tokens, so sums are computed on demand.
    """

    token: np.ndarray  # int32
    stride: int
    key: np.ndarray  # int64, when each was issued, ascending
    held: np.ndarray  # int32 (int64 if needed), cycles from issue during which it holds the unit

    @property
    def reach(self) -> np.ndarray:
        """When all units up to this row were free again, int64, ascending."""
        return self.key + self._late

    @cached_property
    def _late(self) -> np.ndarray:
        """`reach` relative to the issue of each row, which usually needs half of the memory."""
        reach = np.maximum.accumulate(self.key + self.held)
        reach -= self.key
        return narrow(reach)


def engine_stream(trace: Trace, waves: Sequence[TracedWave]) -> TokenStream:
    """Return the columns of all waves of one shader engine, with what each wait waited for."""
    return stream_of(trace, of_waves(waves), SURVEY.of(trace, [batch_of(waves)]))


def stream_of(trace: Trace, tokens: TokenColumns, survey: Survey) -> TokenStream:
    """Return the columns of waves of one shader engine, such as a parcel, with what each wait waited for."""
    waves = tokens.waves
    of_code, line = lines(trace.code, trace.architecture), tokens.code_rows(len(trace.code))
    far = np.iinfo(np.int64).max
    base = min([int(tokens.start.min(initial=far)), *(wave.begin for wave in waves)], default=0)
    simd = _numbers([(wave.cu, wave.id.simd) for wave in waves])
    cu = _numbers([(wave.cu,) for wave in waves])
    lanes = len(waves) + len(of_code) * (1 + int(cu.max(initial=0)))
    latest = _MAX_CYCLE // (lanes + 1) - _MARGIN
    last = max(0, tokens.last_end)
    if base >= 0 and last < min(_SHARED, latest):
        base, start, issue = 0, tokens.start, tokens.issue  # nothing is copied
    else:
        start = since(tokens.start, base, latest)
        issue = np.minimum(later(start, tokens.stall), latest)
        last = min(int(later(issue, tokens.busy).max(initial=0)), latest)
    crossed = crossings(tokens, trace.code)
    engine = survey.place(waves[0].id.se) if waves else 0
    delay = int(survey.delay[engine]) if waves else 0
    return TokenStream(
        tokens=tokens,
        lines=of_code,
        links=replay(tokens, trace.code, trace.architecture),
        base=base,
        line=line,
        owner=tokens.owner,
        start=start,
        issue=issue,
        latest=latest,
        simd=simd,
        cu=cu,
        stride=last + _MARGIN,
        crossings=crossed,
        meetings=meetings(crossed, survey.groups(waves), last_ends(tokens), delay=delay),
        survey=survey,
        engine=engine,
    )


def _numbers(places: list[tuple[int, ...]]) -> np.ndarray:
    known = {place: number for number, place in enumerate(sorted(set(places)))}
    return np.array([known[place] for place in places], dtype=np.int64)
