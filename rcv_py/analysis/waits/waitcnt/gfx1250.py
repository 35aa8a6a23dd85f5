"""gfx1250: gfx12 with counters for copies between memory and LDS, tensor copies and address translation.

xcnt counts vector and scalar memory until its addresses are translated.  Scalar memory is out of order there
too, and so is a mixture of both.
"""

from __future__ import annotations

import re

from rcv_py.analysis.waits.waitcnt import gfx12
from rcv_py.analysis.waits.waitcnt.effects import Raised, Row, generation

_MARKS = re.compile(r"s_wait_(x|async|tensor)cnt|tensor_(load|store)|(global|cluster|ds)_\w*_?async_")
_OWN: tuple[Row, ...] = (
    (gfx12.PREFETCH, ()),
    (r"(global|cluster|buffer)_\S*async_", (("async", "async"), ("x", "vector"))),
    (r"ds_\S*async_", (("async", "async"),)),
    (r"tensor_(load|store)", (("tensor", "tensor"),)),
)
_TRANSLATED = {
    gfx12.SCALAR: "scalar",
    r"flat_" + gfx12.WRITES: "vector",
    r"flat_": "vector",
    r"image_bvh": "vector",
    r"image_(sample|gather|msaa|get_lod)": "vector",
    gfx12.MEMORY + gfx12.WRITES: "vector",
    gfx12.MEMORY: "vector",
}
_CACHES: tuple[Row, ...] = (  # caches are cleaned without an address
    (r"global_inv", (("load", "vector"),)),
    (r"global_wb", (("store", "vector"),)),
)


def _translated(pattern: str, raised: Raised) -> Row:
    kind = _TRANSLATED.get(pattern)
    return (pattern, raised) if kind is None else (pattern, (*raised, ("x", kind)))


TABLE: tuple[Row, ...] = (*_OWN, *_CACHES, *(_translated(*row) for row in gfx12.TABLE))

RULES = generation("gfx1250", gfx12.ORDER, TABLE, gfx12.wanted)


def is_spoken(texts: tuple[str, ...]) -> bool:
    """Whether a program has instructions that only this member of the generation knows."""
    return any(_MARKS.match(text) for text in texts)
