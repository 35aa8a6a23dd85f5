"""A program that has not run: instructions with what waits for them, and blocks with modelled cycles."""

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.live_registers import RegisterFile, live_registers
from rcv_py.analysis.program.loops import loops
from rcv_py.analysis.waits.program_waits import program_waits, wait_pairs
from rcv_py.analysis.whatif.block_schedule import block_lengths
from rcv_py.features.isa.result import BLOCKS, LINES
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import Field
from rcv_py.results.places import placed, sources
from rcv_py.results.table import Columns, DictionaryColumn, ResultTable, Schema, Spec, form

NOTE = "Cycles are modelled: one wave alone, usual latencies of loads."
_ROWS = replace(kinds.listed(kinds.ROW, "An instruction"), text=lambda rows: ", ".join(map(str, rows)))
PROGRAM_LINES = Spec(
    "isa program",
    "Instructions of a program that has not run, in its order.",
    "instruction",
    common.INSTRUCTION_INDEX,
    kinds.ADDRESS("address", "Address in the code object"),
    LINES["block"],
    kinds.COUNT("loops", "Loops that contain it"),
    kinds.COUNT.maybe("vgprs", "Vector registers that must be held; null if operands are unknown", "VGPRs"),
    Field(name="waits_for", kind=_ROWS, meaning="Memory operations that it waits for", title="waits for"),
    common.INSTRUCTION_TEXT,
    LINES["source"],
)
PROGRAM_BLOCKS = Spec(
    "isa program blocks",
    "Basic blocks of a program that has not run, in its order.",
    "block",
    *(BLOCKS[name] for name in ("block", "first_instruction", "last_instruction", "instructions", "loops")),
    kinds.MEAN_CYCLES.maybe("cycles", "Modelled time of one execution; null if operands are unknown"),
    BLOCKS["name"],
    BLOCKS["source"],
    note=NOTE,
)
FACTS = (common.CAPTURE, common.TOTAL_ROWS)
SCHEMA = Schema(
    "isa.program",
    "A program that has not run: its instructions or basic blocks.",
    forms=(
        form("Instructions.", FACTS, "kind", "instructions", PROGRAM_LINES),
        form("Basic blocks: --blocks.", FACTS, "kind", "blocks", PROGRAM_BLOCKS),
    ),
)


def program_table(trace: Trace, by: str) -> ResultTable:
    """Return one row per instruction or `block` of a program that has not run."""
    code, table = trace.code, blocks(trace.code)
    depth = loops(table).depth_of_block
    columns: Columns
    if by == "block":
        columns = {
            "block": np.arange(len(table)),
            "first_instruction": table.first,
            "last_instruction": table.stop - 1,
            "instructions": np.add.reduceat((~code.is_label).astype(np.int64), table.first),
            "loops": depth,
            "cycles": block_lengths(trace),
            "name": table.name,
            "source": sources(trace, table.first),
        }
        return ResultTable(PROGRAM_BLOCKS, columns)
    waited_for: list[list[int]] = [[] for _ in code.text]
    for wait, operation in zip(
        *map(np.ndarray.tolist, wait_pairs(program_waits(code, trace.architecture))), strict=True
    ):
        waited_for[wait].append(operation)
    held = live_registers(code).pressure[:, RegisterFile.VGPR].astype(np.float64)
    columns = {
        **placed(trace, np.arange(len(code))),
        "address": code.address,
        "block": DictionaryColumn(table.name, table.of_row),
        "loops": depth[table.of_row],
        "vgprs": held if not code.is_unreadable.any() else np.full(len(code), np.nan),
        "waits_for": waited_for,
    }
    return ResultTable(PROGRAM_LINES, columns)
