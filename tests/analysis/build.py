"""Small tables of the model, from drawings and lists."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.reduction import Answer, Reduction
from rcv_py.model.code import CodeTable, Kernel, SourceFile
from rcv_py.model.device import OtherSimd, WaveEvents
from rcv_py.model.ids import WaveId
from rcv_py.model.tokens import Tokens, Waits
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveIndex
from tests.analysis.plain import batch_of
from tests.support import drawing

Place = tuple[int, int]
Numbers = int | Sequence[int] | np.ndarray


def wave(picture: str, lines: list[int] | None = None, *, begin: int = 0, **where: Any) -> TracedWave:
    """A wave that ran the tokens of a drawing from its begin on, and ended with the drawing."""
    made = drawing.tokens(picture, base=begin, lines=lines)
    return of_tokens(made, begin=begin, end=begin + len(picture.replace("|", "")), **where)


def of_tokens(
    made: Tokens,
    *,
    row: int = 0,
    begin: int = 0,
    end: int = 0,
    place: tuple[int, int, int, int] = (0, 0, 0, 0),
    cu: int = 1,
) -> TracedWave:
    """A wave with these tokens."""
    states = drawing.states("E" * max(1, max(end, int(made.end.max(initial=end))) - begin), base=begin)
    return TracedWave(row, WaveId(*place), cu, begin, end, made, states, None)


def tokens(
    begin: int, offset: Numbers, stall: Numbers, busy: Numbers, *, line: Numbers, kind: Numbers = 6
) -> Tokens:
    """Tokens of columns; a number instead of a column is that of every token."""
    n = len(np.atleast_1d(offset))
    columns = (np.full(n, one, np.int32) for one in (offset, stall, busy))
    return Tokens(begin, *columns, np.full(n, kind, np.uint8), np.full(n, line, np.int32))


def batch(*waves: TracedWave) -> WaveBatch:
    """A batch of waves."""
    return batch_of(list(waves))


def code(
    text: Sequence[str],
    *,
    latency: Sequence[int] = (),
    chains: Sequence[Sequence[Place]] = (),
    kinds: Sequence[int] = (),
    **columns: Sequence[int],
) -> CodeTable:
    """A code table; `;` begins a label, a chain is a list of (file, line), innermost first."""
    n = len(text)
    chains = chains or [()] * n
    flat = [place for chain in chains for place in chain]
    labels = [i for i, line in enumerate(text) if line.startswith(";")]
    worth = {name: np.array(columns.get(name, [0] * n), dtype=np.int64) for name in ("hits", "stall", "idle")}
    return CodeTable(
        tuple(text),
        np.arange(n),
        np.ones(n, dtype=np.int64),
        np.arange(n, dtype=np.uint64) * np.uint64(8),
        worth["hits"],
        np.array(latency or [0] * n, dtype=np.int64),
        worth["stall"],
        worth["idle"],
        np.array([line.startswith(";") for line in text], dtype=bool),
        np.array(kinds or [6] * n, dtype=np.uint8),
        np.zeros(n, dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(chain) for chain in chains])]).astype(np.int32),
        np.array([place[0] for place in flat], dtype=np.int32),
        np.array([place[1] for place in flat], dtype=np.int32),
        tuple(Kernel(text[a][2:], text[a][2:], a, b) for a, b in zip(labels, [*labels[1:], n], strict=False)),
    )


def counted(table: CodeTable, batches: Sequence[WaveBatch]) -> CodeTable:
    """The code table with the totals of these waves, summed one token after the other."""
    totals = {name: [0] * len(table) for name in ("hits", "latency", "stall", "idle")}
    for one in (one for item in batches for one in item.waves):
        latest, tokens = one.begin, one.tokens
        rows = zip(tokens.start.tolist(), tokens.stall.tolist(), tokens.duration.tolist(), strict=True)
        for (start, stall, duration), line in zip(rows, tokens.line.tolist(), strict=True):
            if line >= 0:
                totals["hits"][line] += 1
                totals["latency"][line] += duration
                totals["stall"][line] += stall
                totals["idle"][line] += max(0, start - latest)
            latest = max(latest, start + duration)
    return replace(table, **{name: np.array(column, dtype=np.int64) for name, column in totals.items()})


def waits(entries: Sequence[tuple[int, Sequence[int]]]) -> Waits:
    """The executed waits [(line, lines it waited for), …]."""
    return Waits(
        np.array([line for line, _ in entries], dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(lines) for _, lines in entries])]).astype(np.int32),
        np.array([line for _, lines in entries for line in lines], dtype=np.int32),
    )


def events(rows: Sequence[tuple[int, ...]], names: dict[int, str] | None = None) -> WaveEvents:
    """Starts and ends of waves: rows of (time, is_start, se, cu, simd, slot, kernel), in any order."""
    rows = sorted(rows, key=lambda row: row[:2])
    c = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(7)]
    none = np.full(len(rows), -1)
    return WaveEvents(
        c[0],
        c[2].astype(np.int16),
        np.zeros(len(rows), dtype=np.int16),
        *(column.astype(np.int16) for column in c[3:6]),
        c[1].astype(bool),
        c[6].astype(np.int32),
        none.astype(np.int16),
        none.astype(np.int16),
        none,
        none,
        names or {},
    )


def index(waves: Sequence[TracedWave]) -> WaveIndex:
    """The index of these waves, in their order."""

    def column(values: list[int], dtype: type) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return WaveIndex(
        column([one.id.se for one in waves], np.int16),
        column([one.id.simd for one in waves], np.int16),
        column([one.id.slot for one in waves], np.int16),
        column([one.id.wid for one in waves], np.int32),
        column([one.begin for one in waves], np.int64),
        column([one.end for one in waves], np.int64),
        column([one.cu for one in waves], np.int16),
        column([0] * len(waves), np.int16),
        column([1] * len(waves), np.int32),
        column([100] * len(waves), np.int64),
        tuple(f"{one.id}.json" for one in waves),
    )


class Reader:
    """Hands out waves that exist already."""

    base_clock = 4

    def __init__(self, waves: Sequence[TracedWave]) -> None:
        self._waves = tuple(waves)

    def read(self, rows: list[int]) -> WaveBatch:
        return batch_of([self._waves[row] for row in rows])


def trace(
    table: CodeTable,
    waves: Sequence[TracedWave],
    *,
    occupancy: WaveEvents | None = None,
    sources: Sequence[SourceFile] = (),
    gfxip: int = 9,
    other_simd: tuple[OtherSimd, ...] = (),
) -> Trace:
    """A trace of these waves; by default occupancy knows exactly them."""
    places = [(one.id.se, one.cu, one.id.simd, one.id.slot, 1) for one in waves]
    lives = [(one.begin, 1, *place) for one, place in zip(waves, places, strict=True)]
    lives += [(one.end, 0, *place) for one, place in zip(waves, places, strict=True)]
    return Trace(
        Path("made-up"),
        "made-up",
        gfxip,
        f"gfx{gfxip}",
        index(waves),
        table,
        tuple(sources),
        events(lives) if occupancy is None else occupancy,
        version="3.0.0",
        has_thread_trace=True,
        reader=Reader(waves),
        other_simd=other_simd,
    )


def of(reduction: Reduction[Any, Answer], batches: Iterable[WaveBatch]) -> Answer:
    """The answer of a reduction that reads nothing but waves."""
    return reduction.of(trace(code([]), []), batches)
