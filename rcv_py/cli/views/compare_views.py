"""`rcv compare --by listing` and `--by flame`: both programs side by side, and the differences as frames."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.compare.align import FATE_TEXT, Fate
from rcv_py.analysis.compare.changes import side_places
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.flame import compare_flame
from rcv_py.analysis.flame.flame_text import frame_source, full_name
from rcv_py.base.csv_text import csv_text
from rcv_py.base.paths import short_paths, short_place
from rcv_py.base.text import count
from rcv_py.cli.about import about
from rcv_py.cli.chosen import in_order
from rcv_py.cli.options.cost_options import CompareOptions
from rcv_py.cli.report import Column, json_text, print_table
from rcv_py.model.trace import Trace

_LISTING = (
    Column("line_a", True),
    Column("line_b", True),
    *(Column(name, True) for name in ("cost_a", "cost_b", "delta")),
    Column("status"),
    Column("text_a", elastic="right"),
    Column("text_b", elastic="right"),
    Column("source_a", elastic="left"),
    Column("source_b", elastic="left"),
)
_FLAME = (
    *(Column(name, True) for name in ("cost_a", "cost_b", "delta")),
    Column("shade"),
    Column("frame"),
    Column("source", elastic="left"),
)
_LISTING_HEAD = (
    "line_a", "line_b", "status", "text_a", "text_b", "cost_a", "cost_b", "delta", "ratio", "beyond_noise",
    "source_a", "source_b",
)  # fmt: skip
_FLAME_HEAD = ("name", "full_name", "depth", "cost_a", "cost_b", "change", "source")
SHADES = {0: "within noise", 1: "more", -1: "fewer"}


def show_listing(found: Comparison, traces: Sequence[Trace], arguments: CompareOptions) -> None:
    """Print both programs, a row a pair, in the order of B."""
    rows = [row for row in _pairs(found) if row["beyond_noise"] or not arguments.beyond_noise]
    shown = in_order(rows, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(_LISTING_HEAD, [list(row.values()) for row in shown]))
    elif arguments.json:
        document = _head(found) | {"of": len(rows), "rows": shown}
        print(json_text("rcv.compare.listing/1", document, about(arguments, *traces)))
    else:
        print(found.judgement.sentence + "\n")
        short = short_paths(source.path for side in (found.a, found.b) for source in side.sources)
        print_table(_LISTING, [_cells(row, short) for row in shown])


def _head(found: Comparison) -> dict[str, Any]:
    return {
        "a": found.a.name,
        "b": found.b.name,
        "verdict": found.verdict.value,
        "sentence": found.judgement.sentence,
        "measure": found.measure,
    }


def _pairs(found: Comparison) -> list[dict[str, Any]]:
    table, (row_a, row_b) = found.rows, found.listing
    columns = (row_a, row_b, found.fate, table.cost_a, table.cost_b, table.delta, table.is_real)
    text_a, text_b = found.a.code.text, found.b.code.text
    places_a, places_b = side_places(found.a), side_places(found.b)
    return [
        {
            "line_a": a,
            "line_b": b,
            "status": FATE_TEXT[Fate(fate)],
            "text_a": text_a[a] if a >= 0 else "",
            "text_b": text_b[b] if b >= 0 else "",
            "cost_a": round(cost_a, 3),
            "cost_b": round(cost_b, 3),
            "delta": round(delta, 3),
            "ratio": delta / cost_a if cost_a else None,
            "beyond_noise": is_real,
            "source_a": places_a[a],
            "source_b": places_b[b],
        }
        for a, b, fate, cost_a, cost_b, delta, is_real in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def _cells(row: dict[str, Any], short: dict[str, str]) -> list[str]:
    lines = ["" if row[name] < 0 else str(row[name]) for name in ("line_a", "line_b")]
    numbers = [f"{row[name]:,.1f}" if row[name] else "" for name in ("cost_a", "cost_b", "delta")]
    places = [short_place(row[name], short) for name in ("source_a", "source_b")]
    return [*lines, *numbers, row["status"], row["text_a"], row["text_b"], *places]


def show_flame(found: Comparison, traces: Sequence[Trace], arguments: CompareOptions) -> None:
    """Print the frames of B, each with its cycles a wave in both; instructions only A has are left out."""
    every = _frames(found, traces[1])
    frames = _widest(every, arguments.top) if "top" in arguments.given else every
    if arguments.csv:
        sys.stdout.write(csv_text(_FLAME_HEAD, [list(row.values()) for row in frames]))
    elif arguments.json:
        document = _head(found) | {"of": len(every), "frames": frames}
        print(json_text("rcv.compare.flame/1", document, about(arguments, *traces)))
    else:
        print(found.judgement.sentence + "\n")
        short = short_paths(source.path for source in traces[1].sources)
        print_table(_FLAME, [_frame_cells(row, short) for row in frames])


def _frames(found: Comparison, trace: Trace) -> list[dict[str, Any]]:
    made = compare_flame(trace, found)
    if made is None:
        return []
    tree, boxes, texts, before, shade = made
    shown = np.flatnonzero(boxes.width > 0)
    shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
    return [
        {
            "name": texts[frame],
            "full_name": full_name(trace, tree, frame, texts[frame]),
            "depth": int(boxes.row[frame]),
            "cost_a": int(before[frame]),
            "cost_b": int(boxes.width[frame]),
            "change": SHADES[int(np.sign(shade[frame]))],
            "source": frame_source(trace, tree, frame),
        }
        for frame in shown.tolist()
    ]


def _widest(frames: list[dict[str, Any]], top: int) -> list[dict[str, Any]]:
    """The frames that take most in either capture, in the order they had; 0: all."""
    rank = sorted(range(len(frames)), key=lambda at: -max(frames[at]["cost_a"], frames[at]["cost_b"]))
    return [frames[at] for at in sorted(rank[: top or None])]


def _frame_cells(row: dict[str, Any], short: dict[str, str]) -> Sequence[str]:
    delta = row["cost_b"] - row["cost_a"]
    name, place = "  " * row["depth"] + row["name"], short_place(row["source"], short)
    place = "" if row["name"].endswith(place) else place
    numbers = (count(row["cost_a"]), count(row["cost_b"]), f"{delta:+,}" if delta else "")
    return (*numbers, row["change"], name, place)


VIEWS = {"listing": show_listing, "flame": show_flame}
