"""The waves of a page: all instructions of some waves, and the lifetimes of the others.

Waves that findings name come first, then whole compute units, the ones with most bytes first, until the page
is full.
"""

from collections.abc import Iterable

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.base.record import Value
from rcv_py.base.runs import distinct
from rcv_py.export.interactive.packed import PackedColumns
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex

MAX_WAVES = 4_000  # that are drawn at all
MAX_BYTES = 40_000_000  # of files of the waves that have instructions
AT_ONCE = 4 << 20  # bytes of files that are read together


class PageWaves(Value):
    """Rows of the wave index that are on a page, in order of the index."""

    rows: np.ndarray  # int64
    tokens: TokenColumns  # of the waves that have instructions
    traced: int  # waves of the capture

    @property
    def detailed(self) -> np.ndarray:
        """Rows of those with instructions, int64, ascending."""
        return np.array([wave.row for wave in self.tokens.waves], dtype=np.int64)


def shown_waves(trace: Trace, named: Iterable[int], tokens: int) -> PageWaves:
    """Read waves until the page has as many `tokens`; `named` are rows of the index that come first."""
    index = trace.waves
    first = (row for row in named if 0 <= row < len(index))
    order = np.array(list(dict.fromkeys([*first, *by_unit(index)])), dtype=np.int64)
    rows = np.sort(order[:MAX_WAVES])
    chosen = order[: max(1, int(np.searchsorted(np.cumsum(index.size[order]), MAX_BYTES)))]
    read, count = [], 0
    edges = 1 + np.flatnonzero(np.diff(np.cumsum(index.size[chosen]) // AT_ONCE))
    for job in np.split(chosen, edges) if len(chosen) else ():
        for wave in trace.reader.read(job.tolist()).waves:
            if count + len(wave.tokens) <= tokens:
                count += len(wave.tokens)
                read.append(wave)
    return PageWaves(rows, of_waves(sorted(read, key=lambda wave: wave.row)), len(index))


def by_unit(index: WaveIndex) -> list[int]:
    """Return all rows: compute units by bytes of their waves, the largest first; within each by start."""
    _, place = distinct(index.se, index.cu)
    size = np.bincount(place, index.size) if len(place) else np.zeros(0)
    order: list[int] = np.lexsort((index.begin, place, -size[place])).tolist()
    return order


def put_waves(shown: PageWaves, trace: Trace, columns: PackedColumns) -> None:
    """Add columns of waves, and of all their tokens, concatenated.

    A token has its distance from the end of the previous token (for the first, from the start of its wave),
    its stall and busy cycles, the distance of its line from the line after the previous one, and its kind.
    """
    index, rows, tokens = trace.waves, shown.rows, shown.tokens
    for name in ("se", "simd", "slot", "wid"):
        columns.put_steps(f"wave.{name}", getattr(index, name)[rows])
    begin, end = index.begin[rows].copy(), index.end[rows].copy()
    count = np.zeros(len(rows), dtype=np.int64)
    place = np.searchsorted(rows, shown.detailed)
    for at, wave in zip(place.tolist(), tokens.waves, strict=True):
        begin[at], end[at] = wave.begin, wave.end
        count[at] = len(wave.tokens)
    columns.put_steps("wave.row", rows)
    columns.put_steps("wave.begin", begin - trace.span.begin)
    columns.put("wave.length", np.maximum(0, end - begin))
    columns.put("wave.tokens", count)
    first = np.zeros(len(tokens.line), dtype=bool)
    first[tokens.first[:-1][np.diff(tokens.first) > 0]] = True
    start = tokens.start.astype(np.int64)
    until = start + tokens.stall + tokens.busy
    own_begin = np.repeat(begin[place], np.diff(tokens.first))
    before = np.where(first, own_begin, np.append(0, until[:-1])[: len(start)])
    line = tokens.line.astype(np.int64)
    next_line = np.where(first, 0, np.append(0, line[:-1])[: len(line)] + 1)
    for name, values in {
        "gap": start - before,
        "stall": tokens.stall,
        "busy": tokens.busy,
        "line": line - next_line,
        "kind": tokens.kind,
    }.items():
        columns.put(f"token.{name}", values)
