"""The tables of hidden latency and of memory latency, as columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rcv_py.analysis.latency.hidden_latency import HiddenTable
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.base.text import DASH, percent, short_count
from rcv_py.model.trace import Trace
from rcv_py.results import latency
from rcv_py.ui.table.column_widths import PAD
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.table_model import Column, grouped

DIGIT_PX = 9  # room for a digit at the usual size of code
_PLACES = 3  # columns in front of the bar: line, instruction and source
_BY_WAITS = ("exact", "median", "p90")
_BY_COUNTERS = ("counter", "mean", "error", "std", "samples", "in_flight", "issue", "stall")
_MEAN_TIP = "Mean latency; the whisker reaches one standard deviation to both sides."
_COST_TIP = "Cycles summed over all waves: not hidden stall, issue and idle, then what is hidden."


@dataclass(frozen=True, eq=False)
class LatencyRows:
    """What the panel lists."""

    line: np.ndarray  # int64 [n], row of the code table
    columns: tuple[Column, ...]
    roles: tuple[str, ...]  # colours of the parts of a bar; none if kinds colour it
    bars: np.ndarray  # float64 or int64 [parts, n], cycles
    spread: np.ndarray | None = None  # float64 [n], half the length of the whisker at the end of a bar
    kinds: np.ndarray | None = None  # int64 [n], TokenKind that colours a bar of one part
    note: str = ""  # a sum over all rows

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def longest(self) -> float:
        """Where the longest bar, or its whisker, ends."""
        ends = self.bars.sum(axis=0) + (0 if self.spread is None else self.spread)
        return float(ends.max(initial=0))


def hidden_rows(trace: Trace, found: HiddenTable) -> LatencyRows:
    """Return the rows of hidden latency, the largest remainder first."""
    bar = Column("bar", "cost", found.total, grouped, True, is_left=True, width=120, tip=_COST_TIP)
    most = int(found.total.max(initial=0))
    columns = [_roomy(column, most) for column in result_columns(latency.hidden_rows(trace, found), trace)]
    whole, hidden = int(found.total.sum()), int(found.hidden.sum())
    note = f"{short_count(hidden)} of {short_count(whole)} cycles hidden ({percent(hidden, whole) or DASH})"
    return LatencyRows(
        found.line,
        (*columns[:_PLACES], bar, *columns[_PLACES:]),
        ("stall", "issue", "idle", "hidden"),
        np.concatenate([found.seen_parts, found.hidden[None]]),
        note=note,
    )


def memory_rows(trace: Trace, found: MemoryLatency, waits: WaitLatency | None = None) -> LatencyRows:
    """Return the rows of memory latency: by counters, and beside that by waits.

    Lines of which waits tell upper bounds only are left out; `waits` is None until they are known.
    """
    table = latency.memory_and_wait_rows(trace, found, waits)
    line = np.asarray(table.columns["line"])
    kinds = trace.code.kind[line].astype(np.int64)
    mean, std, median = (np.asarray(table.columns[name]) for name in ("mean", "std", "median"))
    is_told = waits is not None and len(waits.line) > 0
    left_out = (() if is_told else _BY_WAITS) if len(found) else _BY_COUNTERS
    columns = [column for column in result_columns(table, trace) if column.id not in left_out]
    if len(found):
        length, spread, tip = mean, np.nan_to_num(std), _MEAN_TIP
    else:
        length, spread, tip = median, None, "Median latency by waits."
    length = np.nan_to_num(length)
    bar = Column("bar", "latency", length, "{:,.1f}".format, True, is_left=True, width=120, tip=tip)
    places = _PLACES + (len(found) > 0)
    return LatencyRows(line, (*columns[:places], bar, *columns[places:]), (), length[None], spread, kinds)


def _roomy(column: Column, largest: int) -> Column:
    """A column wide enough for the largest total, so that it need not grow while waves are read."""
    if column.id in ("line", "share") or not column.is_number:
        return column
    return replace(column, width=max(column.width, len(grouped(largest)) * DIGIT_PX + 2 * PAD))
