"""The histogram over the program: cycles by range of code lines and token kind; the hottest lines."""

from functools import partial

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums, dense, nonzero, sums
from rcv_py.analysis.core.token_columns import sums_by_kind
from rcv_py.base.record import Value
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex
from rcv_py.model.window import TimeWindow


class HotspotBins(Value):
    """Bin i holds the code rows `first[i]:stop[i]`; the last bins may lie after the program and be empty."""

    first: np.ndarray  # int64 [b]
    stop: np.ndarray  # int64 [b]
    cycles: np.ndarray  # int64 [b, KIND_COUNT], stall + busy of the tokens of each kind
    step: int  # code rows a bin

    @property
    def totals(self) -> np.ndarray:
        """Cycles of each bin, int64 [b]."""
        return self.cycles.sum(axis=1)


def _map(trace: Trace, parcel: Parcel, *, window: TimeWindow | None) -> Sums:
    """Return the cycles of each code row and kind with any cycles."""
    tokens, n = parcel.own, len(trace.code)
    inside = (tokens.line >= 0) & (tokens.line < n)
    row, spent = tokens.line[inside].astype(np.int64), tokens.duration
    if window is not None:
        end = np.minimum(tokens.start + spent, window.end)
        spent = np.maximum(0, end - np.maximum(tokens.start, window.begin))
    return nonzero(sums_by_kind(row, tokens.kind[inside], spent[inside], n).reshape(-1))


def _finish(trace: Trace, part: Sums) -> HotspotBins:
    n = len(trace.code)
    return _bins(1, dense(part, n * KIND_COUNT)[0].reshape(n, KIND_COUNT))


def hotspot_bins(window: TimeWindow | None = None) -> Reduction[Sums, HotspotBins]:
    """Return the reduction that counts the cycles of each code row, which is a bin of its own.

    With a window only the cycles inside it count.  Without a window every token of a wave counts in full, as
    in the reference viewer.  Idle is not counted; unknown kinds count as NONE.
    """
    return Reduction(partial(_map, window=window), added(1), _finish)


KINDS = hotspot_bins()  # latency of each code row; a branch has two kinds: taken and not taken


def static_bins(code: CodeTable) -> HotspotBins:
    """Return the same from the code table alone: latency, or samples, by kind of mnemonic."""
    cost = code.samples if code.samples is not None and not code.latency.any() else code.latency
    return _bins(1, sums_by_kind(np.arange(len(code)), code.kind, cost, len(code)))


def binned(rows: HotspotBins, bins: int, within: tuple[int, int] | None = None) -> HotspotBins:
    """Merge bins of one code row each into `bins` bins of equal size.

    They cover the rows `within`, without empty bins at the end; without it the rows from the first to the
    last with cycles if these are less than half of all rows.
    """
    kinds, used = rows.cycles.shape[1], np.flatnonzero(rows.totals)
    is_wide = not len(used) or 2 * (used[-1] + 1 - used[0]) >= len(rows.cycles)
    begin, stop = (0, len(rows.cycles)) if is_wide else (int(used[0]), int(used[-1]) + 1)
    begin, stop = within or (begin, stop)
    step = max(1, -(-(stop - begin) // max(1, bins)))
    bins = bins if within is None else -(-(stop - begin) // step)
    place = (np.arange(stop - begin) // step)[:, np.newaxis] * kinds + np.arange(kinds)
    cycles = sums(place, rows.cycles[begin:stop].reshape(-1), bins * kinds)
    return _bins(step, cycles.reshape(bins, kinds), begin)


def _bins(step: int, cycles: np.ndarray, begin: int = 0) -> HotspotBins:
    first = begin + step * np.arange(len(cycles), dtype=np.int64)
    return HotspotBins(first, first + step, cycles, step)


def counted_rows(index: WaveIndex, se: int | None, window: TimeWindow | None) -> set[int]:
    """Return the index rows of the waves of a shader engine (None: all) that touch the window (None: all)."""
    chosen = np.ones(len(index), dtype=bool) if se is None else index.se == se
    if window is not None:
        chosen &= (index.begin < window.end) & (index.end > window.begin)
    return set(np.flatnonzero(chosen).tolist())


def hottest(code: CodeTable, cost: np.ndarray, most: int) -> np.ndarray:
    """Return at most `most` code rows with any cost, the most expensive first, equal rows in program order.

    `cost` is the cost of each code row, int64 [n]; labels cost nothing.  Int64.
    """
    own = np.where(code.is_label, 0, cost)
    return np.argsort(-own, kind="stable")[: min(most, int(np.count_nonzero(own > 0)))]
