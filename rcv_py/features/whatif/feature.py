"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(
        CommandEntry("whatif", Group.DIG, 90),
        CommandEntry("schedule", Group.DIG, 110, "schedule_command"),
    ),
    schemas=("result", "schedule_result"),
    sections={"experiments": 40, "critical_path": 50},
    panels=(
        PanelEntry(
            id="whatif",
            title="What if",
            tip="What changes of the kernel would gain, predicted by replaying the recording.",
            reading=(
                "Bars compare the wave as it ran with the wave as it would run; a change is a part of the "
                "kernel's duration, with its range."
            ),
            order=26,
            target="panel:WhatIfPanel",
            shows=("prediction",),
            needs=(Affects.WAVES, Affects.CODE),
            keys=("Ctrl+Alt+6",),
        ),
    ),
)
