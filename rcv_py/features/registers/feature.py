"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import AgentTool, CommandEntry, Feature, Group
from rcv_py.features.registers.options import RegistersOptions

FEATURE = Feature(
    id="registers",
    commands=(
        CommandEntry(
            RegistersOptions,
            "command",
            Group.DIG,
            130,
            AgentTool(
                "Use it before an edit that takes registers: where most are held, which are free at a line."
            ),
        ),
    ),
    schemas=("result",),
    sections={"registers": 220},
)
