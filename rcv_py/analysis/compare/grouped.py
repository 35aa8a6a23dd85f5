"""What rows of a comparison are summed by: source lines, basic blocks, classes of instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.compare.align import Alignment
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.program.blocks import Blocks, blocks
from rcv_py.analysis.program.instruction_classes import CLASS_TEXT, InstructionClass, instruction_classes
from rcv_py.model.code import CodeTable, SourceFile

NO_SOURCE = "no source line"
ONLY_A = " (A)"


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the rows of a listing."""

    of: np.ndarray  # int64 [rows], the group; -1 counts nowhere
    names: tuple[str, ...]
    texts: tuple[str, ...]  # what a source line says, or a class means; "" otherwise


def by_source(a: CaptureCosts, b: CaptureCosts, found: Alignment) -> Groups:
    """Group by the innermost source line in B; removed rows by the line of B with the text of theirs."""
    row_a, row_b = found.listing
    of_a, places_a = _leaves(a.code)
    of_b, places_b = _leaves(b.code)
    there = _same_lines(a.sources, b.sources, places_a, places_b)
    group_b = np.where(row_b >= 0, np.append(of_b, -1)[row_b], -1)
    group_a = np.where((row_a >= 0) & (group_b < 0), np.append(of_a, -1)[row_a], -1)
    mapped = np.where(group_a >= 0, np.append(there, -1)[group_a], -1)
    alone = np.where((group_a >= 0) & (mapped < 0), len(places_b) + group_a, -1)
    nowhere = len(places_b) + len(places_a)
    of = np.max([group_b, mapped, alone], axis=0)
    of = np.where(_is_label(a, b, row_a, row_b), -1, np.where(of < 0, nowhere, of))
    names = [
        *(_place(b.sources, place) for place in places_b),
        *(_place(a.sources, place) + ONLY_A for place in places_a),
        NO_SOURCE,
    ]
    texts = [
        *(_text(b.sources, place) for place in places_b),
        *(_text(a.sources, place) for place in places_a),
        "",
    ]
    return _dense(of, names, texts)


def by_block(a: CaptureCosts, b: CaptureCosts, found: Alignment) -> Groups:
    """Group by the basic block of B; removed rows with the block that most of their block went to."""
    row_a, row_b = found.listing
    table_a, table_b = blocks(a.code), blocks(b.code)
    went = _majority(table_a, table_b, found.to_b)
    at_a = np.append(table_a.of_row, 0)[row_a]
    mapped = np.where(went[at_a] >= 0, went[at_a], len(table_b) + at_a)
    of = np.where(row_b >= 0, np.append(table_b.of_row, 0)[row_b], mapped).astype(np.int64)
    names = [*table_b.name, *(name + ONLY_A for name in table_a.name)]
    return _dense(of, names, [""] * len(names))


def by_class(a: CaptureCosts, b: CaptureCosts, found: Alignment) -> Groups:
    """Group by what instructions do (`InstructionClass`); a pair by what it does in B."""
    row_a, row_b = found.listing
    of_a, of_b = (np.append(instruction_classes(side.code).astype(np.int64), -1) for side in (a, b))
    of = np.where(row_b >= 0, of_b[row_b], of_a[row_a])
    names = [one.name for one in InstructionClass]
    texts = [CLASS_TEXT[one] for one in InstructionClass]
    return _dense(np.where(_is_label(a, b, row_a, row_b), -1, of), names, texts)


GROUPS: dict[str, Callable[[CaptureCosts, CaptureCosts, Alignment], Groups]] = {
    "source": by_source,
    "block": by_block,
    "class": by_class,
}


def _dense(of: np.ndarray, names: Sequence[str], texts: Sequence[str]) -> Groups:
    used, dense = np.unique(of, return_inverse=True)
    shift = 1 if len(used) and used[0] < 0 else 0
    kept = used[shift:].tolist()
    return Groups(dense.reshape(-1) - shift, tuple(names[at] for at in kept), tuple(texts[at] for at in kept))


def _is_label(a: CaptureCosts, b: CaptureCosts, row_a: np.ndarray, row_b: np.ndarray) -> np.ndarray:
    of_a, of_b = np.append(a.code.is_label, False)[row_a], np.append(b.code.is_label, False)[row_b]
    return np.where(row_b >= 0, of_b, of_a)


def _leaves(code: CodeTable) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return the innermost place of each row (int64, -1 for none) and the places as (file, line)."""
    has = code.leaf >= 0
    leaf = code.leaf[has]
    pairs = code.chain_file[leaf].astype(np.int64) << 32 | code.chain_line[leaf]
    places, group = np.unique(pairs, return_inverse=True)
    of = np.full(len(code), -1, dtype=np.int64)
    of[has] = group.reshape(-1)
    return of, [(place >> 32, place & 0xFFFFFFFF) for place in places.tolist()]


def _same_lines(
    sources_a: Sequence[SourceFile],
    sources_b: Sequence[SourceFile],
    places_a: list[tuple[int, int]],
    places_b: list[tuple[int, int]],
) -> np.ndarray:
    """Return the place of B with the file name and text of each place of A, -1 if none; int64."""
    known: dict[tuple[str, str], int] = {}
    for at, place in enumerate(places_b):
        known.setdefault(_identity(sources_b, place), at)
    return np.array([known.get(_identity(sources_a, place), -1) for place in places_a], dtype=np.int64)


def _identity(sources: Sequence[SourceFile], place: tuple[int, int]) -> tuple[str, str]:
    return sources[place[0]].path.rsplit("/", 1)[-1], _text(sources, place) or str(place[1])


def _place(sources: Sequence[SourceFile], place: tuple[int, int]) -> str:
    return f"{sources[place[0]].path}:{place[1]}"


def _text(sources: Sequence[SourceFile], place: tuple[int, int]) -> str:
    lines = sources[place[0]].lines
    return lines[place[1] - 1].strip() if lines is not None and 1 <= place[1] <= len(lines) else ""


def _majority(table_a: Blocks, table_b: Blocks, to_b: np.ndarray) -> np.ndarray:
    """Return the block of B that most paired rows of each block of A went to, -1 for none; int64."""
    went = np.full(len(table_a) + 1, -1, dtype=np.int64)
    rows = np.flatnonzero(to_b >= 0)
    pair = table_a.of_row[rows].astype(np.int64) << 32 | table_b.of_row[to_b[rows]]
    pairs, size = np.unique(pair, return_counts=True)
    order = np.argsort(size, kind="stable")
    went[(pairs >> 32)[order]] = (pairs & 0xFFFFFFFF)[order]
    return went
