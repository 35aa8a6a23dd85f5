"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("roofline", Group.DIG, 120),),
    sections={"peaks": 80},
    panels=(
        PanelEntry(
            id="roofline",
            title="Roofline",
            tip="The kernel and its loops against the peaks of computing and of memory.",
            reading="A point below the slope is bound by memory, a point below the flat roof by computing; "
            "the distance to the line is the room.",
            order=55,
            needs=(Affects.WAVES, Affects.CODE),
            keys=("Ctrl+Alt+7",),
        ),
    ),
)
