"""Schedules: how long hot blocks take in the executed order, and in the best order found."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.whatif.block_schedule import BlockSchedule
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, WINDOW, Field, rows_field
from rcv_py.results.places import sources
from rcv_py.results.table import ResultTable, Schema, Spec

_MOVE = (
    kinds.ROW("instruction", "Index of the load that is moved"),
    kinds.ROW("before", "Instruction before which it should stand"),
    kinds.CYCLES("saved", "Cycles that this move alone saves per execution of the block"),
)
_MODELLED = "Time in the order of the program, under usual latencies"
SCHEDULES = Spec(
    "schedules",
    "One row per block, the costliest first; cycles of one execution by one wave alone.",
    "block",
    kinds.INDEX("block", "Number of the block, counted from 0"),
    kinds.ROW("first_instruction", "First instruction, counted from 0", "first", key="first"),
    kinds.ROW("last_instruction", "Last instruction, counted from 0", "last", key="last"),
    kinds.COUNT("instructions", "Instructions in it, waits and nops aside", at=DATA | WINDOW),
    kinds.COUNT("hits", "Executions"),
    kinds.SHARE("share_of_total", "Part of latency and idle time of all instructions", "of all"),
    replace(kinds.MEAN_CYCLES, text=lambda cycles: f"{cycles:,.0f}")(
        "measured", "Latency and idle time of one execution, as recorded along with other waves"
    ),
    kinds.CYCLES("length", "Time in the executed order, under measured latencies", "executed order"),
    kinds.CYCLES("best", "Time in the best order found, with all dependencies kept", "best order"),
    kinds.SHARE(
        "saved_share_of_length", "Part of the length that the best order saves", "saved", key="saved"
    ),
    kinds.CYCLES(
        "bound", "Lower bound for any order: cycles of issue, in a loop of its busiest unit", "bound"
    ),
    kinds.CYCLES.maybe(
        "llvm_mca",
        "One pass in the executed order, by llvm-mca without measured latencies; null: no estimate",
        "llvm-mca",
        is_optional=True,
    ),
    kinds.SOURCE("source", "Source place of its first instruction as file:line; empty if none"),
    note=("Predicted for a wave alone: other waves hide stalls, and a compiler may be free to do more."),
    nothing="No block that ran costs 1 % of all cycles.",
)
PROGRAM = SCHEDULES.but(
    name="schedules of a program",
    row="One row per block, deep loops first; modelled cycles of one execution by one wave alone.",
    fields=tuple(
        replace(field, meaning=_MODELLED, title="this order") if field.name == "length" else field
        for field in SCHEDULES.fields
        if field.name not in ("hits", "share_of_total", "measured")
    ),
    note="Modelled for a wave alone, with usual latencies of loads: the program has not run.",
    nothing="No block has two instructions.",
)
_MORE = (
    rows_field("moves", "Loads that gain when each alone is moved up, the best first", *_MOVE),
    Field("order", kinds.listed(kinds.ROW, "An instruction"), "Instructions in the best order"),
)
DOCUMENT, PROGRAM_DOCUMENT = (spec.but(fields=(*spec.fields, *_MORE)) for spec in (SCHEDULES, PROGRAM))
FACTS = (
    common.CAPTURE,
    kinds.TEXT("note", "How to read the numbers"),
    kinds.TEXT("llvm_mca_target", "The GPU that llvm-mca used", is_optional=True),
    kinds.COUNT("llvm_mca_left_out", "Instructions that llvm-mca does not know", is_optional=True),
)
SCHEMA = Schema(
    "schedule",
    "How long hot blocks take in the executed order, and in the best order found.",
    (*FACTS, DOCUMENT.field()),
    version=1,
)
PROGRAM_SCHEMA = Schema(
    "schedule.program",
    "How long blocks of a program that has not run take by a model, and in the best order found.",
    (*FACTS, PROGRAM_DOCUMENT.field()),
    version=1,
)


def schedule_table(
    trace: Trace, found: Sequence[BlockSchedule], total: int, estimates: Sequence[float] | None = None
) -> ResultTable:
    """Return one row per block; `total` is latency and idle of all instructions, in cycles.

    `estimates` are llvm-mca's cycles of each block, nan if it has none; None: it was not run.
    """
    first = np.array([one.first for one in found], dtype=np.int64)
    columns: dict[str, Any] = {"source": sources(trace, first)}
    if not trace.is_static:
        columns["share_of_total"] = np.array([one.cost for one in found], dtype=np.float64) / max(1, total)
    if estimates is not None:
        columns["llvm_mca"] = estimates
    return ResultTable.of(PROGRAM if trace.is_static else SCHEDULES, found, columns)


def move_records(one: BlockSchedule) -> list[dict[str, int]]:
    """Return the moves of a block for a document."""
    names = [field.name for field in _MOVE]
    return [dict(zip(names, move, strict=True)) for move in one.moves]
