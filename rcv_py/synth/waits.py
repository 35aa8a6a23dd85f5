"""The `waitcnt` list of a wave file, made as the tool that writes real files makes it.

Outstanding operations queue up behind counters; a wait releases the oldest ones.  The tool's rules are
simpler than the hardware: a queue that got a scalar load counts as out of order and releases nothing until
it is waited for down to zero.  The simulator times waits by the hardware's rules; here only the list is made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from functools import cache

from rcv_py.base.records import dataclass

_HEX = re.compile(r"\s*(0x[0-9a-fA-F]+|\d+)")
_DECIMAL = re.compile(r"\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to the queues."""

    pushes: tuple[str, ...] = ()  # queues that get the instruction; "flat" belongs to several counters
    unorders: tuple[str, ...] = ()  # counters that are out of order from here on
    waits: tuple[tuple[str, int], ...] = ()  # counters it looks at, in this order, and how many may stay
    empties: bool = False  # releases everything at once


@dataclass(slots=True)
class _Queue:
    pending: list[int] = field(default_factory=list)
    is_ordered: bool = True

    def release(self, keep: int, flat: list[int]) -> list[int]:
        if keep == 0:
            self.is_ordered = True
        if not self.is_ordered:
            return []
        split = max(0, len(self.pending) - keep)
        released = [*flat, *self.pending[:split]]
        flat.clear()
        del self.pending[:split]
        return released


def replay(texts: Sequence[str], generation: int) -> list[tuple[int, list[int]]]:
    """Return (position of a wait, positions of what it released) of the executed instructions `texts`.

    One row a wait and counter that released something, in the order in which the files have them.
    """
    queues: defaultdict[str, _Queue] = defaultdict(_Queue)
    flat: list[int] = []
    released: list[tuple[int, list[int]]] = []
    for position, text in enumerate(texts):
        effect = effect_of(text, generation)
        for name in effect.pushes:
            (flat if name == "flat" else queues[name].pending).append(position)
        for name in effect.unorders:
            queues[name].is_ordered = False
        found = [queues[name].release(keep, flat) for name, keep in effect.waits]
        if effect.empties:
            found = [[item for queue in queues.values() for item in queue.release(0, flat)]]
        released.extend((position, items) for items in found if items)
    return released


_MEMORY = r"(?:global_|scratch_|.?buffer_)"
_FLAT_LOAD = Effect(("flat",), unorders=("lgkmcnt", "vmcnt"))
_SCALAR = (
    (r"ds_|s_sendmsg", Effect(("lgkmcnt",))),
    (r"s_load|s_store", Effect(("lgkmcnt",), unorders=("lgkmcnt",))),
)
_BEFORE_GFX12 = (
    (r"s_sendmsg_rtn", Effect(("lgkmcnt", "lgkmcnt"))),
    (r"flat_.*store", Effect(("flat",), unorders=("lgkmcnt", "vscnt"))),
    (r"flat_", _FLAT_LOAD),
    (_MEMORY + r".*store", Effect(("vscnt",))),
    (_MEMORY, Effect(("vmcnt",))),
    *_SCALAR,
)
# What instructions other than waits do, by how their text begins; the first row that fits counts.
_EFFECTS = {
    9: (*_SCALAR, (r"flat_", _FLAT_LOAD), (_MEMORY, Effect(("vmcnt",)))),
    10: _BEFORE_GFX12,
    11: _BEFORE_GFX12,
    12: (
        (r".*_bvh", Effect(("bvhcnt",))),
        (r"(?=.?ds_).*(?:param_load|ds_direct)", Effect(("expcnt",))),
        (r".?ds_", Effect(("dscnt",))),
        (r"s_load|s_store", Effect(("kmcnt",), unorders=("kmcnt",))),
        (r"s_sendmsg_rtn", Effect(("kmcnt", "kmcnt"))),
        (r"s_sendmsg", Effect(("kmcnt",))),
        (r"flat_store", Effect(("flat",), unorders=("storecnt", "dscnt"))),
        (r"flat_", Effect(("flat",), unorders=("loadcnt", "dscnt"))),
        (_MEMORY + r".*store|global_wb", Effect(("storecnt",))),
        (_MEMORY, Effect(("loadcnt",))),
    ),
}
# What a wait names, and the counter that it means, in the order in which they are looked at.
_COUNTERS = {
    9: {"lgk": "lgkmcnt", "vmcnt": "vmcnt"},
    10: {"vs": "vscnt", "vm": "vmcnt", "lgkm": "lgkmcnt"},
    11: {"vs": "vscnt", "vm": "vmcnt", "lgkm": "lgkmcnt"},
    12: {name: name for name in ("bvhcnt", "expcnt", "samplecnt", "kmcnt", "storecnt", "loadcnt", "dscnt")},
}


@cache
def effect_of(text: str, generation: int) -> Effect:
    """Return what the instruction does to the queues."""
    if not text.startswith("s_wait"):
        rules = _EFFECTS[generation]
        return next((effect for pattern, effect in rules if re.match(pattern, text)), Effect())
    if generation == 12 and "s_wait_idle" in text:
        return Effect(empties=True)
    named = {} if "s_wait_alu" in text else _COUNTERS[generation]
    waits = tuple((counter, _number(text, counter)) for sign, counter in named.items() if sign in text)
    return Effect(waits=waits)


def _number(text: str, name: str) -> int:
    """Read the number after a counter's name and one more character; 0 if there is none."""
    _, found, rest = text.partition(name)
    match = (_HEX if "0x" in text else _DECIMAL).match(rest[1:]) if found else None
    return int(match.group(1), 0) if match else 0
