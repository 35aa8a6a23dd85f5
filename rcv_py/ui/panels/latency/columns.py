"""The tables of hidden latency and of memory latency, as columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rcv_py.analysis.cost.place_text import instruction_place
from rcv_py.analysis.latency.latency_tables import HiddenTable
from rcv_py.analysis.latency.memory_and_waits import entries, matched_lines
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.base.text import DASH, percent, short_count
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace
from rcv_py.ui.table.column_widths import PAD
from rcv_py.ui.table.table_model import Column, grouped

UNKNOWN = "–"
DIGIT_PX = 9  # room for a digit at the usual size of code
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


def placed(trace: Trace, rows: LatencyRows) -> LatencyRows:
    """Return the rows with the source place of each instruction behind its text."""
    places = tuple(instruction_place(trace, row) for row in rows.line.tolist())
    column = Column("source", "source", places, width=140, tip="Source line of the instruction.")
    return replace(rows, columns=(*rows.columns[:2], column, *rows.columns[2:]))


def hidden_rows(code: CodeTable, table: HiddenTable) -> LatencyRows:
    """Return the rows of hidden latency, the largest remainder first."""
    most = int(table.total.max(initial=0))
    columns = (
        _line(table.line),
        _text(code, table.line),
        Column("bar", "cost", table.total, grouped, True, is_left=True, width=120, tip=_COST_TIP),
        _cycles("total", "total", table.total, "Latency of all waves, and idle time if it is counted.", most),
        _cycles("seen", "not hidden", table.seen, "Cycles that no other wave of the SIMD covered.", most),
        _cycles("hidden", "hidden", table.hidden, "Cycles that other waves of the SIMD covered.", most),
        Column(
            "share", "hidden %", 100 * table.share, "{:.1f}".format, True, width=60, tip="Hidden of total."
        ),
        _cycles("idle", "hidden idle", table.idle, "Hidden part of the idle time.", most),
        _cycles("stall", "hidden stall", table.stall, "Hidden part of the stall.", most),
        _cycles("issue", "hidden issue", table.issue, "Hidden part of the issue.", most),
    )
    whole, hidden = int(table.total.sum()), int(table.hidden.sum())
    note = f"{short_count(hidden)} of {short_count(whole)} cycles hidden ({percent(hidden, whole) or DASH})"
    return LatencyRows(
        table.line,
        columns,
        ("stall", "issue", "idle", "hidden"),
        np.concatenate([table.seen_parts, table.hidden[None]]),
        note=note,
    )


def memory_rows(code: CodeTable, table: MemoryLatency, waits: WaitLatency | None = None) -> LatencyRows:
    """Return the rows of memory latency: by counters, and beside that by waits.

    Lines of which waits tell upper bounds only are left out; `waits` is None until they are known.
    """
    line, counter, row = matched_lines(table, waits)
    kinds = code.kind[line].astype(np.int64)
    if not len(table):
        return _rows_by_waits(code, line, kinds, waits, row)
    mean = entries(table.mean, counter)
    columns = (
        _line(line),
        _text(code, line),
        Column("unit", "counter", tuple(table.unit[at] if at >= 0 else "" for at in counter), width=60),
        _bar(mean, "Mean latency; the whisker reaches one standard deviation to both sides."),
        _real("mean", "mean", mean, "Mean cycles from issue to return."),
        _real("error", "± error", entries(table.error, counter), "Uncertainty of the mean."),
        _real("std", "std", entries(table.std, counter), "Standard deviation of single latencies."),
        _real("samples", "samples", entries(table.samples, counter), "Executions whose return is known.", 0),
        _real("censored", "in flight", entries(table.censored, counter), "In flight at the last sample.", 0),
        *_by_waits(waits, row),
        _real("issue", "issue", entries(table.issue, counter), "Mean cycles of issue."),
        _real("stall", "stall", entries(table.stall, counter), "Mean cycles of stall before the issue."),
    )
    spread = np.nan_to_num(entries(table.std, counter))
    return LatencyRows(line, columns, (), np.nan_to_num(mean)[None], spread, kinds)


def _rows_by_waits(
    code: CodeTable, line: np.ndarray, kinds: np.ndarray, waits: WaitLatency | None, row: np.ndarray
) -> LatencyRows:
    median = np.zeros(len(line)) if waits is None else np.nan_to_num(entries(waits.median, row))
    bar = _bar(median, "Median latency by waits.")
    columns = (_line(line), _text(code, line), bar, *_by_waits(waits, row))
    return LatencyRows(line, columns, (), median[None], None, kinds)


def _by_waits(waits: WaitLatency | None, row: np.ndarray) -> tuple[Column, ...]:
    if waits is None or not len(waits.line):
        return ()
    return (
        _real("exact", "waits: n", entries(waits.exact, row), "Waits that tell the latency exactly.", 0),
        _real(
            "median",
            "median",
            entries(waits.median, row),
            "Median cycles from issue to return, told by waits.",
            0,
        ),
        _real("p90", "p90", entries(waits.p90, row), "Nine of ten are not longer, told by waits.", 0),
    )


def _decimal(value: Any) -> str:
    return UNKNOWN if np.isnan(value) else f"{value:,.1f}"


def _whole(value: Any) -> str:
    return UNKNOWN if np.isnan(value) else f"{value:,.0f}"


def _line(line: np.ndarray) -> Column:
    return Column("line", "line", line, str, True, width=44, tip="Code line.")


def _text(code: CodeTable, line: np.ndarray) -> Column:
    return Column("text", "instruction", tuple(code.text[row] for row in line.tolist()), width=260)


def _bar(values: np.ndarray, tip: str) -> Column:
    return Column("bar", "latency", np.nan_to_num(values), _decimal, True, is_left=True, width=120, tip=tip)


def _cycles(name: str, title: str, values: np.ndarray, tip: str, largest: int) -> Column:
    """A column wide enough for the largest total, so that it need not grow while waves are read."""
    width = len(grouped(largest)) * DIGIT_PX + 2 * PAD
    return Column(name, title, values, grouped, True, width=max(64, width), tip=tip)


def _real(name: str, title: str, values: np.ndarray, tip: str, digits: int = 1) -> Column:
    return Column(name, title, values, _decimal if digits else _whole, True, width=60, tip=tip)
