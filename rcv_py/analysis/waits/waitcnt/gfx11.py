"""gfx11: the counters of gfx10 at other places of the immediate."""

from __future__ import annotations

from rcv_py.analysis.waits.waitcnt.effects import Field, generation, one_instruction_waits
from rcv_py.analysis.waits.waitcnt.gfx10 import ORDER, TABLE

FIELDS: dict[str, Field] = {"vm": ((10, 6),), "exp": ((0, 3),), "lgkm": ((4, 6),)}

RULES = generation("gfx11", ORDER, TABLE, one_instruction_waits(FIELDS))
