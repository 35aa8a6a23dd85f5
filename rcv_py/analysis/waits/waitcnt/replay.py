"""Replay the counters of all waves of a batch: which executed wait waited for which instructions."""

from __future__ import annotations

from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, columns_of, of_waves
from rcv_py.analysis.waits.waitcnt import generations
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, of_ranges, order, starts_run
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.tokens import Waits
from rcv_py.model.waves import TracedWave, WaveBatch


class WaitLinks(ColumnTable):
    """One row for each executed wait and counter that released something, in order of execution.

    Tokens are rows of the columns of the batch.  Row i waited for `producers[first[i]:first[i + 1]]`, in
    order of issue.
    """

    wave: np.ndarray  # int32 [n], index in `batch.waves`
    token: np.ndarray  # int64 [n], the wait
    counter: np.ndarray  # uint8 [n], number in `generations.COUNTERS`
    left: np.ndarray  # int32 [n], number of operations that may stay outstanding
    first: np.ndarray  # int64 [n + 1]
    producers: np.ndarray  # int64, each token once per row
    newest: np.ndarray  # int64 [n], the last issued of the producers
    is_ordered: np.ndarray  # bool [n], outstanding operations return in order, so the newest returned last

    @property
    def row_of(self) -> np.ndarray:
        """The row each producer belongs to, int64."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def of(self, row: int) -> np.ndarray:
        """The producers of one row."""
        return self.producers[self.first[row] : self.first[row + 1]]


_IS_UNORDERED = np.array([name in generations.UNORDERED for name in generations.KINDS])


def replay(batch: WaveBatch | TokenColumns, code: CodeTable, architecture: Architecture) -> WaitLinks:
    """Return which waits waited for which operations in all waves of a batch.

    gfx1250 has counters that other targets of its generation lack; a program with gfx1250 instructions counts
    as gfx1250.
    """
    tokens = columns_of(batch) if isinstance(batch, WaveBatch) else batch
    effects = _effects(code, architecture)
    known, links = _KNOWN.get(tokens, (None, None))
    if links is None or known is not effects:
        links = _replayed(tokens, effects)
        _KNOWN[tokens] = effects, links
    return links


def _replayed(tokens: TokenColumns, effects: _Effects) -> WaitLinks:
    line = tokens.code_rows(len(effects))
    token = np.flatnonzero(effects.matters(line, tokens.executions(len(effects))))
    line, wave = line.take(token), tokens.owner.take(token)
    wave_first = np.searchsorted(token, tokens.first[:-1])  # in the tokens that matter
    none = np.zeros(0, dtype=np.int64)
    waits: list[tuple[np.ndarray, ...]] = [(none, none, none, none, none, none.astype(bool))]
    operations, before = [none], 0
    for place, counter in enumerate(effects.rules.order):
        times, left = effects.times[place], effects.left[place]
        own = np.flatnonzero((left >= 0).take(line))
        if not len(own):
            continue
        does = (times > 0).take(line)
        ops = np.flatnonzero(does)
        kind = effects.kind[place].take(line.take(ops))
        if times.max() > 1:
            does = times.take(line)
            often = does.take(ops)
            ops, kind = np.repeat(ops, often), np.repeat(kind, often)
        before_each, of_wave = borders(does), wave.take(own)
        base = before_each.take(wave_first).take(of_wave)
        mine = _Waits(of_wave, left.take(line.take(own)), before_each.take(own), base)
        begin, stop, is_ordered = _released(kind, mine)
        number = np.full(len(own), generations.NUMBER_OF[counter])
        waits.append((token.take(own), number, mine.left, begin + before, stop - begin, is_ordered))
        operations.append(token.take(ops))
        before += len(ops)
    return _links(tokens.owner, waits, np.concatenate(operations))


class _Effects:
    """The effect of each code row on each counter, derived from its text when the row first runs."""

    def __init__(self, texts: tuple[str, ...], rules: generations.WaitcntGeneration) -> None:
        self.rules, self._texts = rules, texts
        shape = len(rules.order), len(texts)
        self.times = np.zeros(shape, dtype=np.int64)  # how often it raises a counter
        self.kind = np.zeros(shape, dtype=np.int64)  # kind of operation
        self.left = np.full(shape, -1, dtype=np.int64)  # how many a wait leaves, -1: no wait
        self._state = np.zeros(len(texts) + 1, dtype=np.uint8)  # the last one is for tokens without a row
        self._state[-1] = _NOTHING

    def __len__(self) -> int:
        return len(self._texts)

    def matters(self, row: np.ndarray, executions: np.ndarray) -> np.ndarray:
        """Whether tokens with these code rows (`len(self)`: no row) affect any counter, bool.

        `executions` has the executions of each row.
        """
        for new in np.flatnonzero((executions > 0) & (self._state[:-1] == 0)).tolist():
            effect = self.rules.effect(self._texts[new])
            waits = dict(effect.waits)
            for place, name in enumerate(self.rules.order if effect is not generations.NOTHING else ()):
                raised = [kind for counter, kind in effect.raises if counter == name]
                self.times[place, new] = len(raised)
                self.kind[place, new] = generations.KIND_OF[raised[-1]] if raised else 0
                self.left[place, new] = waits.get(name, -1)
            # At last: other threads may read it.
            self._state[new] = _NOTHING if effect is generations.NOTHING else _SOMETHING
        return (self._state == _SOMETHING).take(row)


_NOTHING, _SOMETHING = 1, 2
# Several analyses need the links of the same columns.
_KNOWN: WeakKeyDictionary[TokenColumns, tuple[_Effects, WaitLinks]] = WeakKeyDictionary()


@lru_cache(maxsize=2)
def _effects(code: CodeTable, architecture: Architecture) -> _Effects:
    return _Effects(code.text, generations.generation_of(architecture, code.text))


class _Waits(Value):
    """The waits for a counter, in order of execution; int64 each."""

    wave: np.ndarray  # index in the columns
    left: np.ndarray  # number of operations that may stay outstanding
    issued: np.ndarray  # operations before it, of all waves
    base: np.ndarray  # operations before its wave


def _released(kind: np.ndarray, waits: _Waits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which operations of a counter (their kinds) each wait released: `begin` to `stop - 1`.

    The third column is True if no outstanding operation could have overtaken another.
    """
    left, issued, base = waits.left, waits.issued, waits.base

    def stops(target: np.ndarray) -> np.ndarray:
        return np.maximum.accumulate(np.maximum(target, base))

    def begins(stop: np.ndarray) -> np.ndarray:
        return np.maximum(np.append(base[:1], stop[:-1]), base)

    # An unordered operation may be overtaken, and so may the first of two consecutive different kinds.
    place, row = np.arange(len(kind)), np.arange(len(left))
    free = np.where(_IS_UNORDERED.take(kind), place, np.where(starts_run(kind), place - 1, -1))
    last_free = np.maximum.accumulate(np.append(-1, free)).take(issued)
    is_disordered = last_free >= begins(stops(issued - left))  # as if every wait gave information
    # Whether an earlier wait gave none; this restarts after every wait for zero and in every wave.
    opens = starts_run(waits.wave)
    opens[1:] |= left[:-1] == 0
    unknown = np.maximum.accumulate(np.where(is_disordered & (left > 0), row, -1))
    is_known = (unknown < np.maximum.accumulate(np.where(opens, row, 0))) | (left == 0)
    stop = stops(np.where(is_known, issued - left, base))
    return begins(stop), stop, ~is_disordered


