"""The most expensive code lines, source lines, kinds or classes of instruction."""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.cost.explorer import NO_SOURCE
from rcv_py.analysis.cost.place_text import leaf_texts, line_text
from rcv_py.analysis.program import instruction_classes as classes
from rcv_py.base.record import Value
from rcv_py.base.runs import distinct
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.model.modes import SUMS

BY = ("instruction", "source", "kind", "class")


class Ranked(Value):
    """A row of the ranking; `share` is its part of the sorted column, 0 to 1."""

    name: str  # "line 62", "path:258", "VALU" or "WAIT_LOAD"
    text: str  # of the instruction or source line, or the meaning of the kind or class
    line: int  # row of the code table, -1 unless ranked by line
    rows: int  # number of code lines in it
    hits: int
    latency: int
    stall: int
    idle: int
    share: float
    source: str  # "path:258" of the line, "" if there is none


def ranking(
    code: CodeTable, sources: Sequence[SourceFile], costs: CostColumns, by: str = BY[0], sort: str = "latency"
) -> tuple[Ranked, ...]:
    """Return all rows whose `sort` column is not zero, the largest first, ties in program order.

    By source, a code line counts for its innermost place; by kind or class, for the kind of its mnemonic.
    """
    group, n = _groups(code, by)
    places = leaf_texts(code, sources)
    member = np.flatnonzero(group >= 0)
    first = np.full(n, len(code), dtype=np.int64)
    np.minimum.at(first, group[member], member)
    columns = {name: sums(group[member], getattr(costs, name)[member], n) for name in SUMS}
    size = np.bincount(group[member], minlength=n)
    order = np.lexsort((first, -columns[sort]))
    whole = max(int(columns[sort].sum()), 1)

    def row(number: int) -> Ranked:
        at = int(first[number])
        name: str
        if by == "instruction":
            name, text = Message("instruction {0}", at), code.text[at]
        elif by == "source":
            leaf = int(code.leaf[at])
            place = (int(code.chain_file[leaf]), int(code.chain_line[leaf])) if leaf >= 0 else (-1, -1)
            name, text = places[at] or NO_SOURCE, line_text(sources, *place)
        elif by == "kind":
            name, text = TokenKind(number).name, KIND_TEXT[TokenKind(number)]
        else:
            one = classes.InstructionClass(number)
            name, text = one.name, one.text
        return Ranked(
            name=name,
            text=text,
            line=at if by == "instruction" else -1,
            rows=int(size[number]),
            **{name: int(column[number]) for name, column in columns.items()},
            share=int(columns[sort][number]) / whole,
            source=places[at] if by == "instruction" else "",
        )

    return tuple(row(number) for number in order[columns[sort][order] > 0].tolist())


def _groups(code: CodeTable, by: str) -> tuple[np.ndarray, int]:
    """Return the group of each code row, -1 for labels, and the number of groups."""
    if by == "instruction":
        group, n = np.arange(len(code)), len(code)
    elif by == "source":
        leaf = np.where(code.leaf >= 0, code.leaf, len(code.chain_file))
        file, line = (np.append(column, -1).astype(np.int64) for column in (code.chain_file, code.chain_line))
        places, group = distinct(file[leaf], line[leaf])
        n = len(places)
    elif by == "kind":
        group, n = np.where(code.kind < KIND_COUNT, code.kind, TokenKind.NONE).astype(np.int64), KIND_COUNT
    else:
        group, n = classes.instruction_classes(code).astype(np.int64), classes.CLASS_COUNT
    return np.where(code.is_label, -1, group), n
