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
            reading="Findings are ranked by the possible gain of the kernel's duration: ≤ is a bound, → the "
            "prediction for the remedy with its range.",
            area="left",
            order=10,
            icon="findings",
            shows=("findings",),
            keys=("Ctrl+Shift+1",),
            has_commands=True,
        ),
    ),
)
