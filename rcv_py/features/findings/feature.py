"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry

FEATURE = Feature(
    commands=(CommandEntry("triage", Group.LOOK, 20),),
    sections={"the_verdict": 10, "ranked": 20},
    panels=(
        PanelEntry(
            id="triage",
            title="Findings",
            tip="What to look at first: findings with evidence and a remedy.",
            reading="Findings are ranked by what the kernel's duration can gain: by limit, else prediction "
            "(→), else bound (≤).",
            area="left",
            order=10,
            icon="findings",
            shows=("findings",),
            keys=("Ctrl+Shift+1",),
            has_commands=True,
        ),
    ),
)
