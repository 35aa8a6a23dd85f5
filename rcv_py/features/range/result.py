"""A range of cycles: what waves did in it by cause, instruction, source line and unit."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.analysis.device.utilization import unit_title
from rcv_py.analysis.iterations.segments import PairDistance
from rcv_py.analysis.overview.range_costs import RangeCosts
from rcv_py.base.text import Message
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA, record_field
from rcv_py.results.table import ResultTable, Schema, Spec

CAUSE, INSTRUCTION, LINE, UNIT = "cause", "instruction", "source line", "unit"
TITLES = {
    CAUSE: "Why waves stalled and idled",
    INSTRUCTION: "Instructions",
    LINE: "Source lines",
    UNIT: "Units",
}
TOP = 8  # rows of a part
SHARES = (
    "Shares are of the wave cycles in the range. Units have shares of the time of all such units; the "
    "column hits has their number."
)
RANGE_PARTS = Spec(
    "range",
    "Causes, instructions, source lines and units, each with most cycles first.",
    "row",
    kinds.choice(*TITLES)("part", "What the row is about", at=DATA),
    kinds.NOTE("name", "The cause, the text of the instruction, the source line or the unit"),
    kinds.PLACE(
        "instruction", "Index of the instruction in the program, counted from 0; -1 if there is none", "#"
    ),
    kinds.COUNT("hits", "Executions; for a unit, the number of such units"),
    kinds.CYCLES(
        "cycles", "Stall, issue (gfx9) or execution, and gaps in the range; for a unit, its busy time"
    ),
    kinds.SHARE(
        "share_of_range",
        "Part of the wave cycles in the range; for a unit, of the time of all such units",
        "share",
    ),
    kinds.SOURCE("source", "Source place of an instruction or a line as file:line; else empty"),
    nothing="No wave was resident in the range.",
)
BETWEEN = record_field(
    "between",
    "From the start of one instruction to the end of the next execution of another; null if not requested",
    kinds.ROW("first", "Index of the instruction it begins with"),
    kinds.ROW("last", "Index of the instruction it ends with"),
    kinds.COUNT("count", "Iterations of all counted waves"),
    kinds.CYCLES("min", "Shortest iteration"),
    kinds.RANK_CYCLES("median", "Median iteration"),
    kinds.CYCLES("max", "Longest iteration"),
    kinds.MEAN_CYCLES("mean", "Mean iteration"),
    is_unknown=True,
)
_TFLOPS = kinds.FROM_0.maybe(
    "tflops", "The same per second, of traced waves alone; null if the clock is unknown"
)
FACTS = (
    CAPTURE,
    kinds.CYCLE_RANGE.maybe("range", "The range; the whole capture if none was given; null without times"),
    kinds.CYCLES.maybe("cycles", "Length of the range; null without times"),
    kinds.NANOSECONDS.maybe("duration_ns", "Length of the range; null if the clock is not known"),
    kinds.WAVES("waves", "Traced waves resident in the range"),
    kinds.CYCLES.maybe("wave_cycles", "Time that these waves spent in the range, summed; null without waves"),
    kinds.COUNT.maybe("hits", "Executions that issued in the range; null without waves"),
    kinds.FROM_0.maybe("flop", "Operations of the MFMA or WMMA instructions that issued in it"),
    _TFLOPS,
    kinds.FROM_0.maybe(
        "valu_flop",
        "Upper bound of the floating-point operations of the VALU instructions that issued in it, where the "
        "mnemonic gives them: counts all lanes of a wave, because the execution mask is not recorded",
    ),
    replace(_TFLOPS, name="valu_tflops", title="valu tflops"),
    kinds.TEXT("assumption", "What the causes assume, as a sentence"),
    BETWEEN,
)
SCHEMA = Schema(
    "range",
    "What waves did in a range of cycles, cut at its borders.",
    (*FACTS, RANGE_PARTS.field()),
    version=1,
)


class RangeRow(NamedTuple):
    """A row of the table; `place` is file and line of a source line."""

    part: str
    name: str
    instruction: int
    hits: int
    cycles: int
    share: float
    source: str
    place: tuple[int, int] | None = None


def range_rows(trace: Trace, found: RangeCosts, top: int | None = TOP) -> tuple[RangeRow, ...]:
    """Return the rows, at most `top` (None: all) of each part."""
    makers = (_causes, _instructions, _lines, _units)
    return tuple(row for make in makers for row in islice(make(trace, found), top))


def _causes(_trace: Trace, found: RangeCosts) -> Iterator[RangeRow]:
    table, whole = found.causes.by_cause(), max(1, found.wave_cycles)
    columns = (table.cause, table.count, table.cycles)
    for cause, times, cycles in zip(*(column.tolist() for column in columns), strict=True):
        name, share = CAUSE_TEXT[Cause(cause)].name, cycles / whole
        yield RangeRow(CAUSE, name, -1, hits=times, cycles=cycles, share=share, source="")


def _instructions(trace: Trace, found: RangeCosts) -> Iterator[RangeRow]:
    cost, whole = found.cost, max(1, found.wave_cycles)
    for row in np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))].tolist():
        text, cycles, hits = trace.code.text[row], int(cost[row]), int(found.hits[row])
        share, source = cycles / whole, source_of(trace, row)
        yield RangeRow(INSTRUCTION, text, row, hits=hits, cycles=cycles, share=share, source=source)


def _lines(trace: Trace, found: RangeCosts) -> Iterator[RangeRow]:
    table, whole = source_costs(trace.code, found.cost, SourceCost.SELF), max(1, found.wave_cycles)
    hits = source_costs(trace.code, found.hits, SourceCost.SELF)
    for at in np.argsort(-table.cost, kind="stable")[: int(np.count_nonzero(table.cost))].tolist():
        file, line, cycles = int(table.file[at]), int(table.line[at]), int(table.cost[at])
        where, ran, share = f"{trace.sources[file].path}:{line}", int(hits.cost[at]), cycles / whole
        place = (file, line)
        yield RangeRow(LINE, where, -1, hits=ran, cycles=cycles, share=share, source=where, place=place)


def _units(trace: Trace, found: RangeCosts) -> Iterator[RangeRow]:
    for one in sorted(found.units, key=lambda one: -one.busy / one.count):
        share = one.busy / (one.count * found.window.width)
        if one.busy:
            title = unit_title(one.unit, trace.architecture.layout)
            yield RangeRow(UNIT, title, -1, hits=one.count, cycles=one.busy, share=share, source="")


def range_table(trace: Trace, found: RangeCosts, top: int | None = TOP) -> ResultTable:
    """Return the rows as a table."""
    return ResultTable.of_rows(RANGE_PARTS, [row[:-1] for row in range_rows(trace, found, top)])


def tflops(trace: Trace, found: RangeCosts, flops: float | None = None) -> float | None:
    """Return operations per second, by default of matrix instructions, in units of 10¹².

    None if the clock is not known.
    """
    ns = trace.clock.ns(found.window.width)
    return None if not ns else (found.flops if flops is None else flops) / ns / 1e3


def flop_facts(trace: Trace, found: RangeCosts) -> Iterator[tuple[str, str, str]]:
    """Yield operations and rates of matrix and vector instructions; nothing for units that did not run.

    Each is a name and two texts; the second is empty if the clock is unknown.
    """
    for name, most, flops in (("MFMA/WMMA", "", found.flops), ("VALU", "at most ", found.vector_flops)):
        if flops:
            rate = tflops(trace, found, flops)
            speed = Message("{0:,.3f} TFLOP/s of traced waves", rate) if rate is not None else ""
            yield name, Message("{0}{1:,.0f} FLOP", most, flops), speed


def range_facts(trace: Trace, found: RangeCosts, *, is_read: bool) -> dict[str, Any]:
    """Return the fields of a document besides the rows; `is_read` is whether any wave could be read."""
    window, rate, vector = found.window, tflops(trace, found), tflops(trace, found, found.vector_flops)
    ns = trace.clock.ns(window.width)
    facts = {
        "range": [window.begin, window.end],
        "cycles": window.width,
        "duration_ns": None if ns is None else round(ns, 1),
        "waves": found.waves,
        "wave_cycles": found.wave_cycles,
        "hits": int(found.hits.sum()),
        "flop": found.flops,
        "tflops": None if rate is None else round(rate, 6),
        "valu_flop": found.vector_flops,
        "valu_tflops": None if vector is None else round(vector, 6),
        "assumption": found.causes.assumption,
    }
    unknown = [] if trace.has_times else ["range", "cycles", "duration_ns"]
    unknown += [] if is_read else ["wave_cycles"]
    if not (is_read and len(trace.code)):
        unknown += ("hits", "flop", "tflops", "valu_flop", "valu_tflops")
    return facts | dict.fromkeys(unknown)


def between_facts(ends: tuple[int, int], found: PairDistance) -> Mapping[str, Any]:
    """Return the fields of a document about the time from one instruction to another."""
    return {
        "first": ends[0],
        "last": ends[1],
        "count": found.count,
        "min": found.least,
        "median": int(found.median) if found.median.is_integer() else found.median,
        "max": found.most,
        "mean": round(found.total / max(1, found.count), 2),
    }
