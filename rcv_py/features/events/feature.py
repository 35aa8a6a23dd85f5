"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import AgentTool, CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects
from rcv_py.features.events.options import EventsOptions

FEATURE = Feature(
    id="events",
    commands=(
        CommandEntry(
            EventsOptions,
            "command",
            Group.DIG,
            190,
            AgentTool("Use it for order in time: dispatches and markers."),
        ),
    ),
    schemas=("result",),
    panels=(
        PanelEntry(
            id="events",
            title="Events",
            tip="Dispatches, hardware events and markers, by time.",
            area="bottom",
            order=90,
            target="rcv_py.features.events.panel:EventsPanel",
            needs=(Affects.MARKERS,),
            is_at_start=False,
            appears=True,
            keys=("Ctrl+Alt+5",),
        ),
    ),
)
