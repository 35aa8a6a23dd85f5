"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("latency", Group.DIG, 80),),
    sections={"hidden": 190, "accesses": 200, "addresses": 205, "fetches": 210},
    panels=(
        PanelEntry(
            id="latency",
            title="Latency",
            tip="What other waves hide of the latency, how long memory takes, waits for units and code, and "
            "what the recorded addresses of lanes touch.",
            reading="Rows are ranked by latency that other waves do not hide: only that can make the kernel "
            "faster.",
            order=40,
            needs=(Affects.WAVES, Affects.CODE),
            keys=("Ctrl+Alt+Shift+7",),
        ),
    ),
)
