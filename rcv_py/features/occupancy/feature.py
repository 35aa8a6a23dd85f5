"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("occupancy", Group.DIG, 140),),
    sections={"occupancy": 230},
    panels=(
        PanelEntry(
            id="occupancy",
            title="Occupancy",
            tip="Resident waves over time, by shader engine or place.",
            reading=(
                "The height counts resident waves, working or waiting; a slope at the left is the launch, "
                "at the right the tail."
            ),
            area="time",
            order=40,
            needs=(Affects.OCCUPANCY,),
            keys=("Alt+Shift+1",),
        ),
        PanelEntry(
            id="dispatches",
            title="Kernels",
            tip="Resident waves of each kernel over time.",
            reading="Each curve is a kernel: where several are above 0, they share the device.",
            area="time",
            order=60,
            target="dispatches_panel",
            needs=(Affects.OCCUPANCY,),
            keys=("Alt+Shift+3",),
        ),
    ),
)
