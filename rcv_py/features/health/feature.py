"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelCommand, PanelEntry

FEATURE = Feature(
    commands=(CommandEntry("check", Group.LOOK, 30),),
    sections={"health": 60},
    panels=(
        PanelEntry(
            id="trust",
            title="Problems and health",
            tip="What is wrong with the files, and whether the capture can be trusted.",
            reading="Problems are about files, health about the recording: read them before you believe a "
            "surprising number.",
            area="apart",
            order=90,
            icon="warning",
            is_at_start=False,
            keys=("Ctrl+Alt+9", "Ctrl+Shift+F5"),
            commands=(
                PanelCommand(
                    id="analyze.copy_input_yaml",
                    title="Copy input.yaml for a better capture",
                    menu="Analyze",
                    keys=("Ctrl+Alt+Y",),
                    tip="Copy an input file for rocprofv3 that records this kernel again "
                    "as Health recommends.",
                    method="copy_input",
                    why_not="why_no_input",
                    until="Open the panel Problems and health first.",
                ),
            ),
        ),
    ),
)
