"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import Feature, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    schemas=(),
    panels=(
        PanelEntry(
            id="overview",
            title="Overview",
            tip="All of the capture: what the waves were doing, and which part the timelines show.",
            reading="Drag the frame or its edges to change the time that the views below show.",
            area="time",
            order=0,
            target="overview_panel",
            is_strip=True,
            needs=(Affects.WAVES, Affects.OCCUPANCY),
        ),
        PanelEntry(
            id="compute_unit",
            title="Compute Unit",
            tip="Every instruction of the waves of a compute unit over time, and the state of each wave.",
            reading="A row is a wave slot, a block an execution: its faint part is stall, its solid part "
            "issue, and gaps are idle; look for times at which all waves stall.",
            area="time",
            order=10,
            target="compute_unit_panel",
            shows=("token",),
            needs=(Affects.WAVES,),
            keys=("Ctrl+Shift+7",),
        ),
        PanelEntry(
            id="global_timeline",
            title="Global",
            tip="When and where every wave of the traced shader engines lived, in the colour of its kernel.",
            reading="Look at the edges: a slow ramp-up at the left, a tail at the right, empty slots in "
            "between; only waves of the traced compute unit have instructions.",
            area="time",
            order=20,
            target="global_panel",
            shows=("device",),
            needs=(Affects.OCCUPANCY,),
            keys=("Ctrl+Shift+8",),
        ),
    ),
)
