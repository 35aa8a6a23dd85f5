"""The dictionaries of code.json that name the values of s_ttracedata."""

from __future__ import annotations

from rcv_py.base.problems import Problem
from rcv_py.formats.input.columns import whole_number
from rcv_py.formats.uiout.folder import CODE
from rcv_py.formats.uiout.names import demangled
from rcv_py.formats.uiout.shapes import tell_skipped, text_of
from rcv_py.model.device import MarkerName

_KINDS = {
    "f": "function",
    "func": "function",
    "function": "function",
    "k": "kernel",
    "kernel": "kernel",
    "u": "scope",
    "user": "scope",
    "user_scope": "scope",
    "userscope": "scope",
    "p": "point",
    "point": "point",
}


def read_markers(rows: object, problems: list[Problem]) -> tuple[MarkerName, ...]:
    """Return the marker names; of equal (code object, marker) the last one wins."""
    found: dict[tuple[int, int], MarkerName] = {}
    skipped = 0
    for row in rows if isinstance(rows, list) else ():
        name = _marker(row)
        if name is None:
            skipped += 1
        else:
            found[name.codeobj, name.marker] = name
    tell_skipped(problems, CODE, skipped, "marker name")
    return tuple(found.values())


def _marker(row: object) -> MarkerName | None:
    if not isinstance(row, list) or len(row) < 4:
        return None
    codeobj, marker = whole_number(row[0], -1), whole_number(row[1], -1)
    kind = _KINDS.get(text_of(row[2]).lower())
    name = text_of(row[3])
    if codeobj < 1 or marker < 0 or kind is None or not name:
        return None
    return MarkerName(codeobj, marker, kind, demangled(name), text_of(row[4]) if len(row) > 4 else "")


def read_layout(rows: object) -> tuple[tuple[int, int, int], ...]:
    """Return (code object, clock bits, clock shift) rows whose numbers can be meant."""
    return tuple(row for row in _triples(rows) if 0 < row[1] <= 29 and row[1] + row[2] <= 32)


def read_payloads(rows: object) -> tuple[tuple[int, int, int], ...]:
    """Return (code object, marker, number of payload words) rows."""
    return tuple(_triples(rows))


def _triples(rows: object) -> list[tuple[int, int, int]]:
    triples = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and len(row) >= 3:
            a, b, c = (whole_number(value, -1) for value in row[:3])
            if min(a, b, c) >= 0:
                triples.append((a, b, c))
    return triples
