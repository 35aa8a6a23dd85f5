"""The reference viewer's rules, kept to compare with: simpler than the hardware, and wrong in places.

A counter that met a scalar load or a FLAT operation counts as out of order until it is waited for down to
zero, whatever has come back by then.  FLAT operations are in no counter but on lists of their own, which the
first wait on one of their counters takes whole.  Numbers are read one character behind the counter's name,
so `null, 1` is 0; plain immediates, images, exports and scalar buffer loads are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rcv_py.analysis.waits.waitcnt.generations import NOTHING, Effect, Generation
from rcv_py.base.numbers import number

_HEX = re.compile(r"\s*0x([0-9a-fA-F]+)|\s*(\d+)")
_DECIMAL = re.compile(r"\s*(\d+)")
_MEMORY = ("global_", "scratch_", "buffer_")

# Lists that a counter takes; the second only if there was anything else to take.
FLAT_LISTS: dict[int, dict[str, tuple[str, ...]]] = {
    9: {"lgkm": ("load",), "vm": ("load",)},
    10: {"vs": ("store",), "vm": ("load",), "lgkm": ("load", "store")},
    12: {"store": ("store",), "load": ("load",), "ds": ("load", "store")},
}
_SIGNS = {  # counter: what a wait that is about it has in its text
    9: {"lgkm": "lgk", "vm": "vmcnt"},
    10: {"vs": "vscnt", "vm": "vmcnt", "lgkm": "lgkm"},
    12: {
        name: f"{name}cnt"
        for name in ("bvh", "exp", "sample", "km", "store", "load", "tensor", "async", "ds")
    },
}


def number_behind(text: str, name: str) -> int:
    """Return the number one character behind a name in a text; 0 if there is none."""
    _, found, rest = text.partition(name)
    match = (_HEX if "0x" in text else _DECIMAL).match(rest[1:]) if found else None
    if match is None:
        return 0
    return number(f"0x{match[1]}" if "0x" in text and match[1] else match[match.lastindex or 1])


def rules_of(gfxip: int) -> Generation:
    """Return the reference's rules for a major version: those of gfx9, of gfx10, or else of gfx12."""
    return _GENERATIONS[_family(gfxip)]


def flat_lists(gfxip: int) -> dict[str, tuple[str, ...]]:
    """Return which lists of FLAT operations the waits on a counter take."""
    return FLAT_LISTS[_family(gfxip)]


def _family(gfxip: int) -> int:
    return 9 if gfxip <= 9 else 10 if gfxip < 12 else 12


def _waits(text: str, family: int) -> Effect:
    if "s_wait_alu" in text and family != 9:
        return NOTHING
    if family == 12 and "s_wait_idle" in text:
        return Effect(waits=tuple((counter, 0) for counter in _SIGNS[12]), is_idle=True)
    found = {counter: sign for counter, sign in _SIGNS[family].items() if sign in text}
    waits = tuple((counter, number_behind(text, f"{counter}cnt")) for counter in found)
    return Effect(waits=waits) if waits else NOTHING


def _is_memory(text: str) -> bool:
    return text.startswith(_MEMORY) or text[1:].startswith("buffer_")


def _gfx9(text: str) -> Effect:
    if text.startswith("s_waitcnt"):
        return _waits(text, 9)
    if text.startswith(("ds_", "s_sendmsg")):
        return Effect((("lgkm", "lds"),))
    if text.startswith(("s_load", "s_store")):
        return Effect((("lgkm", "lds"),), unorders=("lgkm",))
    if text.startswith("flat_"):
        return Effect(unorders=("lgkm", "vm"), flat="load")
    return Effect((("vm", "vector"),)) if _is_memory(text) else NOTHING


def _gfx10(text: str) -> Effect:
    if text.startswith("s_wait"):
        return _waits(text, 10)
    if text.startswith("s_sendmsg_rtn"):
        return Effect((("lgkm", "lds"),) * 2)
    if text.startswith("flat_"):
        flat = "store" if "store" in text else "load"
        return Effect(unorders=("lgkm", "vs" if flat == "store" else "vm"), flat=flat)
    if _is_memory(text):
        return Effect((("vs" if "store" in text else "vm", "vector"),))
    return _gfx9(text)


def _gfx12(text: str) -> Effect:
    if text.startswith("s_wait"):
        return _waits(text, 12)
    if text.startswith("s_"):
        return _gfx12_scalar(text)
    if text.startswith("v_") or "_prefetch_" in text:
        return NOTHING
    return next((effect for fits, effect in _GFX12 if fits(text)), NOTHING)


def _gfx12_scalar(text: str) -> Effect:
    if text.startswith(("s_load", "s_store")):
        return Effect((("km", "lds"),), unorders=("km",))
    times = 2 if text.startswith("s_sendmsg_rtn") else 1
    return Effect((("km", "lds"),) * times) if text.startswith("s_sendmsg") else NOTHING


def _begins(name: str) -> Callable[[str], bool]:
    return lambda text: name in text[: len(name) + 1]


def _is_store(text: str) -> bool:
    return "store" in text or text.startswith("global_wb")


def _is_direct(text: str) -> bool:
    return "ds_" in text[:4] and ("param_load" in text or "ds_direct" in text)


_GFX12: tuple[tuple[Callable[[str], bool], Effect], ...] = (
    (lambda text: "_bvh" in text, Effect((("bvh", "vector"),))),
    (_is_direct, Effect((("exp", "direct"),))),
    (_begins("ds_"), Effect((("ds", "lds"),))),
    (_begins("tensor_"), Effect((("tensor", "tensor"),))),
    (
        lambda text: text.startswith(("global_load_async_", "global_store_async_")),
        Effect((("async", "async"),)),
    ),
    (lambda text: text.startswith("flat_") and _is_store(text), Effect((), (), ("store", "ds"), "store")),
    (lambda text: text.startswith("flat_"), Effect((), (), ("load", "ds"), "load")),
    (lambda text: _is_memory(text) and _is_store(text), Effect((("store", "vector"),))),
    (_is_memory, Effect((("load", "vector"),))),
)
_GENERATIONS = {
    9: Generation("gfx9, reference", tuple(_SIGNS[9]), _gfx9),
    10: Generation("gfx10, reference", tuple(_SIGNS[10]), _gfx10),
    12: Generation("gfx12, reference", tuple(_SIGNS[12]), _gfx12),
}
