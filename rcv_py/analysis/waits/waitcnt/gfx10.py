"""gfx10: like gfx9, but stores and atomics that return nothing have a counter of their own, vscnt."""

from __future__ import annotations

from rcv_py.analysis.waits.waitcnt.effects import Field, Row, generation, one_instruction_waits
from rcv_py.analysis.waits.waitcnt.gfx9 import EXPORTS, GDS, MEMORY, SCALAR

WRITES = r"\S*(store|wb|atomic(?!.*\bglc\b))"  # behind the unit's name; `glc`: the old value is returned
ORDER = ("vs", "vm", "lgkm", "exp")

TABLE: tuple[Row, ...] = (
    (SCALAR, (("lgkm", "scalar"),)),
    (r"s_sendmsg_rtn", (("lgkm", "message"),) * 2),
    (r"s_sendmsg", (("lgkm", "message"),)),
    *EXPORTS,
    (r"(lds|ds)_(param_load|direct)", (("exp", "direct"),)),
    (GDS, (("lgkm", "gds"), ("exp", "gds"))),
    (r"ds_", (("lgkm", "lds"),)),
    (r"flat_" + WRITES, (("vs", "flat"), ("lgkm", "flat"))),
    (r"flat_", (("vm", "flat"), ("lgkm", "flat"))),
    (r"buffer_(inv|gl[012]\w*_inv|wbinv)", ()),
    (MEMORY + WRITES, (("vs", "vector"),)),
    (MEMORY, (("vm", "vector"),)),
)
FIELDS: dict[str, Field] = {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),), "lgkm": ((8, 6),)}

RULES = generation("gfx10", ORDER, TABLE, one_instruction_waits(FIELDS))
