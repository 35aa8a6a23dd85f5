"""The effect of an instruction on the counters of outstanding operations, derived from its disassembly.

A generation has a table of rows (pattern of the disassembly, what it raises), of which the first match
counts, and the order in which a wait that names several counters checks them.  FLAT operations may use either
path to memory, so they raise two counters.

```
gfx9      vmcnt counts reads and writes alike, copies to LDS and cache write-backs too
gfx10     stores and atomics that return nothing have a separate counter, vscnt
gfx11     the counters of gfx10 at other positions in the immediate
gfx12     one counter per kind of memory, and one wait instruction per counter
gfx1250   also copies between memory and LDS, tensor copies, and xcnt: memory operations until translated
```
"""

import re
from functools import cached_property, lru_cache

from rcv_py.base.record import Value
from rcv_py.base.text import number
from rcv_py.model.architecture import Architecture

COUNTERS = (
    *("vm", "vs", "lgkm", "exp"),
    *("load", "sample", "bvh", "store", "ds", "km", "x", "async", "tensor"),
)
NUMBER_OF = {name: number for number, name in enumerate(COUNTERS)}
KINDS = (
    *("vector", "lds", "gds", "scalar", "message", "flat"),
    *("export", "position", "parameter", "direct", "async", "tensor"),
)
KIND_OF = {name: number for number, name in enumerate(KINDS)}
KNOWN_TEXTS = 1 << 13  # whose effects are remembered
UNORDERED = ("scalar", "flat")  # kinds whose results return in any order

Raised = tuple[tuple[str, str], ...]  # (counter, kind of operation), one per increment
Row = tuple[str, Raised]  # pattern from the start of the text, what it raises
Field = tuple[tuple[int, int], ...]  # (first bit, bits) from the lowest part of the number up
Fields = dict[str, Field]

NUMBER = r"(0x[0-9a-fA-F]+|\d+)"
_NAMED = re.compile(rf"({'|'.join(COUNTERS)})cnt\s*\(?\s*" + NUMBER)
_IMMEDIATE = re.compile(r"s_waitcnt\s+" + NUMBER + r"\s*$")
_OWN = re.compile(r"s_waitcnt_(vm|vs|lgkm|exp)cnt\s+(?:\w+\s*,\s*)?" + NUMBER)
_SINGLE = re.compile(r"s_wait_(\w+?)cnt(?:_(ds)cnt)?\s+" + NUMBER)


class CounterEffect(Value):
    """The effect of one instruction on counters."""

    raises: Raised = ()
    waits: tuple[tuple[str, int], ...] = ()  # (counter, number of operations that may stay outstanding)


NOTHING = CounterEffect()


class WaitcntGeneration:
    """The rules of one generation; the first row of a table that matches counts.

    `order` is the order in which a wait checks counters; `fields` are the bit fields of an `s_waitcnt`.
    """

    def __init__(
        self, name: str, order: tuple[str, ...], table: tuple[Row, ...], fields: Fields | None = None
    ) -> None:
        self.name, self.order, self._fields = name, order, fields or {}
        self._table = table
        self.effect = lru_cache(KNOWN_TEXTS)(self._effect)  # findings ask about each text several times

    @cached_property
    def _rows(self) -> list[tuple[re.Pattern[str], Raised]]:
        return [(re.compile(text), raised) for text, raised in self._table]

    def _effect(self, text: str) -> CounterEffect:
        """The effect of a disassembled instruction."""
        if not text.startswith("s_wait"):
            raises = next((raised for fits, raised in self._rows if fits.match(text)), ())
            return CounterEffect(raises) if raises else NOTHING
        left = dict.fromkeys(self.order, 0) if text.startswith("s_wait_idle") else self._left(text)
        waits = tuple((counter, left[counter]) for counter in self.order if counter in left)
        return CounterEffect(waits=waits) if waits else NOTHING

    def most(self, counter: str) -> int:
        """The most operations that a wait can leave outstanding, by the width of its field."""
        return (1 << sum(bits for _, bits in self._fields.get(counter, ((0, 6),)))) - 1

    def _left(self, text: str) -> dict[str, int]:
        """The number of operations that a wait leaves outstanding, for each counter that it names."""
        own, plain, single = _OWN.match(text), _IMMEDIATE.match(text), _SINGLE.match(text)
        if own is not None:
            return {own[1]: number(own[2])}
        if plain is not None:
            return {counter: _unpacked(number(plain[1]), field) for counter, field in self._fields.items()}
        if single is None:  # such as `s_waitcnt vmcnt(3) lgkmcnt(0)`
            return {counter: number(digits) for counter, digits in _NAMED.findall(text)}
        left = number(single[3])  # with `_dscnt` bits 13 to 8 are for the first, 5 to 0 for LDS
        return {single[1]: left >> 8 & 0x3F, "ds": left & 0x3F} if single[2] else {single[1]: left}


def _unpacked(value: int, field: Field) -> int:
    """Return the number whose bits are at several positions of an immediate."""
    total = shift = 0
    for first, bits in field:
        total |= (value >> first & ((1 << bits) - 1)) << shift
        shift += bits
    return total


