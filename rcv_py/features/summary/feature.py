"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import AgentTool, CommandEntry, Feature, Group, PanelEntry
from rcv_py.features.summary.options import InfoOptions, SummaryOptions

FEATURE = Feature(
    id="summary",
    commands=(
        CommandEntry(
            InfoOptions,
            "info_command",
            Group.LOOK,
            40,
            AgentTool("Use it to see waves, code and clocks of a capture before trusting a number."),
        ),
        CommandEntry(
            SummaryOptions,
            "command",
            Group.LOOK,
            50,
            AgentTool("Use it for the kernel as a whole; units shows which pipe is the bottleneck."),
            former={"units": ("--units",)},
        ),
    ),
    schemas=(
        "info_result",
        "result",
    ),
    sections={"configuration": 70, "how_to": 260},
    panels=(
        PanelEntry(
            id="summary",
            title="Summary",
            tip="The capture in numbers, on one page.",
            area="bottom",
            order=50,
            target="rcv_py.features.summary.panel:SummaryPanel",
            keys=("Ctrl+Alt+Shift+8",),
        ),
    ),
)