def _links(wave_of: np.ndarray, waits: list[tuple[np.ndarray, ...]], operations: np.ndarray) -> WaitLinks:
    """Merge the counters: rows by token, then by the order in which a wait checks counters.

    `wave_of` is the wave of each token.
    """
    columns = [np.concatenate(column) for column in zip(*waits, strict=True)]
    in_order = order(columns[0])
    token, counter, left, begin, count, is_ordered = (column.take(in_order) for column in columns)
    owner, at = of_ranges(begin, count)
    producers = operations.take(at)
    keep = starts_run(owner, producers)  # an operation that raised a counter twice counts once
    is_late = counter == generations.NUMBER_OF["x"]
    if is_late.any():
        # An operation that returned had its address translated; only programs of gfx1250 wait for that.
        own = ~is_late[owner]
        returned = np.full(int(producers.max(initial=0)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(returned, producers[own], token[owner[own]])
        keep &= own | (returned[producers] > token[owner])
    if not keep.all():
        kept = np.flatnonzero(keep)
        producers = producers.take(kept)
        count = np.bincount(owner.take(kept), minlength=len(token))
    rows = np.flatnonzero(count)
    first, token = borders(count.take(rows)), token.take(rows)
    return WaitLinks(
        wave=wave_of.take(token).astype(np.int32),
        token=token,
        counter=counter.take(rows).astype(np.uint8),
        left=left.take(rows).astype(np.int32),
        first=first,
        producers=producers,
        newest=np.maximum.reduceat(producers, first[:-1]) if len(rows) else producers,
        is_ordered=is_ordered.take(rows),
    )


def waits_of(wave: TracedWave, code: CodeTable, architecture: Architecture) -> Waits:
    """Return what each executed wait of one wave waited for, as code rows.

    The waits are replayed.  The list in the wave's file uses rules that are wrong in places, and is returned
    only if the replay knows none of the instructions.
    """
    tokens = of_waves([wave])
    replayed = waits(replay(tokens, code, architecture), tokens.line)
    return wave.waits if not len(replayed) and wave.waits is not None else replayed


def waits(links: WaitLinks, line: np.ndarray) -> Waits:
    """Return links as code rows; a code row that was released several times at once occurs once."""
    owner, producer = links.row_of, line[links.producers].astype(np.int64)
    _, once = np.unique(owner << 32 | producer, return_index=True)
    once.sort()
    return Waits(
        line[links.token].astype(np.int32),
        borders(np.bincount(owner[once], minlength=len(links))).astype(np.int32),
        producer[once].astype(np.int32),
    )
