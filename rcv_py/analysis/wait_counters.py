"""Which counter of outstanding operations an instruction raises, and what a wait asks of which counter.

```
gfx9         vm: vector memory          lgkm: LDS, scalar memory, messages    exp: exports, GDS
gfx10, 11    vm: loads   vs: stores     lgkm                                  exp, and LDS direct loads
gfx12        load  sample  bvh  store   ds: LDS   km: scalar memory, messages   exp   async   tensor
```

FLAT operations may use either path, so they raise two counters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

ORDER = {  # in which a wait that names several counters looks at them
    9: ("lgkm", "vm", "exp"),
    10: ("vs", "vm", "lgkm", "exp"),
    12: ("bvh", "exp", "sample", "km", "store", "load", "tensor", "async", "ds"),
}
UNORDERED = frozenset(("scalar", "flat"))  # kinds of operation that come back in any order

Raised = tuple[tuple[str, str], ...]  # (counter, kind of operation), one an increment

_RETURNS = re.compile(r"\bglc\b|\bth:TH_ATOMIC_\w*RETURN")
_NUMBER = r"(0x[0-9a-fA-F]+|\d+)"
_NAMED = re.compile(r"(vm|vs|lgkm|exp)cnt\s*\(?\s*" + _NUMBER)
_IMMEDIATE = re.compile(r"s_waitcnt\s+" + _NUMBER + r"\s*$")
_OWN = re.compile(r"s_waitcnt_(vm|vs|lgkm|exp)cnt\s+(?:\w+\s*,\s*)?" + _NUMBER)
_LATER = re.compile(r"s_wait_(\w+?)cnt(?:_(ds)cnt)?\s+" + _NUMBER)
_FIELDS = {  # of the plain immediate: (first bit, bits) from the lowest part up
    9: {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),), "lgkm": ((8, 4),)},
    10: {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),), "lgkm": ((8, 6),)},
    11: {"vm": ((10, 6),), "exp": ((0, 3),), "lgkm": ((4, 6),)},
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to counters."""

    raises: Raised = ()
    waits: tuple[tuple[str, int], ...] = ()  # (counter, how many operations may stay outstanding)


NOTHING = Effect()


def generation(gfxip: int) -> int:
    """Return the key of `ORDER` for a major version of the graphics IP."""
    return 9 if gfxip <= 9 else 10 if gfxip < 12 else 12


def effect(text: str, gfxip: int) -> Effect:
    """Return what an instruction does, told from its disassembly."""
    name = text.split(" ", 1)[0]
    if name.startswith("s_wait"):
        wanted = _wanted(text, gfxip)
        return Effect(
            waits=tuple((counter, wanted[counter]) for counter in _order(gfxip) if counter in wanted)
        )
    raised = _raised(name, text, gfxip)
    return Effect(raised) if raised else NOTHING


def _order(gfxip: int) -> tuple[str, ...]:
    return ORDER[generation(gfxip)]


def _wanted(text: str, gfxip: int) -> dict[str, int]:
    if gfxip >= 12:
        if text.startswith("s_wait_idle"):
            return dict.fromkeys(ORDER[12], 0)
        match = _LATER.match(text)
        if match is None:
            return {}
        number = int(match[3], 0)
        return {match[1]: number >> 8 & 0x3F, "ds": number & 0x3F} if match[2] else {match[1]: number}
    own, plain = _OWN.match(text), _IMMEDIATE.match(text)
    if own is not None:
        return {own[1]: int(own[2], 0)}
    if plain is not None:
        return _fields(int(plain[1], 0), _FIELDS[max(9, gfxip)])
    return {name: int(number, 0) for name, number in _NAMED.findall(text)}


def _fields(value: int, layout: dict[str, tuple[tuple[int, int], ...]]) -> dict[str, int]:
    numbers = {}
    for counter, parts in layout.items():
        number, shift = 0, 0
        for first, bits in parts:
            number |= (value >> first & ((1 << bits) - 1)) << shift
            shift += bits
        numbers[counter] = number
    return numbers


def _raised(name: str, text: str, gfxip: int) -> Raised:
    for prefixes, rule in _RULES:
        if name.startswith(prefixes):
            return rule(name, text, gfxip)
    return ()


def _scalar(name: str, text: str, gfxip: int) -> Raised:
    return ((_scalar_counter(gfxip), "scalar"),)


def _message(name: str, text: str, gfxip: int) -> Raised:
    return ((_scalar_counter(gfxip), "message"),) * (2 if "_rtn" in name else 1)


def _export(name: str, text: str, gfxip: int) -> Raised:
    return (("exp", "export"),)


def _direct(name: str, text: str, gfxip: int) -> Raised:
    return (("exp", "direct"),)


def _lds(name: str, text: str, gfxip: int) -> Raised:
    counter = _lds_counter(gfxip)
    return ((counter, "gds"), ("exp", "gds")) if text.endswith(" gds") else ((counter, "lds"),)


def _flat(name: str, text: str, gfxip: int) -> Raised:
    return ((_vector_counter(name, text, gfxip), "flat"), (_lds_counter(gfxip), "flat"))


def _tensor(name: str, text: str, gfxip: int) -> Raised:
    return (("tensor", "tensor"),) if gfxip >= 12 else ()


def _vector(name: str, text: str, gfxip: int) -> Raised:
    return () if _is_silent(name, gfxip) else ((_vector_counter(name, text, gfxip), "vector"),)


_RULES: tuple[tuple[tuple[str, ...], Callable[[str, str, int], Raised]], ...] = (  # the first that fits
    (("s_load", "s_store", "s_buffer_", "s_scratch_", "s_atomic", "s_memtime", "s_memrealtime"), _scalar),
    (("s_sendmsg",), _message),
    (("lds_param_load", "lds_direct_load", "ds_param_load", "ds_direct"), _direct),
    (("exp",), _export),
    (("ds_",), _lds),
    (("flat_",), _flat),
    (("tensor_",), _tensor),
    (("buffer_", "tbuffer_", "global_", "scratch_", "image_"), _vector),
)


def _scalar_counter(gfxip: int) -> str:
    return "km" if gfxip >= 12 else "lgkm"


def _lds_counter(gfxip: int) -> str:
    return "ds" if gfxip >= 12 else "lgkm"


def _is_silent(name: str, gfxip: int) -> bool:
    """Whether a vector memory instruction raises nothing: prefetches, and throwing caches away."""
    return "_prefetch" in name or ("_inv" in name and gfxip < 12) or "_wbinvl1" in name


def _vector_counter(name: str, text: str, gfxip: int) -> str:
    if gfxip <= 9:
        return "vm"
    writes = "store" in name or "_wb" in name or ("atomic" in name and not _RETURNS.search(text))
    if gfxip < 12:
        return "vs" if writes else "vm"
    if "_async_" in name:
        return "async"
    if name.startswith("image_bvh"):
        return "bvh"
    if name.startswith(("image_sample", "image_gather", "image_msaa")):
        return "sample"
    return "store" if writes else "load"
