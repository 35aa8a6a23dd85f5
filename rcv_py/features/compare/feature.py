"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import AgentTool, CommandEntry, Feature, Group, PanelEntry
from rcv_py.features.compare.options import CompareOptions, IndexOptions, TrendOptions

FEATURE = Feature(
    id="compare",
    commands=(
        CommandEntry(
            CompareOptions,
            "command",
            Group.LOOK,
            80,
            AgentTool("Use it after a change: folder is before, other is after."),
        ),
        CommandEntry(
            IndexOptions,
            "index_command",
            Group.MANAGE,
            20,
            AgentTool(
                "Use it to see which captures there are; no argument lists the root.",
                left_out=("out",),
                defaults={"folder": "."},
                optional=("folder",),
            ),
        ),
        CommandEntry(
            TrendOptions,
            "trend_command",
            Group.MANAGE,
            30,
            AgentTool("Use it on captures of several builds: which one became slower."),
        ),
    ),
    schemas=(
        "library_result",
        "result",
        "trend_result",
    ),
    panels=(
        PanelEntry(
            id="compare",
            title="Compare",
            tip="The open capture against a baseline, beyond noise.",
            area="bottom",
            order=80,
            target="rcv_py.features.compare.panel:ComparePanel",
            shows=("comparison",),
            keys=("Ctrl+Alt+4",),
        ),
    ),
)
