"""gfx9: three counters, vector memory, everything on the scalar and LDS side, exports.

vmcnt counts reads and writes alike, copies from memory to LDS included; throwing caches away is not counted,
writing them back is.
"""

from __future__ import annotations

from rcv_py.analysis.waits.waitcnt.effects import Field, Row, generation, one_instruction_waits

SCALAR = (
    r"s_(load|store|buffer_(load|store|atomic)|scratch_(load|store)|atomic|atc_probe"
    r"|memtime|memrealtime|dcache_)"
)
MEMORY = r"(t?buffer|global|scratch|image)_"
EXPORTS: tuple[Row, ...] = (
    (r"exp(ort)?\s+pos", (("exp", "position"),)),
    (r"exp(ort)?\s+param", (("exp", "parameter"),)),
    (r"exp(ort)?\s", (("exp", "export"),)),
)
GDS = r"ds_(gws_|.*\bgds\s*$)"

TABLE: tuple[Row, ...] = (
    (SCALAR, (("lgkm", "scalar"),)),
    (r"s_sendmsg", (("lgkm", "message"),)),
    *EXPORTS,
    (GDS, (("lgkm", "gds"), ("exp", "gds"))),
    (r"ds_", (("lgkm", "lds"),)),
    (r"flat_", (("vm", "flat"), ("lgkm", "flat"))),
    (r"buffer_(inv|wbinv)", ()),
    (MEMORY, (("vm", "vector"),)),
)
FIELDS: dict[str, Field] = {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),), "lgkm": ((8, 4),)}

RULES = generation("gfx9", ("lgkm", "vm", "exp"), TABLE, one_instruction_waits(FIELDS))
