"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(
        CommandEntry("waits", Group.DIG, 40, "waits_command"),
        CommandEntry("causes", Group.DIG, 50),
        CommandEntry("bubbles", Group.DIG, 70, "bubbles_command"),
    ),
    schemas=("bubbles_result", "result", "waits_result"),
    sections={"causes": 110, "waits": 120, "idle_simds": 180},
    panels=(
        PanelEntry(
            id="why",
            title="Why",
            tip="Why waves stalled and idled: by cause, by wait, by cycles without issue.",
            reading="Every stalled and idle cycle has a cause and an instruction to blame; cycles without "
            "issue are only those that no other wave hides.",
            order=20,
            needs=(Affects.CODE,),
            keys=("Ctrl+Alt+Shift+2",),
        ),
        PanelEntry(
            id="causes",
            title="Causes",
            tip="Why waves stalled and idled, and which instruction is to blame.",
            order=21,
            needs=(Affects.CODE,),
            within="why",
            target="panel:WhyPanel",
            keys=("Ctrl+Alt+Shift+3",),
        ),
        PanelEntry(
            id="waits",
            title="Waits",
            tip="What waits waited for, with the stall charged to it.",
            order=24,
            needs=(Affects.WAVES, Affects.CODE),
            within="why",
            target="panel:WhyPanel",
            keys=("Ctrl+Alt+Shift+4",),
        ),
        PanelEntry(
            id="bubbles",
            title="Bubbles",
            tip="Which instructions waves waited in while nothing happened on their SIMD.",
            order=25,
            needs=(Affects.CODE,),
            within="why",
            target="panel:WhyPanel",
            keys=("Ctrl+Alt+Shift+5",),
        ),
    ),
)
