"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelCommand, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("counters", Group.DIG, 170), CommandEntry("pmc", Group.DIG, 180, "pmc_command")),
    schemas=("pmc_result", "result"),
    panels=(
        PanelEntry(
            id="counters",
            title="Counters",
            tip="Hardware counters over time, and formulas.",
            reading="Curves share the axis of the time views: compare their peaks and gaps with what the "
            "waves did then.",
            area="time",
            order=70,
            needs=(Affects.COUNTERS,),
            keys=("Alt+Shift+4",),
            commands=(
                PanelCommand(
                    id="analyze.formulas",
                    title="Formulas of counters…",
                    menu="Analyze",
                    keys=("Ctrl+Shift+D",),
                    tip="Write formulas over hardware counters and see their curves.",
                    method="edit_formulas",
                ),
            ),
        ),
    ),
)
