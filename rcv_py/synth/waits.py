"""The `waitcnt` list of a wave file, made as the tool that writes real files makes it.

Outstanding operations queue up behind counters; a wait releases the oldest ones.  The tool's rules are
simpler than the hardware: a queue that got a scalar load counts as out of order and releases nothing until
it is waited for down to zero.  The simulator times waits by the hardware's rules; here only the list is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

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
    queues: dict[str, _Queue] = {}
    flat: list[int] = []
    released: list[tuple[int, list[int]]] = []
    for position, text in enumerate(texts):
        effect = effect_of(text, generation)
        if effect is not None:
            _apply(effect, position, queues, flat, released)
    return released


def _apply(
    effect: Effect,
    position: int,
    queues: dict[str, _Queue],
    flat: list[int],
    released: list[tuple[int, list[int]]],
) -> None:
    for name in effect.pushes:
        (flat if name == "flat" else queues.setdefault(name, _Queue()).pending).append(position)
    for name in effect.unorders:
        queues.setdefault(name, _Queue()).is_ordered = False
    found = [queues.setdefault(name, _Queue()).release(keep, flat) for name, keep in effect.waits]
    if effect.empties:
        found = [[item for queue in queues.values() for item in queue.release(0, flat)]]
    released.extend((position, items) for items in found if items)


@cache
def effect_of(text: str, generation: int) -> Effect | None:
    """Return what the instruction does to the queues, or None if nothing."""
    rule = {9: _gfx9, 10: _gfx11, 11: _gfx11, 12: _gfx12}[generation]
    return rule(text)


def _gfx9(text: str) -> Effect | None:
    if text.startswith("s_waitcnt"):
        return _wait(text, (("lgk", "lgkmcnt"), ("vmcnt", "vmcnt")))
    if text.startswith(("ds_", "s_sendmsg")):
        return Effect(pushes=("lgkmcnt",))
    if text.startswith(("s_load", "s_store")):
        return Effect(pushes=("lgkmcnt",), unorders=("lgkmcnt",))
    if text.startswith("flat_"):
        return Effect(pushes=("flat",), unorders=("lgkmcnt", "vmcnt"))
    return Effect(pushes=("vmcnt",)) if _is_memory(text) else None


def _gfx11(text: str) -> Effect | None:
    if text.startswith("s_wait"):
        names = ("vscnt", "vmcnt", "lgkmcnt")
        return _wait(text, tuple((name[:-3], name) for name in names)) if "s_wait_alu" not in text else None
    if text.startswith("s_sendmsg_rtn"):
        return Effect(pushes=("lgkmcnt", "lgkmcnt"))
    memory = "vscnt" if "store" in text else "vmcnt"
    if text.startswith("flat_"):
        return Effect(pushes=("flat",), unorders=("lgkmcnt", memory))
    if _is_memory(text):
        return Effect(pushes=(memory,))
    return None if text.startswith("s_wait") else _gfx9(text)


_GFX12_ORDER = ("bvhcnt", "expcnt", "samplecnt", "kmcnt", "storecnt", "loadcnt", "dscnt")
_GFX12: tuple[tuple[Callable[[str], bool], Effect], ...] = (
    (lambda text: "_bvh" in text, Effect(pushes=("bvhcnt",))),
    (lambda text: "ds_" in text[:4] and ("param_load" in text or "ds_direct" in text), Effect(("expcnt",))),
    (lambda text: "ds_" in text[:4], Effect(pushes=("dscnt",))),
    (lambda text: text.startswith(("s_load", "s_store")), Effect(("kmcnt",), unorders=("kmcnt",))),
    (lambda text: text.startswith("s_sendmsg_rtn"), Effect(pushes=("kmcnt", "kmcnt"))),
    (lambda text: text.startswith("s_sendmsg"), Effect(pushes=("kmcnt",))),
    (lambda text: text.startswith("flat_store"), Effect(("flat",), unorders=("storecnt", "dscnt"))),
    (lambda text: text.startswith("flat_"), Effect(("flat",), unorders=("loadcnt", "dscnt"))),
    (
        lambda text: _is_memory(text) and ("store" in text or text.startswith("global_wb")),
        Effect(pushes=("storecnt",)),
    ),
    (lambda text: _is_memory(text), Effect(pushes=("loadcnt",))),  # noqa: PLW0108 - defined below
)


def _gfx12(text: str) -> Effect | None:
    if text.startswith("s_wait"):
        if "s_wait_idle" in text:
            return Effect(empties=True)
        return None if "s_wait_alu" in text else _wait(text, tuple((name, name) for name in _GFX12_ORDER))
    return next((effect for fits, effect in _GFX12 if fits(text)), None)


def _is_memory(text: str) -> bool:
    return text.startswith(("global_", "scratch_", "buffer_")) or text[1:].startswith("buffer_")


def _wait(text: str, names: tuple[tuple[str, str], ...]) -> Effect | None:
    waits = tuple((name, _number(text, name)) for sign, name in names if sign in text)
    return Effect(waits=waits) if waits else None


def _number(text: str, name: str) -> int:
    """Read the number behind a counter's name and one more character; 0 if there is none."""
    _, found, rest = text.partition(name)
    match = (_HEX if "0x" in text else _DECIMAL).match(rest[1:]) if found else None
    return int(match.group(1), 0) if match else 0
