"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("range", Group.LOOK, 60),),
    panels=(
        PanelEntry(
            id="clock_range",
            title="Range",
            tip="What waves did in the measured range, and how long it takes "
            "from one instruction to another.",
            reading="Shift+drag in a time view measures a range, and Esc removes it.",
            area="details",
            order=30,
            shows=("range",),
            needs=(Affects.WAVES,),
            keys=("Alt+Shift+9",),
        ),
    ),
)
