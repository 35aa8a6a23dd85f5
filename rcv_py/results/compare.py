"""The comparison of two captures: one row an instruction, source line, block or class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rcv_py.analysis.compare.align import FATE_TEXT, Fate
from rcv_py.analysis.compare.changes import Change, side_places
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.flame import compare_flame
from rcv_py.analysis.flame.flame_text import frame_source, full_name
from rcv_py.base.paths import short_paths, short_place
from rcv_py.base.text import percent
from rcv_py.model.trace import Trace
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import (
    COUNT,
    CYCLES,
    FLAG,
    MEAN_CYCLES,
    NOTE,
    RATIO,
    ROW_OR_NONE,
    SHARE,
    SOURCE,
    TEXT,
    Kind,
    choice,
)

UNITS = {"line": "instruction", "source": "source line", "block": "block", "class": "class"}

_ROW = replace(ROW_OR_NONE, text=lambda line: "" if line < 0 else str(line))
_CYCLES = replace(MEAN_CYCLES, digits=3, text=lambda value: f"{value:,.1f}")
_PART = replace(SHARE, text=lambda value: percent(value, 1))


def _noise(row: Mapping[str, Any]) -> str:
    return f"{row['noise']:,.1f}" if row["noise"] is not None and row["is_noise_known"] else "unknown"


_NOISE = Field("noise", _CYCLES, "How far the difference may be off", is_unknown=True)
_REAL = Field("beyond_noise", FLAG, "Whether it is more than noise")
_FIELDS = (
    Field("label", SOURCE, "What the row is called", at=At.TEXT),
    Field("name", TEXT, "What the row is called"),
    Field("text", NOTE, "Instruction or source text"),
    Field("line_a", _ROW, "Row of the program of A; -1 if there is none", "line A"),
    Field("line_b", _ROW, "Row of the program of B; -1 if there is none", "line B"),
    Field("status", TEXT, "What became of it: same, changed, moved, inserted or removed"),
    Field("hits_a", COUNT, "Executions in A", "hits A"),
    Field("hits_b", COUNT, "Executions in B", "hits B"),
    Field("cycles_a", _CYCLES, "A wave of A", "cycles A"),
    Field("cycles_b", _CYCLES, "A wave of B at the executions of A", "cycles B"),
    Field("share_a", _PART, "Part of all cycles of A", "share A"),
    Field("share_b", _PART, "Part of all cycles of B", "share B"),
    Field("delta", replace(_CYCLES, text=lambda value: f"{value:+,.1f}"), "B less A, a wave"),
    Field(
        "ratio",
        replace(RATIO, text=lambda value: f"{100 * value:+.1f} %"),
        "Delta over the cycles of A",
        "delta %",
        at=At.ORDER | At.TEXT,
        is_unknown=True,
    ),
    _NOISE,
    replace(_NOISE, name="noise_text", title="noise ±", at=At.TEXT, of=_noise),
    Field("is_noise_known", FLAG, "Whether noise is not many times what there is", at=At(0)),
    _REAL,
    replace(
        _REAL,
        name="is_real",
        title="beyond noise",
        at=At.TEXT,
        of=lambda row: "yes" if row["beyond_noise"] else "no",
    ),
    replace(
        SOURCE_PLACE,
        name="source_a",
        meaning="Source place of line_a as file:line; empty if there is none",
    ),
    replace(
        SOURCE_PLACE,
        name="source_b",
        meaning="Source place of line_b as file:line; empty if there is none",
    ),
    Field("place", SOURCE, "Source place in B, or in A where B lacks the instruction", "source", at=At.TEXT),
    Field("most", SOURCE, "What changed most in B, and its place", "changed most at", at=At.TEXT),
)
NUMBERS = ("hits_a", "hits_b", "cycles_a", "cycles_b", "delta", "ratio", "noise_text")  # of all tables
_NUMBERS = (*NUMBERS, "share_a", "share_b", "is_real")
_TEXT = {  # what people see, in this order
    "line": ("line_a", "line_b", "status", *_NUMBERS, "text", "place"),
    "source": ("label", *_NUMBERS),
    "block": ("label", *_NUMBERS, "most"),
    "class": ("label", *_NUMBERS, "text", "most"),
}
_TITLES = {"line": {"text": "instruction"}, "class": {"text": "what it is"}}


def _spec(by: str) -> Spec:
    titles = {"label": UNITS[by], **_TITLES.get(by, {})}
    fields = (
        replace(
            field,
            title=titles.get(field.name, field.title),
            at=(field.at & ~At.PEOPLE) | (At.TEXT if field.name in _TEXT[by] else At(0)),
        )
        for field in _FIELDS
    )
    return Spec("compare", "Differences, the largest first.", UNITS[by], tuple(fields), _TEXT[by])


CHANGES = {by: _spec(by) for by in UNITS}


def change_table(found: Comparison, rows: Sequence[Change], by: str) -> Table:
    """Return one row a change; people see source places as short as is unambiguous."""
    short = short_sides(found)
    return Table(
        CHANGES[by],
        {
            "label": [short_place(row.name, short) if by == "source" else row.name for row in rows],
            "name": [row.name for row in rows],
            "text": [row.text for row in rows],
            "line_a": [row.line_a for row in rows],
            "line_b": [row.line_b for row in rows],
            "status": [row.fate for row in rows],
            "hits_a": [row.hits_a for row in rows],
            "hits_b": [row.hits_b for row in rows],
            "cycles_a": [row.cost_a for row in rows],
            "cycles_b": [row.cost_b for row in rows],
            "share_a": [row.share_a for row in rows],
            "share_b": [row.share_b for row in rows],
            "delta": [row.delta for row in rows],
            "ratio": [float("nan") if row.ratio is None else row.ratio for row in rows],
            "noise": [row.noise for row in rows],
            "is_noise_known": [row.is_noise_known for row in rows],
            "beyond_noise": [row.is_real for row in rows],
            "source_a": [row.source_a for row in rows],
            "source_b": [row.source_b for row in rows],
            "place": [short_place(row.source_b or row.source_a, short) for row in rows],
            "most": [_most(row, short) for row in rows],
        },
    )


def _most(row: Change, short: dict[str, str]) -> str:
    """The instruction of B that changed most in a group, and where it is."""
    return f"{row.line_b}  {short_place(row.source_b, short)}".rstrip() if row.line_b >= 0 else ""


# -- both programs, and the flamegraph of B -------------------------------------------------------------

_COST = replace(_CYCLES, text=lambda value: f"{value:,.1f}" if value else "")


def _of_side(name: str, kind: Kind, meaning: str) -> list[Field]:
    return [Field(f"{name}_{side}", kind, meaning.format(side.upper())) for side in "ab"]


_COSTS = (
    Field("cost_a", _COST, "A wave of A", "cost_a"),
    Field("cost_b", _COST, "A wave of B at the executions of A", "cost_b"),
)


def _difference(row: Mapping[str, Any]) -> str:
    difference = row["cost_b"] - row["cost_a"]
    return f"{difference:+,}" if difference else ""


def _indented(row: Mapping[str, Any]) -> str:
    return "  " * row["depth"] + row["name"]


LISTING = Spec(
    "compare listing",
    "One row an instruction or a pair, in the order of B.",
    "instruction",
    (
        *_of_side("line", _ROW, "Row of the program of {}; -1 if there is none"),
        Field("status", TEXT, "What became of it: same, changed, moved, inserted or removed"),
        *_of_side("text", NOTE, "Instruction of {}; empty if there is none"),
        *_COSTS,
        Field("delta", _COST, "B less A, a wave"),
        Field(
            "ratio",
            replace(RATIO, digits=None),
            "Delta divided by the cost in A; null if that is 0",
            at=At.DATA,
            is_unknown=True,
        ),
        replace(_REAL, meaning="Whether the difference is more than noise", at=At.DATA),
        *_of_side("source", SOURCE, "Source place of the instruction of {} as file:line; empty if none"),
    ),
    order=("line_a", "line_b", "cost_a", "cost_b", "delta", "status", "text_a", "text_b"),
)
FRAMES = Spec(
    "compare flame",
    "Frames row by row, from left to right.",
    "frame",
    (
        Field("name", TEXT, "What is written on it", at=At.DATA),
        Field("full_name", TEXT, "The same in full", at=At.DATA),
        Field("depth", COUNT, "Frames around it", at=At.DATA),
        *(replace(field, kind=CYCLES) for field in _COSTS),
        Field("delta", TEXT, "B less A, a wave", at=At.TEXT, of=_difference),
        Field("change", choice("within noise", "more", "fewer"), "What became of it"),
        Field("frame", TEXT, "The frame below those around it", at=At.TEXT, of=_indented),
        Field("source", SOURCE, "Place of an instruction or a source line as file:line; else empty"),
    ),
    order=("cost_a", "cost_b", "delta", "change", "frame"),
)
_CHANGES = {0: "within noise", 1: "more", -1: "fewer"}


def short_sides(found: Comparison) -> dict[str, str]:
    """Return how tables show the paths of the sources of both sides."""
    return short_paths(source.path for side in (found.a, found.b) for source in side.sources)


def listing_table(found: Comparison, short: Mapping[str, str] | None = None) -> Table:
    """Return both programs, one row a pair, in the order of B; for people with short paths."""
    costs, (row_a, row_b) = found.rows, found.listing
    texts = {"a": (found.a, row_a), "b": (found.b, row_b)}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(costs.cost_a != 0, costs.delta / costs.cost_a, np.nan)
    columns: dict[str, Any] = {
        "status": [FATE_TEXT[Fate(fate)] for fate in found.fate.tolist()],
        "cost_a": costs.cost_a,
        "cost_b": costs.cost_b,
        "delta": costs.delta,
        "ratio": ratio,
        "beyond_noise": costs.is_real,
    }
    for name, (side, rows) in texts.items():
        places = side_places(side)
        sources = [places[row] for row in rows.tolist()]
        columns[f"line_{name}"] = rows
        columns[f"text_{name}"] = [side.code.text[row] if row >= 0 else "" for row in rows.tolist()]
        columns[f"source_{name}"] = (
            [short_place(place, dict(short)) for place in sources] if short else sources
        )
    return Table(LISTING, columns)


def frame_table(found: Comparison, trace: Trace, top: int | None = None) -> Table:
    """Return the frames of B with their cycles a wave in both, the `top` widest of either (None: all)."""
    made = compare_flame(trace, found)
    if made is None:
        return Table(FRAMES, {field.name: () for field in FRAMES.fields if field.of is None})
    tree, boxes, texts, before, shade = made
    shown = np.flatnonzero(boxes.width > 0)
    shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
    if top:
        widest = np.argsort(-np.maximum(before[shown], boxes.width[shown]), kind="stable")[:top]
        shown = shown[np.sort(widest)]
    return Table(
        FRAMES,
        {
            "name": [texts[frame] for frame in shown.tolist()],
            "full_name": [full_name(trace, tree, frame, texts[frame]) for frame in shown.tolist()],
            "depth": boxes.row[shown],
            "cost_a": before[shown],
            "cost_b": boxes.width[shown],
            "change": [_CHANGES[sign] for sign in np.sign(shade[shown]).tolist()],
            "source": [frame_source(trace, tree, frame) for frame in shown.tolist()],
        },
    )
