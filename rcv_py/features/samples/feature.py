"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("samples", Group.DIG, 135),),
    panels=(
        PanelEntry(
            id="samples",
            title="Samples",
            tip="PC samples by instruction, and where they differ from the traced waves.",
            reading="An instruction with a larger share of the samples than of the traced cycles costs more "
            "elsewhere than on the traced compute units.",
            keys=("Alt+Shift+0",),
            order=98,
            is_at_start=False,
            needs=(Affects.CODE,),
        ),
    ),
)
