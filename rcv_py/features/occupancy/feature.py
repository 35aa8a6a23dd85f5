"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("occupancy", Group.DIG, 140),),
    sections={"occupancy": 230},
    panels=(
        PanelEntry(
            id="occupancy",
            title="Occupancy",
            tip="Waves over time: by shader engine or place, by kernel, or by their state.",
            reading=(
                "The height counts resident waves, working or waiting; a slope at the left is the launch, "
                "at the right the tail; much wait or stall means that waves do not hide each other's latency."
            ),
            area="time",
            order=40,
            needs=(Affects.OCCUPANCY,),
            keys=("Alt+Shift+1",),
        ),
    ),
)
