"""The ranking of bubbles as columns."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.cost.place_text import known_place
from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.text import short_count
from rcv_py.model.trace import Trace
from rcv_py.ui.table.table_model import Column

ROLE_OF = {"stall": "stall", "idle": "idle", "drain": "hidden"}
WAY_TEXT = {
    "stall": "the wave stalled in this instruction",
    "idle": "the wave had nothing to do in front of this instruction",
    "drain": "the last instruction of the wave had issued, and the wave was still there",
}


def bubble_columns(trace: Trace, found: Bubbles) -> tuple[Column, ...]:
    """Return the columns; a line of -1 stands for tokens without an instruction."""
    lines = found.line.tolist()
    texts = tuple(trace.code.text[line] if line >= 0 else "no instruction of the program" for line in lines)
    places = tuple(known_place(trace, line) for line in lines)
    share = 100 * found.total / max(1, found.bubble)
    parts = [
        Column(
            way, way, getattr(found, way), _cycles, True, width=64, tip=f"Cycles in which {WAY_TEXT[way]}."
        )
        for way in ROLE_OF
    ]
    return (
        Column("line", "line", found.line, str, True, width=48, tip="Number of the instruction."),
        Column("text", "instruction", texts, width=260),
        Column(
            "bar", "cost", found.total, _cycles, True, is_left=True, width=140, tip="Bubbles by their kind."
        ),
        Column(
            "cycles",
            "bubbles",
            found.total,
            _cycles,
            True,
            width=72,
            tip="Cycles in which nothing happened, charged to it.",
        ),
        Column("share", "share", share, "{:.1f} %".format, True, width=60, tip="Of all bubbles."),
        *parts,
        Column("source", "source", places, is_elided_left=True, width=180, tip="Innermost source line."),
    )


def _cycles(value: float) -> str:
    return short_count(round(value)) if value >= 0.5 else ("" if value <= 0 else "<1")


def row_of_line(found: Bubbles, line: int | None) -> int:
    """Return where a code line is, -1 if it is charged nothing."""
    at = np.flatnonzero(found.line == line) if line is not None else np.zeros(0, dtype=np.int64)
    return int(at[0]) if len(at) else -1
