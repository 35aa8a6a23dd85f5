"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("source", Group.DIG, 20),),
    schemas=("result", "static_result"),
    panels=(
        PanelEntry(
            id="source",
            title="Source",
            tip="Source lines with their costs.",
            reading="A cost counts for the innermost inlined place (self) or for all lines that lead there "
            "(inclusive); a click selects the instructions of a line.",
            area="source",
            order=10,
            shows=("source line",),
            needs=(Affects.CODE, Affects.SOURCE_LINES, Affects.SOURCE_TEXT),
            keys=("Alt+Shift+6",),
            has_commands=True,
        ),
    ),
)
