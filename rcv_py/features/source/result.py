"""Costs of source files and lines, or of the instructions of a line."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.source_costs import Reasons, SourceLines, code_rows, source_lines
from rcv_py.base.text import short_paths
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, PEOPLE, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Column, Columns, ResultTable, Schema, Spec, form

_CAUSE = kinds.NOTE("cause", "What most of its stall waits for; empty if it has none or causes were not read")
_OF_FILE = "Line of the source file, counted from 1; 0 for code of the compiler's own"
_LINE = kinds.INDEX("source_line", _OF_FILE, "line")
_INSTRUCTIONS = kinds.COUNT("instructions", "Instructions of the program", title="ISA")
FILES = Spec(
    "source files",
    "Source files by what they cost.",
    "file",
    kinds.SOURCE("file", "Path of the file"),
    kinds.COUNT("source_lines", "Lines with instructions", "lines"),
    _INSTRUCTIONS,
    *common.COSTS,
    common.COST_SHARE,
    _CAUSE,
    replace(_LINE, name="hottest_source_line", title="hottest", is_unknown=True),
    kinds.TEXT("note", "Why its text is missing; empty if it is not", at=DATA),
)
LINES = Spec(
    "source lines",
    "Lines of the file by what they cost: with a file as PLACE.",
    "source_line",
    _LINE,
    _INSTRUCTIONS,
    *common.COSTS,
    common.COST_SHARE,
    _CAUSE,
    kinds.CODE("text", "Text of the line; empty if it is missing"),
)
INSTRUCTIONS = Spec(
    "source instructions",
    "Instructions of the line by what they cost: with a line as PLACE.",
    "instruction",
    common.INSTRUCTION_INDEX,
    *common.COSTS,
    common.COST_SHARE,
    _CAUSE,
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
    kinds.TEXT("frames", "Source places as file:line, the innermost first, joined by arrows", at=DATA),
    kinds.CODE("inlined_into", "Places that the innermost place was inlined into", at=PEOPLE),
)
FORMS = {"files": FILES, "lines": LINES, "instructions": INSTRUCTIONS}
FACTS = (
    common.CAPTURE,
    *unknown(kinds.TEXT("file", "The source file that was chosen; null for all"), replace(_LINE)),
    kinds.FLAG("is_inlined", "Whether a line includes code that was inlined into it"),
    common.MEASURE,
    kinds.WHOLE.maybe("total", "Latency and idle time of all instructions in cycles; PC samples in samples"),
    kinds.WHOLE.maybe("unmapped", "Part of it without a source place, in the same unit"),
    common.TOTAL_ROWS,
)
SCHEMA = Schema(
    "source",
    "What source files and lines cost, or the instructions of a line.",
    forms=tuple(form(spec.row, FACTS, "kind", kind, spec) for kind, spec in FORMS.items()),
)


def file_table(
    trace: Trace, costs: CostColumns, lines: SourceLines, how: SourceCost, why: Reasons | None
) -> ResultTable:
    """Return one row per file with a cost, the costliest first; `lines` are all source lines."""
    found = source_lines(trace.code, costs, how, why, by_file=True)
    rows = found.ranked()
    files = [int(found.file[row]) for row in rows]
    best = [next(iter(lines.ranked(file)), None) for file in files]
    columns: Columns = {
        "file": [trace.sources[file].path for file in files],
        "source_lines": [len(lines.lines_of(file)) for file in files],
        **_numbers(found, rows),
        "hottest_source_line": [np.nan if row is None else int(lines.line[row]) for row in best],
        "note": [trace.sources[file].note for file in files],
    }
    return ResultTable(common.measured_in(FILES, costs.label), columns)


def line_table(trace: Trace, costs: CostColumns, lines: SourceLines, rows: Sequence[int]) -> ResultTable:
    """Return these rows of the source lines."""
    columns = {
        "source_line": [int(lines.line[row]) for row in rows],
        **_numbers(lines, rows),
        "text": [text_of(trace, int(lines.file[row]), int(lines.line[row])) for row in rows],
    }
    return ResultTable(common.measured_in(LINES, costs.label), columns)


def instruction_table(
    trace: Trace, costs: CostColumns, place: tuple[int, int], how: SourceCost, why: Reasons | None
) -> ResultTable:
    """Return the instructions of a source line, a file and a line of it, the most expensive first."""
    code = trace.code
    rows = code_rows(code, *place, how)
    rows = rows[np.argsort(-costs.cost[rows], kind="stable")]
    whole = max(1, int(costs.cost[~code.is_label].sum()))
    short = short_paths(source.path for source in trace.sources)
    chains = [[(trace.sources[at].path, line) for at, line in code.chain(row)] for row in rows.tolist()]
    outer = [[f"{short.get(path, path)}:{line}" for path, line in chain[1:]] for chain in chains]
    columns: Columns = {
        **placed(trace, rows),
        "share_of_total": costs.cost[rows] / whole,
        "cause": [_cause(why, row) for row in rows.tolist()],
        "frames": [" -> ".join(f"{path}:{line}" for path, line in chain) for chain in chains],
        "inlined_into": [*map(" ← ".join, outer)],
    }
    return ResultTable.of(common.measured_in(INSTRUCTIONS, costs.label), costs.at(rows), columns)


def text_of(trace: Trace, file: int, line: int) -> str:
    """Return the text of a source line, "" if the capture has no copy."""
    lines = trace.sources[file].lines
    return lines[line - 1] if lines is not None and 1 <= line <= len(lines) else ""


def _numbers(found: SourceLines, rows: Sequence[int]) -> dict[str, Column | Sequence[Any]]:
    at = np.array(rows, dtype=np.int64)
    return {
        "instructions": found.rows[at],
        **{name: getattr(found, name)[at] for name in common.SUMS},
        "share_of_total": found.cost[at] / max(1, found.whole),
        "cause": [found.reason_of(row) for row in rows],
    }


def _cause(why: Reasons | None, row: int) -> str:
    if why is None or not why.amount[row].any():
        return ""
    return why.names[int(why.amount[row].argmax())]
