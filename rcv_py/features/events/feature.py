"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("events", Group.DIG, 190),),
    panels=(
        PanelEntry(
            id="events",
            title="Events",
            tip="Dispatches, hardware events and markers, by time.",
            reading="Rows are in the order of time: a click shows the moment in the time views.",
            order=90,
            needs=(Affects.MARKERS,),
            is_at_start=False,
            appears=True,
            keys=("Ctrl+Alt+5",),
        ),
    ),
)