SCALAR = (
    r"s_(load|store|buffer_(load|store|atomic)|scratch_(load|store)|atomic|atc_probe|memtime|memrealtime"
    r"|dcache_)"
)
MEMORY = r"(t?buffer|global|scratch|image)_"
GDS = r"ds_(gws_|.*\bgds\s*$)"
DIRECT: Row = (r"(lds|ds)_(param_load|direct)", (("exp", "direct"),))
EXPORTS: tuple[Row, ...] = (
    (r"exp(ort)?\s+pos", (("exp", "position"),)),
    (r"exp(ort)?\s+param", (("exp", "parameter"),)),
    (r"exp(ort)?\s", (("exp", "export"),)),
)
_GFX9: tuple[Row, ...] = (
    (SCALAR, (("lgkm", "scalar"),)),
    (r"s_sendmsg", (("lgkm", "message"),)),
    *EXPORTS,
    (GDS, (("lgkm", "gds"), ("exp", "gds"))),
    (r"ds_", (("lgkm", "lds"),)),
    (r"flat_", (("vm", "flat"), ("lgkm", "flat"))),
    (r"buffer_(inv|wbinv)", ()),
    (MEMORY, (("vm", "vector"),)),
)
_WRITES10 = r"\S*(store|wb|atomic(?!.*\bglc\b))"  # after the unit's name; `glc`: the old value is returned
_GFX10: tuple[Row, ...] = (
    (SCALAR, (("lgkm", "scalar"),)),
    (r"s_sendmsg_rtn", (("lgkm", "message"),) * 2),
    (r"s_sendmsg", (("lgkm", "message"),)),
    *EXPORTS,
    DIRECT,
    (GDS, (("lgkm", "gds"), ("exp", "gds"))),
    (r"ds_", (("lgkm", "lds"),)),
    (r"flat_" + _WRITES10, (("vs", "flat"), ("lgkm", "flat"))),
    (r"flat_", (("vm", "flat"), ("lgkm", "flat"))),
    (r"buffer_(inv|gl[012]\w*_inv|wbinv)", ()),
    (MEMORY + _WRITES10, (("vs", "vector"),)),
    (MEMORY, (("vm", "vector"),)),
)
_PREFETCH: Row = (r"\S*_prefetch", ())
_BARRIER = r"s_(get_barrier_state|barrier_(signal_isfirst|leave))"  # they return a value like a scalar load
_WRITES12 = r"\S*(store|wb|atomic(?!.*\bth:TH_ATOMIC_\w*RETURN))"
_MEMORY12 = r"(t?buffer|global|scratch|image|cluster)_"
_GFX12: tuple[Row, ...] = (
    _PREFETCH,
    (SCALAR, (("km", "scalar"),)),
    (_BARRIER, (("km", "scalar"),)),
    (r"s_sendmsg_rtn", (("km", "message"),) * 2),
    (r"s_sendmsg", (("km", "message"),)),
    *EXPORTS,
    DIRECT,
    (r"ds_", (("ds", "lds"),)),
    (r"flat_" + _WRITES12, (("store", "flat"), ("ds", "flat"))),
    (r"flat_", (("load", "flat"), ("ds", "flat"))),
    (r"image_bvh", (("bvh", "vector"),)),
    (r"image_(sample|gather|msaa|get_lod)", (("sample", "vector"),)),
    (_MEMORY12 + _WRITES12, (("store", "vector"),)),
    (_MEMORY12, (("load", "vector"),)),
)
_GFX1250: tuple[Row, ...] = (
    _PREFETCH,
    (r"(global|cluster|buffer)_\S*async_", (("async", "async"), ("x", "vector"))),
    (r"ds_\S*async_", (("async", "async"),)),
    (r"tensor_(load|store)", (("tensor", "tensor"),)),
    (r"global_inv", (("load", "vector"),)),  # cache maintenance has no address
    (r"global_wb", (("store", "vector"),)),
    *(  # operations with an address are translated: xcnt counts vector and scalar memory alike
        (pattern, (*raised, ("x", "scalar" if pattern == SCALAR else "vector")))
        if pattern == SCALAR or pattern.startswith(("flat_", "image_", _MEMORY12))
        else (pattern, raised)
        for pattern, raised in _GFX12
    ),
)
_MARKS = re.compile(r"s_wait_(x|async|tensor)cnt|tensor_(load|store)|(global|cluster|ds)_\w*_?async_")

_ORDER10 = ("vs", "vm", "lgkm", "exp")
_ORDER12 = ("bvh", "exp", "sample", "km", "store", "load", "tensor", "async", "x", "ds")
_PACKED: Fields = {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),)}
GFX9 = WaitcntGeneration("gfx9", ("lgkm", "vm", "exp"), _GFX9, {**_PACKED, "lgkm": ((8, 4),)})
GFX10 = WaitcntGeneration("gfx10", _ORDER10, _GFX10, {**_PACKED, "lgkm": ((8, 6),)})
GFX11 = WaitcntGeneration("gfx11", _ORDER10, _GFX10, {"vm": ((10, 6),), "exp": ((0, 3),), "lgkm": ((4, 6),)})
GFX12 = WaitcntGeneration("gfx12", _ORDER12, _GFX12)
GFX1250 = WaitcntGeneration("gfx1250", _ORDER12, _GFX1250)
_BY_NAME = {one.name: one for one in (GFX9, GFX10, GFX11, GFX12, GFX1250)}


def generation_of(architecture: Architecture, texts: tuple[str, ...]) -> WaitcntGeneration:
    """Return the rules of an architecture, or of gfx1250 if a gfx12 program has instructions of gfx1250."""
    # A program has instructions that only gfx1250 of all gfx12 targets has
    is_later = architecture.waitcnt == GFX12.name and any(_MARKS.match(text) for text in texts)
    return GFX1250 if is_later else _BY_NAME[architecture.waitcnt]
