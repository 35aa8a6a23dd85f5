"""The most expensive code lines, source lines, kinds or classes of instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns, total
from rcv_py.analysis.cost.explorer import NO_SOURCE
from rcv_py.analysis.program.instruction_classes import (
    CLASS_COUNT,
    CLASS_TEXT,
    InstructionClass,
    instruction_classes,
)
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind

BY = ("line", "source", "kind", "class")
SORT = ("latency", "stall", "idle", "hits")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of the ranking; `share` is its part of the sorted column, 0 to 1."""

    name: str  # "line 62", "path:258", "VALU" or "WAIT_LOAD"
    text: str  # of the instruction or of the source line; what the kind or class is
    line: int  # row of the code table, -1 unless ranked by line
    rows: int  # code lines that it stands for
    hits: int
    latency: int
    stall: int
    idle: int
    share: float
    source: str  # "path:258" of the line, "" if there is none


def ranking(
    code: CodeTable,
    sources: Sequence[SourceFile],
    costs: CostColumns,
    by: str = "line",
    sort: str = "latency",
) -> tuple[Ranked, ...]:
    """Return all rows whose `sort` column is not zero, the largest first, equal ones in program order.

    By source, a code line is charged to its innermost place; by kind
    or class, to what its mnemonic says.
    """
    group, n = _GROUPS[by](code)
    member = np.flatnonzero(group >= 0)
    first = np.full(n, len(code), dtype=np.int64)
    np.minimum.at(first, group[member], member)
    columns = {name: total(group[member], getattr(costs, name)[member], n) for name in SORT}
    size = np.bincount(group[member], minlength=n)
    order = np.lexsort((first, -columns[sort]))
    whole = max(int(columns[sort].sum()), 1)

    def row(number: int) -> Ranked:
        name, text, line = _names(code, sources, by, number, int(first[number]))
        return Ranked(
            name=name,
            text=text,
            line=line,
            rows=int(size[number]),
            hits=int(columns["hits"][number]),
            latency=int(columns["latency"][number]),
            stall=int(columns["stall"][number]),
            idle=int(columns["idle"][number]),
            share=int(columns[sort][number]) / whole,
            source=_place(code, sources, int(first[number])) if by == "line" else "",
        )

    return tuple(row(number) for number in order[columns[sort][order] > 0].tolist())


def _by_line(code: CodeTable) -> tuple[np.ndarray, int]:
    return np.where(code.is_label, -1, np.arange(len(code))), len(code)


def _by_source(code: CodeTable) -> tuple[np.ndarray, int]:
    place = np.full(len(code), -1, dtype=np.int64)
    has = code.leaf >= 0
    leaf = code.leaf[has]
    place[has] = code.chain_file[leaf].astype(np.int64) << 32 | code.chain_line[leaf]
    places, group = np.unique(place, return_inverse=True)
    return np.where(code.is_label, -1, group.reshape(-1)), len(places)


def _by_kind(code: CodeTable) -> tuple[np.ndarray, int]:
    kind = np.where(code.kind < KIND_COUNT, code.kind, TokenKind.NONE).astype(np.int64)
    return np.where(code.is_label, -1, kind), KIND_COUNT


def _by_class(code: CodeTable) -> tuple[np.ndarray, int]:
    return np.where(code.is_label, -1, instruction_classes(code).astype(np.int64)), CLASS_COUNT


_GROUPS = {"line": _by_line, "source": _by_source, "kind": _by_kind, "class": _by_class}


def _names(
    code: CodeTable, sources: Sequence[SourceFile], by: str, group: int, row: int
) -> tuple[str, str, int]:
    if by == "line":
        return f"line {row}", code.text[row], row
    if by == "kind":
        return TokenKind(group).name, KIND_TEXT[TokenKind(group)], -1
    if by == "class":
        return InstructionClass(group).name, CLASS_TEXT[InstructionClass(group)], -1
    return _place(code, sources, row) or NO_SOURCE, _source_text(code, sources, row), -1


def _place(code: CodeTable, sources: Sequence[SourceFile], row: int) -> str:
    leaf = int(code.leaf[row])
    if leaf < 0:
        return ""
    return f"{sources[int(code.chain_file[leaf])].path}:{int(code.chain_line[leaf])}"


def _source_text(code: CodeTable, sources: Sequence[SourceFile], row: int) -> str:
    leaf = int(code.leaf[row])
    lines = sources[int(code.chain_file[leaf])].lines if leaf >= 0 else None
    line = int(code.chain_line[leaf]) if leaf >= 0 else 0
    return lines[line - 1].strip() if lines is not None and 1 <= line <= len(lines) else ""
