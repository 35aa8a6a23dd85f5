"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import AgentTool, CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects
from rcv_py.features.isa.options import IsaDocsOptions, IsaOptions

FEATURE = Feature(
    id="isa",
    commands=(
        CommandEntry(
            IsaOptions,
            "command",
            Group.DIG,
            10,
            AgentTool(
                "Use it to read the program, its blocks and branches; help_of says what an instruction does.",
                defaults={"top": 40},
            ),
        ),
        CommandEntry(IsaDocsOptions, "docs_command", Group.MANAGE, 50),
    ),
    schemas=(
        "help_result",
        "result",
    ),
    sections={"blocks_of": 160, "pc_map": 250},
    panels=(
        PanelEntry(
            id="isa",
            title="ISA",
            tip="Instructions with their costs and waits.",
            area="code",
            order=10,
            target="rcv_py.features.isa.panel:IsaPanel",
            shows=("instruction",),
            needs=(Affects.CODE,),
            keys=("Alt+Shift+5",),
            has_commands=True,
        ),
    ),
)
