"""Registers: how many of each file hold values still needed, where the peak is, and which are free."""

import numpy as np

from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.analysis.program import live_registers as live
from rcv_py.analysis.program.registers import register_use
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.places import placed
from rcv_py.results.table import Columns, Form, ResultTable, Schema, Spec

_FILE = kinds.TEXT("file", "VGPR, AGPR or SGPR; VGPR+AGPR: both, which share a file")
_MAX_NEXT = "Most registers that allow the next step of occupancy; null: they are not the limit"
FILES = Spec(
    "registers",
    "One row per register file.",
    "register file",
    _FILE,
    kinds.COUNT("peak", "Maximum of registers that must be held at a time"),
    kinds.ROW.maybe("instruction", "Index of the first instruction with that many", "at"),
    kinds.COUNT("named", "Registers that the program names: the highest number plus one"),
    kinds.COUNT.maybe("allocated", "Registers allocated to a wave; null if no table gives them"),
    kinds.COUNT.maybe("most_for_next_step", _MAX_NEXT, "for the next step"),
    kinds.COUNT.maybe(
        "instructions_above", "Instructions that hold more than that at a time", "instructions above"
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
    nothing=common.NO_INSTRUCTIONS,
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
SCHEMA = Schema(
    "registers",
    "Registers that hold values still needed, and where the most do.",
    forms=(
        Form("Register files.", (*FACTS, FILES.field())),
        Form("Instructions: --by instruction.", (common.CAPTURE, ROWS.field())),
        Form("What is held at an instruction: --line.", (common.CAPTURE, *common.PLACE, PLACE.field())),
        Form("Instructions of a program that has not run.", (common.CAPTURE, PROGRAM_ROWS.field())),
    ),
    version=1,
)
METHOD = (
    "Live ranges over the control-flow graph, from instruction texts; calls of other "
    "functions are not followed."
)


def _main_kernel(trace: Trace) -> tuple[slice, tuple[int, int, int]]:
    """The rows of the kernel with most traced cycles, and how many registers of each file it names."""
    kernel = trace.code.main_kernel
    rows = slice(0, len(trace.code)) if kernel is None else slice(kernel.first, kernel.stop)
    use = register_use(trace.code, rows.start, rows.stop)
    return rows, (use.vector, use.accumulation, use.scalar)


def register_facts(limits: OccupancyLimits) -> dict[str, str]:
    """Return the facts about all files."""
    return {"next_step": limits.next_step, "method": METHOD}


def file_table(trace: Trace, found: live.LiveRegisters, limits: OccupancyLimits) -> ResultTable:
    """Return one row per register file that the kernel with most traced cycles uses."""
    rows, named = _main_kernel(trace)
    if trace.code.is_unreadable[rows].any():
        return ResultTable.of_rows(FILES, [])
    known = {limit.name: limit for limit in limits.limits}
    vector, scalar = known.get("vector registers"), known.get("scalar registers")
    is_shared = limits.device.is_unified and named[live.RegisterFile.AGPR] > 0
    files = [(name, (live.RegisterFile(at),)) for at, name in enumerate(live.FILE_NAMES) if named[at]]
    shared = [("VGPR+AGPR", (live.RegisterFile.VGPR, live.RegisterFile.AGPR))] if is_shared else []
    made = []
    for name, of in (*files, *shared):
        at = found.peak(*of, first=rows.start, stop=rows.stop)
        held = found.pressure[rows, list(of)].sum(axis=1)
        limit = scalar if name == "SGPR" else vector if (name == "VGPR+AGPR") == is_shared else None
        is_table = limit is not None and not limit.source.startswith("guess")
        most = limit.max_used if limit is not None and limit.excess else -1
        allocated = limit.allocated if limit is not None and is_table else -1
        above = int(np.count_nonzero(held > most)) if most >= 0 else -1
        place = trace.code.text[at] if at >= 0 else "", source_of(trace, at)
        numbers = (int(held.max(initial=0)), at, sum(named[one] for one in of), allocated, most, above)
        made.append((name, *numbers, *place))
    return ResultTable.of_rows(FILES, made)


def instruction_table(trace: Trace, found: live.LiveRegisters) -> ResultTable:
    """Return one row per instruction of the program, without labels; none if they are not known."""
    is_known = not trace.code.is_unreadable.any()  # any instruction may use a value
    rows = np.flatnonzero(~trace.code.is_label & is_known)
    held = {f"{name.lower()}s": found.pressure[rows, at] for at, name in enumerate(live.FILE_NAMES)}
    columns: Columns = {**placed(trace, rows), **held}
    if trace.is_static:
        return ResultTable(PROGRAM_ROWS, columns)
    return ResultTable(ROWS, {**columns, "hits": trace.code.hits[rows]})


def place_table(trace: Trace, found: live.LiveRegisters, row: int) -> ResultTable:
    """Return which registers are held and which are free at an instruction; no row if it is not known."""
    named, made = _main_kernel(trace)[1], []
    for at, letter in zip(live.RegisterFile, "vas", strict=True):
        if named[at] and not trace.code.is_unreadable.any():
            held = live.numbers(found.held[row], at)
            free = tuple(sorted({*range(named[at])}.difference(held)))
            texts = live.ranges_text(held, letter), live.ranges_text(free, letter)
            made.append((live.FILE_NAMES[at], len(held), len(free), *texts))
    return ResultTable.of_rows(PLACE, made)
