"""The flamegraph as the reference viewer lays it out, frame by frame: to compare with, not to look at.

It differs from ours in five ways.  Only files with a copy count as places; what is left is named after the
source text, or `[Unassigned]`, and then has no instructions.  Instructions with equal text below one place
are one frame.  They stand behind the places, in the order of the program.  Widths are shares in floating
point.  Colours are fixed.  Places of equal weight stand as the sort of its C++ library leaves them when they
come in the order of their names.

A source text longer than 32 characters was cut to its end before a name is taken from it.  The text is put
together again from the chain here; a chain that spelled its unknown line otherwise than `?` cannot be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Stacks, What, fold, key
from rcv_py.base.colors import PRESETS
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.waves import WaveBatch
from tests.real.introsort import introsorted

UNASSIGNED = "[Unassigned]"
_KEPT = 32  # characters of a source text
_SHOWN, _TOTAL = 0, 1  # columns

# Roots of the reference viewer's flamegraphs, one after the other: only to compare with.
REFERENCE_FLAMES = (
    "#4060d0",
    "#9040c0",
    "#c03060",
    "#3080b0",
    "#a030a0",
    "#206090",
    "#b04080",
    "#5050c0",
    "#803030",
    "#307070",
)


@dataclass(frozen=True, eq=False)
class ReferenceFrames:
    """One row a frame, in the order of drawing: a frame, then everything on it, then its right neighbour."""

    row: np.ndarray  # int32, 0 for files, growing upwards
    label: tuple[str, ...]
    location: tuple[str, ...]  # "" for instructions
    latency: np.ndarray  # int64, what is shown
    total: np.ndarray  # int64, with what is hidden
    x: np.ndarray  # float64, share of the whole
    width: np.ndarray  # float64
    color: tuple[str, ...]
    source_line: np.ndarray  # int32, 0-based; -1 if it is no source line
    code_row: np.ndarray  # int64, the first instruction that was merged; -1 if it is none


def main_kinds(batches: Iterable[WaveBatch], n: int) -> np.ndarray:
    """Return the kind with most latency over loaded tokens of each code row, uint8; NONE if it never ran."""
    cycles = np.zeros(n * KIND_COUNT)
    for batch in batches:
        known = np.flatnonzero((batch.line >= 0) & (batch.kind < KIND_COUNT))
        at = batch.line[known].astype(np.int64) * KIND_COUNT + batch.kind[known]
        duration = batch.stall[known].astype(np.int64) + batch.busy[known]
        cycles += np.bincount(at, weights=duration, minlength=len(cycles))
    return cycles.reshape(n, KIND_COUNT).argmax(axis=1).astype(np.uint8)


def reference_frames(
    code: CodeTable,
    sources: Sequence[SourceFile],
    cost: np.ndarray,
    kind: np.ndarray,
    hidden: np.ndarray | None = None,
) -> ReferenceFrames:
    """Return the frames; `cost` is int64 latency plus idle a row, `kind` the kind that colours each row.

    With `hidden` (int64 a row, clamped) what is left of the cost is shown.
    """
    shown = cost if hidden is None else cost - hidden
    rows = np.flatnonzero((shown > 0) & ~code.is_label)
    stacks, names = _stacks(code, sources, rows, np.stack([shown, cost], axis=1))
    tree = fold(stacks, names)
    return _drawn(tree, sources, code, kind, _places(tree, sources))


def _stacks(
    code: CodeTable, sources: Sequence[SourceFile], rows: np.ndarray, cost: np.ndarray
) -> tuple[Stacks, tuple[str, ...]]:
    names: dict[str, int] = {}
    texts: dict[str, int] = {}
    stacks = []
    for row in rows.tolist():
        chain = code.chain(row)
        found = [place for place in chain[::-1] if _is_resolved(sources, *place)]
        if found:
            head = [int(key(What.FILE, found[0][0])), *(int(key(What.LINE, *place)) for place in found)]
        else:
            name = _textual_root(chain, sources)
            at = names.setdefault(name, len(names))
            head = [int(key(What.MARKER, 0, at)), int(key(What.MARKER, 1, at))]
        if found or name != UNASSIGNED:
            head.append(int(key(What.CODE, 0, texts.setdefault(code.text[row], len(texts)))))
        stacks.append(head)
    first = np.cumsum([0, *map(len, stacks)]).astype(np.int64)
    element = np.array([one for stack in stacks for one in stack], dtype=np.int64)
    return Stacks(first, element, cost[rows], rows), tuple(names)


def _is_resolved(sources: Sequence[SourceFile], file: int, line: int) -> bool:
    lines = sources[file].lines
    return lines is not None and 1 <= line <= len(lines)


def _textual_root(chain: list[tuple[int, int]], sources: Sequence[SourceFile]) -> str:
    text = " -> ".join(f"{sources[file].path}:{line or '?'}" for file, line in chain)
    if len(text) > _KEPT:
        text = "[...]" + text[-_KEPT:]
    return text.rsplit(" -> ", 1)[-1].rpartition(":")[0] or UNASSIGNED


def _places(tree: FlameTree, sources: Sequence[SourceFile]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, width and the rank in the order of drawing of each frame."""
    weight = tree.total[:, _SHOWN].astype(np.float64)
    x, width = np.zeros(len(tree)), np.zeros(len(tree))
    exact = np.zeros(len(tree), dtype=np.int64)
    locations, whole = _locations(tree, sources), float(weight[tree.depth == 0].sum())
    for parent in range(-1, len(tree)):
        at, cycles = (x[parent], exact[parent]) if parent >= 0 else (0.0, 0)
        share, of = (width[parent], weight[parent]) if parent >= 0 else (1.0, whole)
        for frame in _children(tree, parent, locations):
            x[frame], exact[frame] = at, cycles
            width[frame] = share * weight[frame] / of
            at, cycles = at + width[frame], cycles + tree.total[frame, _SHOWN]
    return x, width, np.lexsort((tree.depth, exact))


