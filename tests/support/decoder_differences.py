"""Where two decoders of one raw capture differ: wave by wave, the first token at which they do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

LIFE, TOKENS, STATES, MISSING = "life", "tokens", "states", "missing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One wave and one thing about it that two decoders see differently."""

    wave: str
    what: str  # LIFE, TOKENS, STATES, or MISSING: one of them has no such wave
    first: int  # of the tokens or states that differ, counted from 0; -1: the whole wave does
    count: int  # how many differ, those that only one of them has included
    a: str  # what the first decoder says there
    b: str


Say = Callable[[np.ndarray], str]  # what a row is, for people


def differences(a: Trace, b: Trace) -> Iterator[Difference]:
    """Yield what differs between two decodings of a capture, by wave; clocks are not compared."""
    rows_a, rows_b = ({str(trace.waves.id(row)): row for row in range(len(trace.waves))} for trace in (a, b))
    for name in sorted(rows_a.keys() | rows_b.keys(), key=lambda one: (rows_a.get(one, len(rows_a)), one)):
        waves = _wave(a, rows_a.get(name)), _wave(b, rows_b.get(name))
        if waves[0] is None or waves[1] is None:
            texts = ("no such wave" if wave is None else f"{len(wave.tokens):,} tokens" for wave in waves)
            yield Difference(name, MISSING, -1, 1, *texts)
            continue
        yield from _of_wave(name, a, b, waves[0], waves[1])


def _wave(trace: Trace, row: int | None) -> TracedWave | None:
    return None if row is None else next(iter(trace.reader.read([row]).waves), None)


def _of_wave(name: str, a: Trace, b: Trace, mine: TracedWave, other: TracedWave) -> Iterator[Difference]:
    lives = [
        (wave.begin - shift, wave.end - shift)
        for wave, shift in ((mine, _shift(a, mine)), (other, _shift(b, other)))
    ]
    if lives[0] != lives[1]:
        texts = (f"{begin:,} to {end:,}" for begin, end in lives)
        yield Difference(name, LIFE, -1, 1, *texts)
    tokens = _tokens(a, mine), _tokens(b, other)
    states = _states(mine), _states(other)
    yield from _first(name, TOKENS, tokens, (partial(_token, a), partial(_token, b)))
    yield from _first(name, STATES, states, (_state, _state))


def _shift(trace: Trace, wave: TracedWave) -> int:
    return trace.clock.offsets.get(wave.id.se, 0)


def _tokens(trace: Trace, wave: TracedWave) -> np.ndarray:
    """Start, stall, busy cycles, kind, code object and address of each token; int64 [6, tokens]."""
    tokens, line = wave.tokens, wave.tokens.line
    place = (
        np.append(column.astype(np.int64), -1)[line] for column in (trace.code.codeobj, trace.code.address)
    )
    return np.stack([tokens.start - _shift(trace, wave), tokens.stall, tokens.busy, tokens.kind, *place])


def _states(wave: TracedWave) -> np.ndarray:
    """State and cycles of each segment; int64 [2, segments]."""
    return np.stack([wave.states.state.astype(np.int64), wave.states.duration])


def _first(
    name: str, what: str, tables: tuple[np.ndarray, np.ndarray], say: tuple[Say, Say]
) -> Iterator[Difference]:
    a, b = tables
    both = min(a.shape[1], b.shape[1])
    differ = np.flatnonzero((a[:, :both] != b[:, :both]).any(axis=0))
    more = max(a.shape[1], b.shape[1]) - both
    if not len(differ) and not more:
        return
    first = int(differ[0]) if len(differ) else both
    texts = [
        text(table[:, first]) if first < table.shape[1] else "nothing more"
        for table, text in zip(tables, say, strict=True)
    ]
    yield Difference(name, what, first, len(differ) + more, *texts)


def _token(trace: Trace, row: np.ndarray) -> str:
    start, stall, busy, kind, codeobj, address = map(int, row)
    at = np.flatnonzero((trace.code.codeobj == codeobj) & (trace.code.address == np.uint64(max(address, 0))))
    lines = [line for line in at.tolist() if not trace.code.is_label[line]]
    text = trace.code.text[lines[0]] if lines else f"kind {kind}, no instruction"
    return f"{text} at {start:,}, {stall:,} stalled, {busy:,} busy"


def _state(row: np.ndarray) -> str:
    state, duration = map(int, row)
    word = WaveState(state).name.lower() if state in WaveState.__members__.values() else str(state)
    return f"{word} for {duration:,} cycles"
