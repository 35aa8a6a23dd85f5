"""Captures that are listed without opening their waves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rcv_py.model.trace import CaptureEntry
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import COUNT, CYCLES, NOTE, SOURCE, TEXT, WAVES

_NUMBERS = (
    Field("waves", WAVES, "Traced"),
    Field("instructions", COUNT, "Instructions", is_unknown=True),
    Field("executed", COUNT, "Instructions that ran", is_unknown=True),
    Field("mapped", COUNT, "Instructions with a source place"),
    Field("hits", COUNT, "Executions", is_unknown=True),
    Field("latency", CYCLES, "Latency of all waves", is_unknown=True),
)
CAPTURES = Spec(
    "captures",
    "One row a capture.",
    "capture",
    (
        Field("name", TEXT, "Name of the capture", at=At.DATA),
        Field("path", TEXT, "Path of its folder", at=At.DATA),
        Field("place", SOURCE, "Its folder below the one that was given", "capture", at=At.TEXT),
        Field("kernel", NOTE, "Name of the kernel"),
        *_NUMBERS,
        Field("note", NOTE, "What is wrong with it; empty if nothing is"),
    ),
    order=("place", *(field.name for field in _NUMBERS)),
)


def entry_table(entries: Sequence[CaptureEntry], root: Path) -> Table:
    """Return one row a capture; people see its folder below `root`."""
    names = ("name", "kernel", "note", *(field.name for field in _NUMBERS))
    columns = {name: [getattr(entry, name) for entry in entries] for name in names}
    columns["path"] = [str(entry.path) for entry in entries]
    columns["place"] = [_below(root, entry) for entry in entries]
    return Table(CAPTURES, columns)


def _below(root: Path, entry: CaptureEntry) -> str:
    try:
        return str(entry.path.resolve().relative_to(root.resolve()))
    except ValueError:
        return entry.name
