"""Flamegraphs: nested frames, and a place with its callers and callees."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.flame import flame_layout
from rcv_py.analysis.flame.flame import FlameTree, Metric, What
from rcv_py.analysis.flame.flame_frames import CONTENTS, METRICS
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX
from rcv_py.results.field import Field
from rcv_py.results.table import ResultTable, Schema, Spec

_COST = replace(kinds.WHOLE, ending=", in the unit.")
_SELF = _COST("self", "Own part of the frame, without its children")
_NAMES = (
    kinds.TEXT("what", "Kind of the frame, such as file, source or instruction"),
    kinds.NOTE("name", "Label of the frame"),
    kinds.TEXT("full_name", "Unabbreviated label"),
    replace(INSTRUCTION_INDEX, is_unknown=True),
    kinds.SOURCE("source", "Place of an instruction or a source line as file:line; empty for other frames"),
)
_BEGIN = Field("start", replace(kinds.SIGNED_INDEX, ending=", in the unit."), "Left edge")
FRAMES = Spec(
    "flame",
    "Frames row by row, from left to right.",
    "frame",
    *_NAMES,
    kinds.ROW.maybe("parent", "Index of the parent in this list; null for the outermost"),
    kinds.COUNT("depth", "Enclosing frames"),
    _BEGIN,
    _SELF,
    _COST("total", "The frame with its children"),
)
SANDWICH = Spec(
    "flame sandwich",
    "Frames row by row, the topmost row first, from left to right.",
    "frame",
    *_NAMES,
    kinds.ROW.maybe("parent", "Index of the adjacent frame toward the place; null for the place"),
    kinds.SIGNED_INDEX("depth", "Rows below the place; negative for frames that lead to it"),
    _BEGIN,
    _COST(
        "self",
        "Own part of the frame, without the frames below it; above the place, the part without a frame "
        "further up",
    ),
    _COST("total", "Value of the paths through both the frame and the place"),
)
MEASURED = (
    Field("metric", kinds.choice(*METRICS), "What is measured"),
    Field("order", kinds.choice(*(order.value for order in flame_layout.SiblingOrder)), "Order of siblings"),
    Field("unit", kinds.choice("cycles", "samples", "executions"), "What the numbers count"),
)
FACTS = (
    CAPTURE,
    Field("content", kinds.choice(*CONTENTS), "What frames are"),
    *MEASURED,
    _COST.maybe("total", "Sum over the frames without a parent; null without instructions"),
)
SANDWICH_FACTS = (
    CAPTURE,
    Field("content", kinds.fixed("sandwich"), "What frames are"),
    *MEASURED,
    _COST("total", "Sum over the paths through the place"),
)
SCHEMA = Schema(
    "flame", "A flamegraph: nested frames, parents before children.", (*FACTS, FRAMES.field("frames"))
)
SANDWICH_SCHEMA = Schema(
    "flame.sandwich",
    "A place with what leads to it above and what it leads to below (--content sandwich --around).",
    (*SANDWICH_FACTS, SANDWICH.field("frames")),
)


def frames(trace: Trace, tree: FlameTree, metric: Metric, order: flame_layout.SiblingOrder) -> ResultTable:
    """Return one row per frame, outer frames first; `parent` is the row of the enclosing frame."""
    texts = flame_layout.labels(trace, tree)
    return placed(trace, tree, metric, flame_layout.layout(tree, metric, order, texts), texts)


def placed(
    trace: Trace,
    tree: FlameTree,
    metric: Metric,
    boxes: flame_layout.FlameLayout,
    texts: Sequence[str],
    *,
    spec: Spec = FRAMES,
) -> ResultTable:
    """Return the same for frames that already have places."""
    shown = visible_frames(boxes)
    row = np.full(len(tree.parent) + 1, -1, dtype=np.int64)  # of each frame; the last one is none
    row[shown] = np.arange(len(shown))
    columns = {
        "what": [What(what).name.lower() for what in tree.what[shown].tolist()],
        "instruction": np.maximum(tree.code_row[shown], -1),
        "parent": row[np.maximum(tree.parent[shown], -1)],
        "depth": boxes.row[shown],
        "start": boxes.begin[shown],
        "self": tree.own[shown, metric.value],
        "total": boxes.width[shown],
    }
    return ResultTable(spec, frame_names(trace, tree, shown, texts) | columns)


def visible_frames(boxes: flame_layout.FlameLayout) -> np.ndarray:
    """Return the frames that have a width, row by row from left to right; int64."""
    shown = np.flatnonzero(boxes.width > 0)
    return shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]


def frame_names(
    trace: Trace, tree: FlameTree, frames: np.ndarray, texts: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Return the columns of some frames that name them."""
    rows = frames.tolist()
    return {
        "name": [texts[row] for row in rows],
        "full_name": [flame_layout.full_name(trace, tree, row, texts[row]) for row in rows],
        "source": [flame_layout.frame_source(trace, tree, row) for row in rows],
    }


def at_least(table: ResultTable, total: float) -> ResultTable:
    """Return the frames with at least this total, and all frames that enclose them."""
    keep = np.flatnonzero(np.asarray(table.columns["total"]) >= total)
    row = np.full(len(table) + 1, -1, dtype=np.int64)
    row[keep] = np.arange(len(keep))
    kept = table[keep]
    return ResultTable(table.spec, {**kept.columns, "parent": row[np.asarray(kept.columns["parent"])]})
