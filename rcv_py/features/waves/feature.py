"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("waves", Group.DIG, 150, former={"wave": ()}),),
    sections={"activity": 90, "waves": 240},
    panels=(
        PanelEntry(
            id="utilization",
            title="Utilization",
            tip="When each unit of the compute unit was busy, and for what share of the view.",
            reading="The height is the share of cycles in which a unit worked; many resident waves with low "
            "utilization all wait.",
            area="time",
            order=30,
            target="utilization_panel",
            needs=(Affects.WAVES,),
            keys=("Ctrl+Shift+9",),
        ),
        PanelEntry(
            id="wave_picker",
            title="Wave",
            tip="Choose a wave and the waves that count.",
            reading="The wave chosen here is the one that ISA, Instruction and What if show; the others only "
            "count in sums.",
            area="wave",
            order=10,
            target="wave_picker_panel",
            needs=(Affects.WAVES,),
            icon="wave",
            keys=("Alt+Shift+7",),
            has_commands=True,
        ),
    ),
)
