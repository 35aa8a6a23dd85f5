"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(CommandEntry("hotspot", Group.LOOK, 70),),
    sections={"kinds": 100, "top_lines": 130, "source_lines": 170},
    panels=(
        PanelEntry(
            id="explorer",
            title="Files",
            tip="Folders, files and lines by cost.",
            reading="Begin at the largest bar: a folder or file holds the cost of all that is in it.",
            area="left",
            order=20,
            target="files_panel:FilesPanel",
            needs=(Affects.CODE, Affects.SOURCE_LINES),
            icon="folder",
            keys=("Ctrl+Shift+E", "Ctrl+Shift+2"),
        ),
        PanelEntry(
            id="hotspot",
            title="Hotspot",
            tip="Cycles by place in the program.",
            reading="A bar is a range of instructions, its height their latency summed over waves, its "
            "colours their kinds; a click selects the range everywhere, the wheel zooms, and a tall "
            "bar is where to look first.",
            order=10,
            needs=(Affects.WAVES, Affects.CODE),
            keys=("Ctrl+Alt+Shift+1",),
        ),
    ),
)
