"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("isa", Group.DIG, 10), CommandEntry("isa-docs", Group.MANAGE, 50, "docs_command")),
    schemas=("help_result", "static_result"),
    sections={"blocks_of": 160, "pc_map": 250},
    panels=(
        PanelEntry(
            id="isa",
            title="ISA",
            tip="Instructions with their costs and waits.",
            reading="Latency is stall plus issue, summed over waves, so it is not elapsed time; an arrow "
            "leads from a load to its wait, and a short arrow at a red wait means that the load was "
            "issued too late.",
            area="code",
            order=10,
            shows=("instruction",),
            needs=(Affects.CODE,),
            keys=("Alt+Shift+5",),
            has_commands=True,
        ),
    ),
)