def _children(tree: FlameTree, parent: int, locations: Sequence[str]) -> list[int]:
    """Return the frames on one, or the roots: places by weight, then instructions in program order."""
    frames = np.flatnonzero(tree.parent == parent)
    frames = frames[np.argsort(tree.order[frames], kind="stable")]
    is_code = tree.what[frames] == What.CODE
    places = np.array(sorted(frames[~is_code].tolist(), key=locations.__getitem__), dtype=np.int64)
    heavy = introsorted(tree.total[places, _SHOWN].tolist())
    return [*places[heavy].tolist(), *frames[is_code].tolist()]


def _drawn(
    tree: FlameTree,
    sources: Sequence[SourceFile],
    code: CodeTable,
    kind: np.ndarray,
    places: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> ReferenceFrames:
    x, width, drawn = places
    whole = max(int(tree.total[tree.depth == 0, _SHOWN].sum()), 1)
    locations = _locations(tree, sources)
    label, location, color = [], [], []
    roots = 0
    for frame in drawn.tolist():
        what = int(tree.what[frame])
        row = int(tree.order[frame])
        location.append(locations[frame])
        label.append(code.text[row] if what == What.CODE else locations[frame].rsplit("/", 1)[-1])
        if what == What.CODE:
            color.append(PRESETS["reference"]["token_kinds"][TokenKind(int(kind[row])).name].dark)
        elif tree.depth[frame] == 0:
            color.append(REFERENCE_FLAMES[roots % len(REFERENCE_FLAMES)])
            roots += 1
        else:
            color.append(_line_color(int(tree.total[frame, _SHOWN]) / whole))
    is_line, is_code = tree.what == What.LINE, tree.what == What.CODE
    return ReferenceFrames(
        tree.depth[drawn],
        tuple(label),
        tuple(location),
        tree.total[drawn, _SHOWN],
        tree.total[drawn, _TOTAL],
        x[drawn],
        width[drawn],
        tuple(color),
        np.where(is_line, tree.second - 1, -1)[drawn].astype(np.int32),
        np.where(is_code, tree.order, -1)[drawn],
    )


def _locations(tree: FlameTree, sources: Sequence[SourceFile]) -> list[str]:
    """Return what names each frame that is no instruction, and after which equal ones are sorted."""
    found = []
    for what, first, second in zip(
        tree.what.tolist(), tree.first.tolist(), tree.second.tolist(), strict=True
    ):
        name = tree.names[second] if what == What.MARKER else "" if what == What.CODE else sources[first].path
        found.append(name + {What.LINE: f":{second}", What.MARKER: ":?" * first}.get(What(what), ""))
    return found


def _line_color(share: float) -> str:
    heat = min(1.0, 5 * share)
    return f"#{int(100 + 120 * heat):02x}{int(60 + 20 * heat):02x}{int(160 + 60 * heat):02x}"
