"""The comparison of two captures: one row an instruction, source line, block or class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcv_py.analysis.compare.changes import Change
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.base.paths import short_paths, short_place
from rcv_py.base.text import percent
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import COUNT, FLAG, MEAN_CYCLES, NOTE, RATIO, ROW_OR_NONE, SHARE, SOURCE, TEXT

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
    short = short_paths(source.path for side in (found.a, found.b) for source in side.sources)
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
