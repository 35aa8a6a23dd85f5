"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import CommandEntry, Feature, Group
from rcv_py.features.registers.options import RegistersOptions

FEATURE = Feature(
    id="registers", commands=(CommandEntry(RegistersOptions, Group.DIG, 130),), sections={"registers": 220}
)
