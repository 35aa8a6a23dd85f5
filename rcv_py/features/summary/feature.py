"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry

FEATURE = Feature(
    commands=(
        CommandEntry("info", Group.LOOK, 40, "info_command"),
        CommandEntry("summary", Group.LOOK, 50, former={"units": ("--units",)}),
    ),
    schemas=("info_result", "result"),
    sections={"configuration": 70, "how_to": 260},
    panels=(
        PanelEntry(
            id="summary",
            title="Summary",
            tip="The capture in numbers, on one page.",
            reading="Every number says what it is a part of; begin with the duration and the cycles without "
            "issue.",
            order=50,
            keys=("Ctrl+Alt+Shift+8",),
        ),
    ),
)
