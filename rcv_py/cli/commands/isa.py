"""`rcv isa`: the listing with costs, its basic blocks, or its branches."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rcv_py.analysis.listing import listing
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.formats.open import open_trace
from rcv_py.work.load import load_all

_WORDS = {"block", "instruction", "name"}
_UNITS = {"lines": ("row", "rows"), "blocks": ("block", "blocks"), "branches": ("branch", "branches")}


def run(arguments: Namespace) -> int:
    """Print the listing, the blocks or the branches of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    kind = "branches" if arguments.branches else "blocks" if arguments.blocks else "lines"
    found = listing(trace, kind, lambda: load_all(trace))
    shown = found.top(arguments.top)
    if arguments.csv:
        sys.stdout.write(csv_text(found.names, shown))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": kind,
            "measure": found.measure,
            "of": len(found.rows),
            "rows": [dict(zip(found.names, row, strict=True)) for row in shown],
        }
        print(json_text("rcv.isa/1", document))
    else:
        columns = _columns(kind, found.names)
        print_table(columns, [_cells(columns, row) for row in shown])
        print(f"\n{count(len(shown))} of {plural(len(found.rows), *_UNITS[kind])}.")
    return 0


def _columns(kind: str, names: tuple[str, ...]) -> tuple[Column, ...]:
    """Numbers to the right; the last column gives way.  A block is a number in its own table."""
    words = _WORDS - {"block"} if kind == "blocks" else _WORDS
    return tuple(Column(name, name not in words, "right" if name == names[-1] else "") for name in names)


def _cells(columns: tuple[Column, ...], row: tuple[Any, ...]) -> list[str]:
    cells = []
    for column, value in zip(columns, row, strict=True):
        if isinstance(value, float):
            cells.append(percent(value, 1) if value else "")
        elif column.title == "target" and value < 0:
            cells.append("unknown")
        else:
            cells.append(count(value) if isinstance(value, int) else value)
    return cells
