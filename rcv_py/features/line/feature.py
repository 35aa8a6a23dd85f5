"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("line", Group.DIG, 30, former={"place": ()}),),
    panels=(
        PanelEntry(
            id="token_details",
            title="Instruction",
            tip="The selected instruction: all its executions, and what the selected execution waited for.",
            reading="The histogram holds all executions: two humps mean two behaviours, often a cache hit "
            "and a miss.",
            area="details",
            order=20,
            target="token_panel",
            needs=(Affects.WAVES,),
            icon="info",
            keys=("Alt+Shift+8",),
        ),
        PanelEntry(
            id="distribution",
            title="Distribution",
            tip="The times of all hits of the selected instruction.",
            reading="The axis is time per execution, the height how many took so long; two humps mean two "
            "behaviours.",
            area="apart",
            order=45,
            target="distribution_panel",
            needs=(Affects.WAVES, Affects.CODE),
            is_at_start=False,
            keys=("Ctrl+Alt+8",),
        ),
    ),
)
