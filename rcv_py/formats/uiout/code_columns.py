"""The rows of code.json as columns in file order, whatever their width and whatever is wrong in a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from rcv_py.formats.input.columns import number_column, whole_number

_FIXED = ("isa", "_", "linenumber", "source", "codeobj", "vaddr", "hit", "latency", "stall", "idle")

# Names that writers gave to the same column, in lower case without underscores.
_ALIASES = {
    "instruction": "isa",
    "line": "linenumber",
    "index": "linenumber",
    "codeobject": "codeobj",
    "address": "vaddr",
    "hitcount": "hit",
    "hits": "hit",
    "pcissued": "issued",
    "pcstalled": "stalled",
    "notissuedreasons": "reasons",
    "stallreasons": "reasons",
}

_COUNTS = ("hit", "latency", "stall", "idle", "issued", "stalled")
_REASONS = 10  # stall reasons that are known; more are kept
_MOST_REASONS = 32
_MOST_COLUMNS = 64  # of a row; writers have ten to fourteen


class CodeColumns(NamedTuple):
    """The usable rows; `numbers` holds int64 columns by header name, of which `vaddr` is uint64."""

    text: list[str]
    source: list[str]
    numbers: dict[str, np.ndarray]
    reasons: np.ndarray | None  # int64 [n, k]; None if rows carry no stall reasons
    has_samples: bool


def code_columns(rows: list[Any], header: object) -> CodeColumns:
    """Return the rows whose instruction is a text, as columns; short rows are padded, long ones cut."""
    place = _positions(header)
    text_at = place.get("isa", -1)
    usable = [
        row for row in rows if isinstance(row, list) and len(row) > text_at and isinstance(row[text_at], str)
    ]
    by_place = list(zip_longest(*(row[:_MOST_COLUMNS] for row in usable)))  # pads short rows with None
    nothing = (None,) * len(usable)

    def column(field: str) -> Sequence[object]:
        at = place.get(field, -1)
        return by_place[at] if 0 <= at < len(by_place) else nothing

    numbers = {
        field: np.maximum(number_column(column(field), 0), 0)
        for field in ("hit", "latency", "stall", "idle", "issued", "stalled")
    }
    numbers["linenumber"] = number_column(column("linenumber"), -1)
    numbers["codeobj"] = number_column(column("codeobj"), 0)
    numbers["vaddr"] = _addresses(column("vaddr"))
    return CodeColumns(
        [str(text).strip() for text in column("isa")],
        [text if isinstance(text, str) else "" for text in column("source")],
        numbers,
        _reasons(column("reasons")) if "reasons" in place else None,
        "issued" in place or "stalled" in place,
    )


def _addresses(values: Sequence[object]) -> np.ndarray:
    if all(type(value) is int and 0 <= value < 1 << 64 for value in values):
        return np.array(values, dtype=np.uint64)
    whole = [int(value) if isinstance(value, int | float) and abs(value) < 1 << 64 else 0 for value in values]
    return np.array([max(value, 0) for value in whole], dtype=np.uint64)


def _reasons(values: Sequence[object]) -> np.ndarray:
    lists = [value if isinstance(value, list) else [] for value in values]
    width = min(max([_REASONS, *map(len, lists)]), _MOST_REASONS)
    rows = [
        [max(0, whole_number(count, 0)) for count in row[:width]] + [0] * (width - len(row)) for row in lists
    ]
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


def _positions(header: object) -> dict[str, int]:
    """Where the columns are that a header names (a string or a list), else the ten fixed ones."""
    names = header.split(",") if isinstance(header, str) else header if isinstance(header, list) else []
    clean = [_clean(name) for name in names]
    named = {name: place for place, name in reversed(list(enumerate(clean))) if name}
    if not {"isa", "linenumber"} <= set(named):
        named = {}
    taken = set(named.values())  # the others are where they always are, unless another one is there
    return {name: place for place, name in enumerate(_FIXED) if place not in taken} | named


def _clean(name: object) -> str:
    text = str(name).strip().lower()
    plain = text.replace("_", "").replace(" ", "") or text
    return _ALIASES.get(plain, plain)
