"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import Feature, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    id="time",
    schemas=(),
    panels=(
        PanelEntry(
            id="overview",
            title="Overview",
            tip="All of the capture: what the waves were doing, and which part the timelines show.",
            area="time",
            order=0,
            target="rcv_py.features.time.overview_panel:OverviewPanel",
            is_strip=True,
            needs=(Affects.WAVES, Affects.OCCUPANCY),
        ),
        PanelEntry(
            id="compute_unit",
            title="Compute Unit",
            tip="Every instruction of the waves of a compute unit over time, and the state of each wave.",
            area="time",
            order=10,
            target="rcv_py.features.time.compute_unit_panel:ComputeUnitPanel",
            shows=("token",),
            needs=(Affects.WAVES,),
            keys=("Ctrl+Shift+7",),
        ),
        PanelEntry(
            id="global_timeline",
            title="Global",
            tip="When and where every wave of the traced shader engines lived, in the colour of its kernel.",
            area="time",
            order=20,
            target="rcv_py.features.time.global_panel:GlobalTimelinePanel",
            needs=(Affects.OCCUPANCY,),
            keys=("Ctrl+Shift+8",),
        ),
    ),
)
