"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("loops", Group.DIG, 60),),
    schemas=("result", "static_result"),
    sections={"loop_phases": 140, "segments": 150},
    panels=(
        PanelEntry(
            id="loops",
            title="Loops",
            tip="Iterations of loops, and segments between barriers: how long each took, and what on.",
            reading="A column is an iteration: a flat row is a steady loop, a first column that towers above "
            "the rest is a cold start.",
            order=30,
            needs=(Affects.CODE,),
            keys=("Ctrl+Alt+Shift+6",),
        ),
    ),
)
