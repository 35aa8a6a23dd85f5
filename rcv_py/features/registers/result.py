"""Registers: how many of each file hold values still needed, where the peak is, and which are free."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.analysis.program.live_registers import (
    FILE_NAMES,
    LiveRegisters,
    RegisterFile,
    numbers,
    ranges_text,
)
from rcv_py.analysis.program.registers import RegisterUse, register_use
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.places import instructions, placed, sources
from rcv_py.results.schema import Form, Schema
from rcv_py.results.table import Columns, ResultTable, Spec

_LETTERS = ("v", "a", "s")
_FILE = kinds.TEXT("file", "VGPR, AGPR or SGPR; VGPR+AGPR: both, which share a file")
FILES = Spec(
    "registers",
    "One row per register file.",
    "register file",
    _FILE,
    kinds.COUNT("peak", "Maximum of registers that must be held at a time"),
    kinds.ROW("instruction", "Index of the first instruction with that many", "at", is_unknown=True),
    kinds.COUNT("named", "Registers that the program names: the highest number plus one"),
    kinds.COUNT("allocated", "Registers allocated to a wave; null if no table gives them", is_unknown=True),
    kinds.COUNT(
        "most_for_next_step",
        "Most registers that allow the next step of occupancy; null: they are not the limit",
        "for the next step",
        is_unknown=True,
    ),
    kinds.COUNT(
        "instructions_above",
        "Instructions that hold more than that at a time",
        "instructions above",
        is_unknown=True,
    ),
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
    nothing="The program names no registers.",
)
ROWS = Spec(
    "registers by instruction",
    "One row per instruction; registers that must be held at a time.",
    "instruction",
    common.INSTRUCTION_INDEX,
    kinds.COUNT("vgprs", "VGPRs held", "VGPRs"),
    kinds.COUNT("agprs", "AGPRs held", "AGPRs"),
    kinds.COUNT("sgprs", "SGPRs held", "SGPRs"),
    common.COSTS[0],
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
)
PROGRAM_ROWS = ROWS.but(fields=tuple(field for field in ROWS.fields if field.name != "hits"))
PLACE = Spec(
    "registers at a place",
    "One row per register file.",
    "register file",
    _FILE,
    kinds.COUNT("held", "Registers that are needed before or after the instruction, or written by it"),
    kinds.COUNT("free", "Registers that the program uses and that are free there"),
    kinds.NOTE("held_registers", "Which are held", "held"),
    kinds.NOTE("free_registers", "Which are free", "free"),
)
FACTS = (
    common.CAPTURE,
    kinds.TEXT("next_step", "What the next step of occupancy requires; empty if nothing limits it"),
    kinds.TEXT("method", "How the numbers were determined"),
)
PLACE_FACTS = (common.CAPTURE, *common.PLACE)
VARIANTS = {  # what a row is → its fields and its option
    "file": (FILES, (*FACTS,), "Register files."),
    "instruction": (ROWS, (common.CAPTURE,), "Instructions: --by instruction."),
    "place": (PLACE, PLACE_FACTS, "What is held at an instruction: --line."),
    "program": (PROGRAM_ROWS, (common.CAPTURE,), "Instructions of a program that has not run."),
}
SCHEMA = Schema(
    "registers",
    "Registers that hold values still needed, and where the most do.",
    forms=tuple(Form(words, (*facts, spec.field())) for spec, facts, words in VARIANTS.values()),
    version=1,
)
METHOD = (
    "Live ranges over the control-flow graph, from instruction texts; calls of other "
    "functions are not followed."
)


def main_rows(trace: Trace) -> range:
    """Return the rows of the kernel with most traced cycles, all rows if there are no kernels."""
    kernel = trace.code.main_kernel
    return range(len(trace.code)) if kernel is None else range(kernel.first, kernel.stop)


def main_use(trace: Trace) -> RegisterUse:
    """Return which registers that kernel names."""
    rows = main_rows(trace)
    return register_use(trace.code, rows.start, rows.stop)


def register_facts(limits: OccupancyLimits) -> dict[str, Any]:
    """Return the facts about all files."""
    return {"next_step": limits.next_step, "method": METHOD}


def file_table(trace: Trace, found: LiveRegisters, limits: OccupancyLimits) -> ResultTable:
    """Return one row per register file that the kernel with most traced cycles uses."""
    rows, use = main_rows(trace), main_use(trace)
    if trace.code.is_unreadable[rows.start : rows.stop].any():
        return ResultTable(FILES, {field.name: [] for field in FILES.fields})
    named = (use.vector, use.accumulation, use.scalar)
    known = {limit.name: limit for limit in limits.limits}
    vector, scalar = known.get("vector registers"), known.get("scalar registers")
    is_shared = limits.device.is_unified and use.accumulation > 0
    files: list[tuple[str, tuple[RegisterFile, ...], int]] = [
        (name, (RegisterFile(at),), named[at]) for at, name in enumerate(FILE_NAMES) if named[at]
    ]
    if is_shared:
        files.append(("VGPR+AGPR", (RegisterFile.VGPR, RegisterFile.AGPR), use.vector + use.accumulation))
    made: list[dict[str, Any]] = []
    for name, of, count in files:
        at = found.peak(*of, first=rows.start, stop=rows.stop)
        held = found.pressure[rows.start : rows.stop, list(of)].sum(axis=1)
        limit = scalar if name == "SGPR" else vector if (name == "VGPR+AGPR") == is_shared else None
        is_table = limit is not None and not limit.source.startswith("guess")
        most = limit.max_used if limit is not None and limit.excess else -1
        made.append(
            {
                "file": name,
                "peak": int(held.max(initial=0)),
                "instruction": at,
                "named": count,
                "allocated": limit.allocated if limit is not None and is_table else -1,
                "most_for_next_step": most,
                "instructions_above": int(np.count_nonzero(held > most)) if most >= 0 else -1,
            }
        )
    numbers = (field.name for field in FILES.fields if field.name not in ("text", "source"))
    columns: Columns = {name: [row[name] for row in made] for name in numbers}
    peaks = np.array([row["instruction"] for row in made], dtype=np.int64)
    return ResultTable(
        FILES, {**columns, "text": instructions(trace, peaks), "source": sources(trace, peaks)}
    )


def instruction_table(trace: Trace, found: LiveRegisters) -> ResultTable:
    """Return one row per instruction of the program, without labels; none if they are not known."""
    is_known = not trace.code.is_unreadable.any()  # any instruction may use a value
    rows = np.flatnonzero(~trace.code.is_label & is_known)
    held = {
        name: found.pressure[rows, at]
        for name, at in (
            ("vgprs", RegisterFile.VGPR),
            ("agprs", RegisterFile.AGPR),
            ("sgprs", RegisterFile.SGPR),
        )
    }
    columns: Columns = {**placed(trace, rows), **held}
    if trace.is_static:
        return ResultTable(PROGRAM_ROWS, columns)
    return ResultTable(ROWS, {**columns, "hits": trace.code.hits[rows]})


def place_table(trace: Trace, found: LiveRegisters, use: RegisterUse, row: int) -> ResultTable:
    """Return which registers are held and which are free at an instruction; no row if it is not known."""
    named = (use.vector, use.accumulation, use.scalar)
    files = [at for at in RegisterFile if named[at] and not trace.code.is_unreadable.any()]
    held = [numbers(found.held[row], at) for at in files]
    free = [tuple(sorted(set(range(named[at])) - set(own))) for at, own in zip(files, held, strict=True)]
    columns: Columns = {
        "file": [FILE_NAMES[at] for at in files],
        "held": [len(own) for own in held],
        "free": [len(own) for own in free],
        "held_registers": _texts(files, held),
        "free_registers": _texts(files, free),
    }
    return ResultTable(PLACE, columns)


def _texts(files: Sequence[RegisterFile], found: Sequence[tuple[int, ...]]) -> list[str]:
    return [ranges_text(own, _LETTERS[at]) for at, own in zip(files, found, strict=True)]
