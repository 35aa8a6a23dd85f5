"""Attribution of all waves, or of one token: the rules in their order, and the resulting table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution import issue, waits
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.issue import gaps
from rcv_py.analysis.attribution.ledger import Claims, Ledger, Spent
from rcv_py.analysis.attribution.lines import NONE
from rcv_py.analysis.attribution.stream import TokenStream, engine_stream, stream_of
from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field
from rcv_py.analysis.core.saturated import later, total
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, order, run_starts
from rcv_py.base.text import Message, join_texts
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch

_CAUSES = len(Cause)


class Attribution(ColumnTable):
    """Stalled and idle cycles, one row per line, cause and producer; most cycles first.

    Cycles are summed over the waves that were read.  They are attribution, not elapsed time: several waves
    stall at once, and cycles that other waves cover cost nothing.
    """

    line: np.ndarray  # int32 [n], code row that was late; -1: tokens without a code line
    cause: np.ndarray  # uint8 [n], Cause
    producer: np.ndarray  # int32 [n], code row that made it late, -1: unknown
    stall: np.ndarray  # int64 [n], cycles
    idle: np.ndarray  # int64 [n], cycles
    count: np.ndarray  # int64 [n], executions
    guessed: np.ndarray  # int64 [n], cycles whose producer is one of several candidates
    assumption: str = ""
    waves: int = 0  # waves that were read
    of: int = 0  # waves of the trace

    @property
    def cycles(self) -> np.ndarray:
        """Stalled and idle cycles of each row, int64."""
        return later(self.stall, self.idle)

    @property
    def is_guess(self) -> np.ndarray:
        """Whether the producer is a guess in half of the cycles of each row or more, bool."""
        return (self.guessed > 0) & (self.guessed >= self.cycles - self.guessed)

    @cached_property
    def total_stall(self) -> int:
        """All stalled cycles."""
        return total(self.stall)

    @cached_property
    def total_idle(self) -> int:
        """All idle cycles."""
        return total(self.idle)

    @property
    def explained(self) -> float | None:
        """Share of the stalled cycles that have a cause, None if there are none."""
        return _share(self.stall, self.cause)

    @property
    def explained_idle(self) -> float | None:
        """Share of the idle cycles that have a cause, None if there are none."""
        return _share(self.idle, self.cause)

    def by_line(self) -> Attribution:
        """One row per line, over all causes; cause and producer come from its largest row."""
        return _grouped(self, self.line)

    def by_cause(self) -> Attribution:
        """One row per cause; line and producer come from its largest row."""
        return _grouped(self, self.cause)

    def by_producer(self) -> Attribution:
        """One row per producer (-1: none); line and cause come from its largest row."""
        return _grouped(self, self.producer)


class ParcelClaims(Record):
    """The claims of a parcel's stalls, or of its gaps, for all tokens that touch its slab."""

    stream: TokenStream
    claims: Claims
    spent: Spent
    is_idle: bool
    counts: np.ndarray  # int64, rows of the claims that count: tokens of chosen waves that start in the slab

    @cached_property
    def key(self) -> np.ndarray:
        """One number for line, cause and producer of each claim, int64, as `rows_of` takes it."""
        stream, claims, outside = self.stream, self.claims, self.stream.survey.last.line
        blamed, code_rows = claims.producer, len(stream.lines) - 1
        producer = np.where(blamed < 0, code_rows, stream.line.take(np.maximum(blamed, 0)))
        far = np.flatnonzero(blamed < -1)
        producer[far] = outside[-2 - blamed[far]]
        return _packed(stream.line.take(claims.token), claims.cause, producer, code_rows)

    @cached_property
    def by_key(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the claims that count, ordered by key, and their keys; int64."""
        key = self.key.take(self.counts)
        rows = order(key)
        return self.counts.take(rows), key.take(rows)


def claims_of(trace: Trace, parcel: Parcel, stream: TokenStream) -> Iterator[ParcelClaims]:
    """Yield the claims of a parcel: first for its stalls, then for its gaps.

    The stream has the same waves, and may serve other parts of their time.  A caller that releases the first
    before it requests the second (as `map` does) never has both in memory.
    """
    touches = parcel.is_counted
    if not touches.all():
        touches = touches | parcel.touches
    yield _claimed(parcel, stream, stalls(stream, _beside(stream, touches)), is_idle=False)
    yield _claimed(parcel, stream, gaps(stream, touches), is_idle=True)


def _claimed(parcel: Parcel, stream: TokenStream, ledger: Ledger, *, is_idle: bool) -> ParcelClaims:
    checkpoint()
    claims, spent = ledger.closed()
    counts = np.flatnonzero(parcel.is_counted.take(claims.token))
    return ParcelClaims(stream, claims, spent, is_idle, counts)


def _beside(stream: TokenStream, touches: np.ndarray) -> np.ndarray:
    """Tokens whose stall may overlap one of `touches` (bool), bool; the last rule compares such stalls."""
    rows = np.flatnonzero(touches)
    if len(rows) in (0, len(touches)):
        return touches
    low, high = stream.start.take(rows).min(), stream.issue.take(rows).max()
    step = stream.lines.step
    return (stream.start <= high + step) & (stream.issue >= low - step)


class AttributionSums(Value):
    """Sums of some parcels."""

    claims: saturated.Sums  # key of line, cause and producer; stall, idle, executions and guessed cycles
    waves: int  # counted waves


joined_attribution = by_field(AttributionSums, claims=added(4), waves=sum)


def _map(survey: Survey, trace: Trace, parcel: Parcel) -> AttributionSums:
    stream = stream_of(trace, parcel.tokens, survey)
    sums = [sums_of(each) for piece in parcel.in_time() for each in claims_of(trace, piece, stream)]
    return AttributionSums(saturated.joined_sums(sums), len(parcel.own.waves))


def attribution_by(survey: Survey) -> Reduction[AttributionSums, Attribution]:
    """Return the attribution of waves, given the survey of all waves of the capture."""
    return Reduction(partial(_map, survey), joined_attribution, table_of, is_together=True)


# Waves that do not count still compete for units.  Stall and idle add up to those of the tokens exactly.
ATTRIBUTION = Staged(SURVEY, attribution_by)


class TimedClaims(ColumnTable):
    """When chosen waves spent claimed cycles, one row per span; spans of a wave do not overlap."""

    key: np.ndarray  # int64, for `rows_of`
    owner: np.ndarray  # int64, index of the wave in the parcel
    begin: np.ndarray  # int64, aligned cycles
    end: np.ndarray  # int64, aligned cycles


def timed(each: ParcelClaims, is_meant: np.ndarray) -> TimedClaims:
    """Return when the claimed cycles of some waves (bool [waves]) were spent, in the slab or around it.

    If several causes share the stall of a token, each cause has the cycles that its rule matched: the first
    of them that no earlier rule took.
    """
    stream, spans = each.stream, each.spent.spans()
    owner = stream.owner.take(each.claims.token.take(spans.claim))
    if not is_meant.all():
        spans, owner = spans.at(is_meant[owner]), owner[is_meant[owner]]
    begin, end = (time + stream.base if stream.base else time for time in (spans.begin, spans.end))
    return TimedClaims(each.key.take(spans.claim), owner, begin, end)


def rows_of(key: np.ndarray, table: Attribution, code_rows: int) -> np.ndarray:
    """Return the table row that each key of a TimedClaims belongs to, int64, -1: none."""
    columns = table.line, table.producer
    line, producer = (np.where(column < 0, code_rows, column).astype(np.int64) for column in columns)
    known = _packed(line, table.cause, producer, code_rows)
    if not len(known):
        return np.full(len(key), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    at = order[np.minimum(np.searchsorted(known, key, sorter=order), len(known) - 1)]
    return np.where(known[at] == key, at, -1)


def stalls(stream: TokenStream, is_meant: np.ndarray | None = None) -> Ledger:
    """Return the stalled cycles of tokens (None: all) with causes; rules apply in order."""
    ledger = before_shared_fetch(stream, is_meant)
    waits.claim_shared_fetch(stream, ledger)
    return ledger


def before_shared_fetch(stream: TokenStream, is_meant: np.ndarray | None = None) -> Ledger:
    """Return the stalled cycles by all rules but the last, which takes unexplained cycles."""
    is_stalled = stream.tokens.stall > 0
    token = np.flatnonzero(is_stalled if is_meant is None else is_stalled & is_meant)
    line, lines = stream.line.take(token), stream.lines
    stall = stream.tokens.stall.take(token).astype(np.int64)
    ledger = Ledger(token, line, stream.start.take(token), stream.issue.take(token), stall)
    checkpoint()
    waits.claim_waits(stream, ledger)
    waits.claim_nops(stream, ledger)
    waits.claim_barriers(stream, ledger)
    # Instructions without a unit, such as s_setprio, that took one turn.
    rows = ledger.of_lines((lines.unit == NONE) & ~lines.is_end)
    ledger.rest(rows[stall[rows] <= lines.step], Cause.OWN)
    issue.claim_drain(stream, ledger)
    issue.claim_registers(stream, ledger)
    checkpoint()
    issue.claim_matrix_unit(stream, ledger)
    issue.claim_own_unit(stream, ledger)
    issue.claim_arbitration(stream, ledger)
    checkpoint()
    issue.claim_queues(stream, ledger)
    waits.claim_fetch(stream, ledger)
    issue.claim_operand_reads(stream, ledger)
    return ledger


def _packed(line: np.ndarray, cause: np.ndarray, producer: np.ndarray, code_rows: int) -> np.ndarray:
    """One number for a line, a cause and a producer; `code_rows` represents no line."""
    return (line * _CAUSES + cause) * (code_rows + 1) + producer


def sums_of(each: ParcelClaims) -> tuple[np.ndarray, ...]:
    """Return keys of line, cause and producer; stall, idle, executions and guessed cycles of each."""
    rows, key = each.by_key
    first, cycles = run_starts(key), each.claims.cycles.take(rows)
    spent = saturated.sums_of_runs(cycles, first)
    stall, idle = (0 * spent, spent) if each.is_idle else (spent, 0 * spent)
    guessed = saturated.sums_of_runs(np.where(each.claims.is_guess.take(rows), cycles, 0), first)
    return key[first], stall, idle, np.diff(first, append=len(rows)), guessed


def table_of(trace: Trace, part: AttributionSums) -> Attribution:
    """Return the attribution table of the sums."""
    wide = len(trace.code) + 1
    key, stall, idle, times, guessed = part.claims
    producer, rest = key % wide, key // wide
    line, cause = rest // _CAUSES, rest % _CAUSES
    line, producer = (np.where(row == wide - 1, -1, row).astype(np.int32) for row in (line, producer))
    text = (
        "Cycles are attributed, not elapsed: several waves stall at once. Only traced waves can be seen to "
        "use a unit."
    )
    passes = matrix_passes(trace.code, trace.target).assumption
    if part.waves < len(trace.waves):
        text += Message(" Only {0:,} of {1:,} waves count.", part.waves, len(trace.waves))
    table = Attribution(
        line=line,
        cause=cause.astype(np.uint8),
        producer=producer,
        stall=stall,
        idle=idle,
        count=times,
        guessed=guessed,
        assumption=join_texts(" ", filter(None, (text, passes))),
        waves=part.waves,
        of=len(trace.waves),
    )
    return table.at(np.lexsort((key, -table.cycles)))


def _grouped(table: Attribution, key: np.ndarray) -> Attribution:
    """Sum by a key; other columns come from the row with most cycles, which is the first."""
    key, columns = key.astype(np.int64), (table.stall, table.idle, table.count, table.guessed)
    first = np.unique(key, return_index=True)[1]
    key, stall, idle, count, guessed = saturated.summed(key, *columns)
    grouped = replace(table.at(first), stall=stall, idle=idle, count=count, guessed=guessed)
    return grouped.at(np.lexsort((key, -grouped.cycles)))


def _share(cycles: np.ndarray, cause: np.ndarray) -> float | None:
    all_cycles = total(cycles)
    return 1.0 - total(cycles[cause == Cause.UNEXPLAINED]) / all_cycles if all_cycles else None


class TokenCause(Value):
    """Some cycles of one token."""

    cause: Cause
    cycles: int
    is_idle: bool  # in the gap before it; else in its stall
    line: int  # code row of the producer, -1 if none is known
    row: int  # token of the producer in its wave, -1 if none is known
    wave: int  # index row of the producer's wave, -1 if none is known
    is_guess: bool = False  # the producer is one of several that fit


def token_causes(
    trace: Trace, batches: Iterable[WaveBatch], wave: TracedWave, row: int
) -> tuple[TokenCause, ...]:
    """Return the causes of the token at `row`, most cycles first, its stall before its gap.

    The analysis includes only waves on the same compute unit that lived at the same time; no other wave can
    hold an instruction back.
    """
    near = (other for batch in batches for other in batch.waves if _is_beside(wave, other))
    by_row = {other.row: other for other in near} | {wave.row: wave}
    waves = [by_row[row] for row in sorted(by_row)]  # in table order, not in the order of reading
    stream = engine_stream(trace, waves)
    place = next(i for i, other in enumerate(waves) if other.row == wave.row)
    token = int(stream.tokens.first[place]) + row
    causes = []
    for claims, is_idle in ((stalls(stream).claims(), False), (gaps(stream).claims(), True)):
        for at in np.flatnonzero(claims.token == token).tolist():
            known = claims.producer[at] >= 0
            blamed = max(0, int(claims.producer[at]))
            owner = int(stream.owner[blamed])
            cause = TokenCause(
                cause=Cause(int(claims.cause[at])),
                cycles=int(claims.cycles[at]),
                is_idle=is_idle,
                line=int(stream.tokens.line[blamed]),
                row=blamed - int(stream.tokens.first[owner]),
                wave=waves[owner].row,
                is_guess=bool(claims.is_guess[at]),
            )
            causes.append(cause if known else replace(cause, line=-1, row=-1, wave=-1))
    return tuple(sorted(causes, key=lambda item: (item.is_idle, -item.cycles)))


def uncounted_beside(trace: Trace, batches: Iterable[WaveBatch], wave: TracedWave) -> int:
    """Return how many waves that may have delayed a wave are missing from the batches."""
    index, here = trace.waves, {other.row for batch in batches for other in batch.waves}
    is_near = (index.se == wave.id.se) & ((index.cu == wave.cu) | (index.cu < 0))
    is_near &= (index.begin <= wave.end) & (index.end >= wave.begin)
    return len(set(np.flatnonzero(is_near).tolist()) - here)


def _is_beside(wave: TracedWave, other: TracedWave) -> bool:
    is_there = other.id.se == wave.id.se and other.cu == wave.cu
    return is_there and other.begin <= wave.end and other.end >= wave.begin


class Blamed(Value):
    """An instruction that made another one late."""

    line: int  # code row
    cycles: int  # stalled and idle
    is_guess: bool  # one of several candidates


class LineCause(Value):
    """Cycles of one cause, over all executions of an instruction."""

    cause: Cause
    stall: int  # cycles
    idle: int  # cycles before it
    blamed: tuple[Blamed, ...]  # most cycles first

    @property
    def cycles(self) -> int:
        """Stalled and idle cycles."""
        return self.stall + self.idle


def causes_of(table: Attribution, line: int) -> tuple[LineCause, ...]:
    """Return the causes of the cycles that a code row was late, most cycles first.

    Their sums of stall and idle equal the sums of the row.
    """
    own = table.at(table.line == line)
    found = []
    for cause in ascending(own.cause).tolist():
        part = own.at(own.cause == cause)
        known = part.at(part.producer >= 0)
        columns = (known.producer, known.cycles, known.is_guess)
        rows = sorted(zip(*(one.tolist() for one in columns), strict=True), key=lambda row: (-row[1], row[0]))
        stall, idle = total(part.stall), total(part.idle)
        blamed = tuple(Blamed(*row) for row in rows)
        found.append(LineCause(cause=Cause(cause), stall=stall, idle=idle, blamed=blamed))
    return tuple(sorted(found, key=lambda one: (-one.cycles, one.cause)))
