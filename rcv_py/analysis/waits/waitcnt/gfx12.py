"""gfx12: a counter a kind of memory, and a wait instruction a counter.

`s_wait_loadcnt_dscnt` and `s_wait_storecnt_dscnt` ask two: bits 13 to 8 for the first, 5 to 0 for LDS.
"""

from __future__ import annotations

import re

from rcv_py.analysis.waits.waitcnt.effects import NUMBER, Row, generation, named_counters
from rcv_py.analysis.waits.waitcnt.gfx9 import EXPORTS
from rcv_py.base.numbers import number

ORDER = ("bvh", "exp", "sample", "km", "store", "load", "tensor", "async", "x", "ds")
SCALAR = (
    r"s_(load|store|buffer_(load|store|atomic)|scratch_(load|store)|atomic|atc_probe|memtime|memrealtime"
    r"|dcache_)"
)
BARRIER = r"s_(get_barrier_state|barrier_(signal_isfirst|leave))"  # they return a value like a scalar load
PREFETCH = r"\S*_prefetch"
WRITES = r"\S*(store|wb|atomic(?!.*\bth:TH_ATOMIC_\w*RETURN))"
MEMORY = r"(t?buffer|global|scratch|image|cluster)_"

TABLE: tuple[Row, ...] = (
    (PREFETCH, ()),
    (SCALAR, (("km", "scalar"),)),
    (BARRIER, (("km", "scalar"),)),
    (r"s_sendmsg_rtn", (("km", "message"),) * 2),
    (r"s_sendmsg", (("km", "message"),)),
    *EXPORTS,
    (r"(lds|ds)_(param_load|direct)", (("exp", "direct"),)),
    (r"ds_", (("ds", "lds"),)),
    (r"flat_" + WRITES, (("store", "flat"), ("ds", "flat"))),
    (r"flat_", (("load", "flat"), ("ds", "flat"))),
    (r"image_bvh", (("bvh", "vector"),)),
    (r"image_(sample|gather|msaa|get_lod)", (("sample", "vector"),)),
    (MEMORY + WRITES, (("store", "vector"),)),
    (MEMORY, (("load", "vector"),)),
)

_SINGLE = re.compile(r"s_wait_(\w+?)cnt(?:_(ds)cnt)?\s+" + NUMBER)


def wanted(text: str) -> dict[str, int]:
    """Return what a wait asks of which counters."""
    match = _SINGLE.match(text)
    if match is None:
        return named_counters(text)
    asked = number(match[3])
    return {match[1]: asked >> 8 & 0x3F, "ds": asked & 0x3F} if match[2] else {match[1]: asked}


RULES = generation("gfx12", ORDER, TABLE, wanted)
