"""Which column of a code.json row means what: ten columns, and two ways to add PC samples."""

from __future__ import annotations

from dataclasses import dataclass

FIXED = ("isa", "_", "linenumber", "source", "codeobj", "vaddr", "hit", "latency", "stall", "idle")

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


@dataclass(frozen=True, slots=True)
class Header:
    """Position of each column by its name; -1 for those a row does not have."""

    position: dict[str, int]

    def __getitem__(self, name: str) -> int:
        return self.position.get(name, -1)

    @property
    def has_samples(self) -> bool:
        """Whether rows carry PC samples."""
        return self["issued"] >= 0 or self["stalled"] >= 0


def read_header(header: object) -> Header:
    """Return the columns a header names (a string with commas, or a list); the ten fixed ones otherwise."""
    names = header.split(",") if isinstance(header, str) else header if isinstance(header, list) else []
    clean = [_clean(name) for name in names]
    position = {name: place for place, name in reversed(list(enumerate(clean))) if name}
    if not {"isa", "linenumber"} <= set(position):
        position = {}
    fixed = {name: place for place, name in enumerate(FIXED)}
    return Header({**fixed, **position} if not position else {**_free(fixed, position), **position})


def _clean(name: object) -> str:
    text = str(name).strip().lower()
    plain = text.replace("_", "").replace(" ", "") or text
    return _ALIASES.get(plain, plain)


def _free(fixed: dict[str, int], named: dict[str, int]) -> dict[str, int]:
    """The fixed columns whose place the header gives to nobody else."""
    taken = set(named.values())
    return {name: place for name, place in fixed.items() if place not in taken}
