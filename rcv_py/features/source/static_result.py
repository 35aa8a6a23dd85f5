"""Source lines of a program that has not run: how many instructions each became."""

import numpy as np

from rcv_py.analysis.program.live_registers import RegisterFile, live_registers
from rcv_py.features.source.result import INSTRUCTIONS, LINES, text_of
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.places import placed
from rcv_py.results.table import Columns, ResultTable, Schema, Spec, form

PROGRAM_LINES = Spec(
    "source program",
    "Source lines of a program that has not run, most instructions first; instructions count for the "
    "innermost line that they were inlined from.",
    "source line",
    kinds.SOURCE("file", "Path of the file"),
    LINES["source_line"],
    LINES["instructions"],
    kinds.COUNT.maybe("vgprs", "Vector registers that must be held there, at most", "VGPRs"),
    LINES["text"],
    nothing="No instruction has a source place: compile with line tables (-g, -gline-tables-only).",
)
PROGRAM_INSTRUCTIONS = Spec(
    "source program instructions",
    "Instructions of a line, and of what was inlined into it, in the order of the program.",
    "instruction",
    *(INSTRUCTIONS[name] for name in ("instruction", "text")),
    common.SOURCE_PLACE,
    nothing="No instruction comes from this line.",
)
SCHEMA = Schema(
    "source.program",
    "Source lines of a program that has not run, or the instructions of a line.",
    forms=(
        form("Lines.", (common.CAPTURE,), "kind", "lines", PROGRAM_LINES),
        form("Instructions of a line.", (common.CAPTURE,), "kind", "instructions", PROGRAM_INSTRUCTIONS),
    ),
)


def program_lines(trace: Trace, file: int, line: int) -> ResultTable:
    """Return one row per line of a file (-1: of all), or per instruction that a line (0: none) leads to."""
    code = trace.code
    if line:
        here = np.flatnonzero((code.chain_file == file) & (code.chain_line == line))
        rows = np.unique(np.searchsorted(code.chain_first, here, side="right") - 1)
        return ResultTable(PROGRAM_INSTRUCTIONS, placed(trace, rows[~code.is_label[rows]]))
    rows = np.flatnonzero((code.leaf >= 0) & ~code.is_label)
    files, numbers = code.chain_file[code.leaf[rows]], code.chain_line[code.leaf[rows]]
    kept = (files == file) | (file < 0)
    rows, key = rows[kept], files[kept].astype(np.int64) << 32 | numbers[kept]
    places, of, count = np.unique(key, return_inverse=True, return_counts=True)
    held = np.zeros(len(places), dtype=np.float64)
    if code.is_unreadable.any():
        held[:] = np.nan
    else:
        np.maximum.at(held, of.reshape(-1), live_registers(code).pressure[rows, RegisterFile.VGPR])
    order = np.argsort(-count, kind="stable")
    file_of, line_of = (places >> 32)[order].tolist(), (places & 0xFFFFFFFF)[order].tolist()
    columns: Columns = {
        "file": [trace.sources[one].path for one in file_of],
        "source_line": line_of,
        "instructions": count[order],
        "vgprs": held[order],
        "text": [text_of(trace, *one) for one in zip(file_of, line_of, strict=True)],
    }
    return ResultTable(PROGRAM_LINES, columns)
