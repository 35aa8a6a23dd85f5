"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("flame", Group.DIG, 100),),
    panels=(
        PanelEntry(
            id="flamegraph",
            title="Flamegraph",
            tip="Costs by source place and instruction, one inside the other.",
            reading="The width is cost, a row is a level of inlining with instructions at the end; order is "
            "not time.",
            order=60,
            needs=(Affects.CODE,),
            keys=("Ctrl+Alt+Shift+9",),
        ),
    ),
)
