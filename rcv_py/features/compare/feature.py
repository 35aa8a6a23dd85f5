"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry

FEATURE = Feature(
    commands=(
        CommandEntry("compare", Group.LOOK, 80),
        CommandEntry("index", Group.MANAGE, 20, "index_command"),
        CommandEntry("trend", Group.MANAGE, 30, "trend_command"),
    ),
    schemas=("library_result", "program_result", "result"),
    panels=(
        PanelEntry(
            id="compare",
            title="Compare",
            tip="The open capture against a baseline, beyond noise.",
            reading="Grey is within noise; the sentence on top is about the launch, and it decides.",
            order=80,
            shows=("comparison",),
            keys=("Ctrl+Alt+4",),
        ),
    ),
)
