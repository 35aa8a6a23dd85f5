"""Attribution of all waves: the rules in their order, and the table they make."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.attribution import issue
from rcv_py.analysis.attribution.barriers import claim_barriers
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.fetch import claim_fetch, claim_shared_fetch
from rcv_py.analysis.attribution.gaps import gaps
from rcv_py.analysis.attribution.ledger import Claims, Ledger
from rcv_py.analysis.attribution.lines import lines
from rcv_py.analysis.attribution.stream import Stream, stream
from rcv_py.analysis.attribution.waits import claim_asked, claim_waits
from rcv_py.analysis.chosen import of_waves
from rcv_py.analysis.matrix_passes import matrix_passes
from rcv_py.analysis.saturated import later, sums, total
from rcv_py.analysis.waitcnt.replay import replay
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch

_CAUSES = len(Cause)


@dataclass(frozen=True, eq=False)
class Attribution:
    """Stalled and idle cycles, one row a line, cause and producer; most cycles first.

    Cycles are summed over the waves that were read.  They are attribution, not elapsed time: several waves
    stall at once, and what others cover costs nothing.
    """

    line: np.ndarray  # int32 [n], code row that was late; -1: tokens without a code line
    cause: np.ndarray  # uint8 [n], Cause
    producer: np.ndarray  # int32 [n], code row that made it late, -1: none is known
    stall: np.ndarray  # int64 [n], cycles
    idle: np.ndarray  # int64 [n], cycles
    count: np.ndarray  # int64 [n], executions
    guessed: (
        np.ndarray
    )  # int64 [n], cycles, stalled and idle, of which the producer is one of several that fit
    assumption: str = ""
    waves: int = 0  # that were read
    of: int = 0  # waves of the trace

    def __len__(self) -> int:
        return len(self.line)

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

    def where(self, rows: np.ndarray) -> Attribution:
        """Return some of the rows (bool or places) as a table of their own."""
        columns = (self.line, self.cause, self.producer, self.stall, self.idle, self.count, self.guessed)
        return Attribution(*(column[rows] for column in columns), self.assumption, self.waves, self.of)

    def by_line(self) -> Attribution:
        """One row a line, whatever the cause; cause and producer are those of its largest row."""
        return _grouped(self, self.line.astype(np.int64))

    def by_cause(self) -> Attribution:
        """One row a cause; line and producer are those of its largest row."""
        return _grouped(self, self.cause.astype(np.int64))

    def by_producer(self) -> Attribution:
        """One row a producer (-1: none); line and cause are those of its largest row."""
        return _grouped(self, self.producer.astype(np.int64))


def attribution(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> Attribution:
    """Return why the waves whose index row is in `rows` (None: all) stalled and idled, each wave once.

    Waves that are not in `rows` still count as competitors for units.  Sums of stall and idle are exactly
    those of the tokens.
    """
    parts, count = [], 0
    for waves in by_engine(batches):
        one = engine_stream(trace, waves)
        chosen = None if rows is None else np.array([wave.row in rows for wave in waves], dtype=bool)
        count += len(waves) if chosen is None else int(chosen.sum())
        for claims, is_idle in ((stalls(one, trace.gfxip).claims(), False), (gaps(one).claims(), True)):
            parts.append(_summed(one, claims, is_idle, len(trace.code), chosen))
    return _table(parts, trace, count)


def stalls(one: Stream, gfxip: int) -> Ledger:
    """Return the stalled cycles of all tokens with causes, by the rules in their order."""
    ledger = before_shared_fetch(one, gfxip)
    claim_shared_fetch(one, ledger)
    return ledger


def before_shared_fetch(one: Stream, gfxip: int) -> Ledger:
    """Return the stalled cycles by all rules but the last, which asks what nobody else explains."""
    token = np.flatnonzero(one.stall > 0)
    ledger = Ledger(token, one.start[token], one.issue[token], one.stall[token])
    claim_waits(one, ledger, gfxip)
    claim_asked(one, ledger)
    claim_barriers(one, ledger)
    ledger.rest(_brief(one, ledger), Cause.OWN)
    issue.claim_drain(one, ledger)
    issue.claim_registers(one, ledger)
    issue.claim_matrix_unit(one, ledger)
    issue.claim_own_unit(one, ledger)
    issue.claim_arbitration(one, ledger)
    issue.claim_queues(one, ledger)
    claim_fetch(one, ledger)
    issue.claim_operand_reads(one, ledger)
    return ledger


def _brief(one: Stream, ledger: Ledger) -> np.ndarray:
    """Rows of instructions without a unit, such as s_setprio, that took one turn."""
    return ledger.open((one.unit == 0) & ~one.lines.is_end[one.line] & (one.stall <= one.lines.step))


def by_engine(batches: Iterable[WaveBatch]) -> list[list[Wave]]:
    """Return the waves of each shader engine, each once."""
    found: dict[int, dict[int, Wave]] = {}
    for batch in batches:
        for wave in batch.waves:
            found.setdefault(wave.id.se, {}).setdefault(wave.row, wave)
    return [list(found[se].values()) for se in sorted(found)]


def engine_stream(trace: Trace, waves: list[Wave]) -> Stream:
    """Return the columns of some waves of one shader engine, with what each wait waited for."""
    piece = of_waves(waves)
    links = replay(piece, trace.code, trace.gfxip, trace.target)
    return stream(piece, lines(trace.code, trace.gfxip, trace.target), links, trace.code)


Sums = tuple[np.ndarray, ...]  # key, stall, idle, count, guessed


def _summed(one: Stream, claims: Claims, is_idle: bool, count: int, chosen: np.ndarray | None) -> Sums:
    """Sums of claims by line, cause and producer, which are packed into a key."""
    keep = slice(None) if chosen is None else np.flatnonzero(chosen[one.owner[claims.token]])
    columns = (claims.token, claims.cause, claims.producer, claims.cycles, claims.is_guess)
    token, cause, blamed, cycles, is_guess = (column[keep] for column in columns)
    wide = count + 1
    producer = np.where(blamed >= 0, one.line[np.maximum(blamed, 0)], count)
    key = (one.line[token] * _CAUSES + cause) * wide + producer
    distinct, place = np.unique(key, return_inverse=True)
    whole = sums(place, cycles, len(distinct))
    times = np.bincount(place, minlength=len(distinct))
    guessed = sums(place, np.where(is_guess, cycles, 0), len(distinct))
    none = np.zeros_like(whole)
    return (distinct, *((none, whole) if is_idle else (whole, none)), times, guessed)


def _table(parts: list[Sums], trace: Trace, count: int) -> Attribution:
    columns = [
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, np.int64) for i in range(5)
    ]
    key, place = np.unique(columns[0], return_inverse=True)
    numbers = [sums(place, column, len(key)) for column in columns[1:]]
    wide = len(trace.code) + 1
    producer, rest = key % wide, key // wide
    line, cause = rest // _CAUSES, rest % _CAUSES
    order = np.lexsort((key, -later(numbers[0], numbers[1])))
    return Attribution(
        _without_none(line, wide)[order],
        cause.astype(np.uint8)[order],
        _without_none(producer, wide)[order],
        *(column[order] for column in numbers),
        _assumption(trace, count),
        count,
        len(trace.waves),
    )


def _without_none(row: np.ndarray, wide: int) -> np.ndarray:
    return np.where(row == wide - 1, -1, row).astype(np.int32)


def _grouped(table: Attribution, key: np.ndarray) -> Attribution:
    """Sums by a key; other columns from the row with most cycles, which is the first."""
    distinct, first, place = np.unique(key, return_index=True, return_inverse=True)
    numbers = [
        sums(place, column, len(distinct)) for column in (table.stall, table.idle, table.count, table.guessed)
    ]
    order = np.lexsort((distinct, -later(numbers[0], numbers[1])))
    names = (table.line[first], table.cause[first], table.producer[first])
    columns = (column[order] for column in (*names, *numbers))
    return Attribution(*columns, table.assumption, table.waves, table.of)


def _share(cycles: np.ndarray, cause: np.ndarray) -> float | None:
    whole = total(cycles)
    return 1.0 - total(cycles[cause == Cause.UNEXPLAINED]) / whole if whole else None


def _assumption(trace: Trace, count: int) -> str:
    text = (
        "Cycles are attributed, not elapsed: several waves stall at once. Only traced waves can be seen to "
        "use a unit."
    )
    passes = matrix_passes(trace.code, trace.target).assumption
    if count < len(trace.waves):
        text += f" Only {count:,} of {len(trace.waves):,} waves are read."
    return f"{text} {passes}".rstrip()
