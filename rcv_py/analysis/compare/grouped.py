"""Groups for the rows of a comparison: source lines, basic blocks, instruction classes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.compare.align import Alignment
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.instruction_classes import CLASS_TEXT, InstructionClass, instruction_classes

NO_SOURCE = "no source line"
ONLY_A = " (A)"


class Groups(NamedTuple):
    """A partition of the rows of a listing."""

    of: np.ndarray  # int64 [rows], the group; -1 does not count
    names: tuple[str, ...]
    texts: tuple[str, ...]  # text of a source line, or meaning of a class; "" otherwise


def by_source(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by the innermost source line in B; removed rows by the line of B with the same text."""
    row_a, row_b = alignment.listing
    (of_a, lines_a), (of_b, lines_b) = _lines(a), _lines(b)
    # Lines of A without a partner come after the lines of B, and rows without a line after both.
    known = {line.key: at for at, line in reversed(list(enumerate(lines_b)))}
    went = [known.get(line.key, len(lines_b) + at) for at, line in enumerate(lines_a)]
    group_a = np.array([*went, len(lines_b) + len(lines_a)])[np.append(of_a, -1)[row_a]]
    group_b = np.append(of_b, -1)[row_b]
    of = np.where(group_b >= 0, group_b, group_a)
    names = [*(line.place for line in lines_b), *(line.place + ONLY_A for line in lines_a), NO_SOURCE]
    texts = [*(line.text for line in (*lines_b, *lines_a)), ""]
    return _dense(np.where(_is_label(a, b, row_a, row_b), -1, of), names, texts)


def by_block(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by the basic block of B; removed rows by the block that most of their block became."""
    row_a, row_b = alignment.listing
    table_a, table_b = blocks(a.code), blocks(b.code)
    went = np.full(len(table_a) + 1, -1, dtype=np.int64)  # the block of B with most paired rows
    rows = np.flatnonzero(alignment.to_b >= 0)
    pair = table_a.of_row[rows].astype(np.int64) << 32 | table_b.of_row[alignment.to_b[rows]]
    pairs, size = np.unique(pair, return_counts=True)
    order = np.argsort(size, kind="stable")
    went[(pairs >> 32)[order]] = (pairs & 0xFFFFFFFF)[order]
    at_a = np.append(table_a.of_row, 0)[row_a]
    mapped = np.where(went[at_a] >= 0, went[at_a], len(table_b) + at_a)
    of = np.where(row_b >= 0, np.append(table_b.of_row, 0)[row_b], mapped).astype(np.int64)
    names = [*table_b.name, *(name + ONLY_A for name in table_a.name)]
    return _dense(of, names, [""] * len(names))


def by_class(a: CaptureCosts, b: CaptureCosts, alignment: Alignment) -> Groups:
    """Group by `InstructionClass`; a pair by its class in B."""
    row_a, row_b = alignment.listing
    of_a, of_b = (np.append(instruction_classes(side.code).astype(np.int64), -1) for side in (a, b))
    of = np.where(row_b >= 0, of_b[row_b], of_a[row_a])
    names = [group.name for group in InstructionClass]
    texts = [CLASS_TEXT[group] for group in InstructionClass]
    return _dense(np.where(_is_label(a, b, row_a, row_b), -1, of), names, texts)


_Grouping = Callable[[CaptureCosts, CaptureCosts, Alignment], Groups]
GROUPS: dict[str, _Grouping] = {"source": by_source, "block": by_block, "class": by_class}


def _dense(of: np.ndarray, names: Sequence[str], texts: Sequence[str]) -> Groups:
    used, dense = np.unique(of, return_inverse=True)
    shift = 1 if len(used) and used[0] < 0 else 0
    names, texts = (tuple(column[at] for at in used[shift:]) for column in (names, texts))
    return Groups(dense.reshape(-1) - shift, names, texts)


def _is_label(a: CaptureCosts, b: CaptureCosts, row_a: np.ndarray, row_b: np.ndarray) -> np.ndarray:
    of_a, of_b = np.append(a.code.is_label, False)[row_a], np.append(b.code.is_label, False)[row_b]
    return np.where(row_b >= 0, of_b, of_a)


class _Line(NamedTuple):
    place: str  # path:line
    text: str  # "" if the file was not copied
    key: tuple[str, str]  # identifies it in another build: file name, and text or number


def _lines(side: CaptureCosts) -> tuple[np.ndarray, list[_Line]]:
    """Return the innermost source line of each row (int64, -1 for none), and these lines."""
    code, of = side.code, np.full(len(side.code), -1, dtype=np.int64)
    leaf = code.leaf[code.leaf >= 0]
    place = code.chain_file[leaf].astype(np.int64) << 32 | code.chain_line[leaf]
    pairs, group = np.unique(place, return_inverse=True)
    of[code.leaf >= 0] = group.reshape(-1)
    lines = []
    for pair in pairs.tolist():
        source, line = side.sources[pair >> 32], pair & 0xFFFFFFFF
        texts = source.lines or ()
        text = texts[line - 1].strip() if 1 <= line <= len(texts) else ""
        key = source.path.rsplit("/", 1)[-1], text or str(line)
        lines.append(_Line(f"{source.path}:{line}", text, key))
    return of, lines
