"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    id="hotspot",
    commands=(CommandEntry("hotspot", Group.LOOK, 70),),
    sections={"kinds": 100, "top_lines": 130, "source_lines": 170},
    panels=(
        PanelEntry(
            id="explorer",
            title="Files",
            tip="Files and lines by cost, as a tree or ranked.",
            reading="Begin at the largest bar: a folder or file holds the cost of all that is in it.",
            area="left",
            order=20,
            target="rcv_py.features.hotspot.files_panel:FilesPanel",
            needs=(Affects.CODE, Affects.SOURCE_LINES),
            icon="folder",
            keys=("Ctrl+Shift+E", "Ctrl+Shift+2"),
        ),
        PanelEntry(
            id="file_tree",
            title="Files as a tree",
            tip="Folders, files and lines by cost.",
            area="left",
            order=21,
            target="rcv_py.features.hotspot.files_tree:FileTreePanel",
            needs=(Affects.CODE, Affects.SOURCE_LINES),
            icon="folder",
            within="explorer",
            is_listed=False,
        ),
        PanelEntry(
            id="top_lines",
            title="Top lines",
            tip="Lines ranked by cost.",
            area="left",
            order=25,
            target="rcv_py.features.hotspot.files_rows:TopLinesPanel",
            needs=(Affects.CODE, Affects.SOURCE_LINES),
            within="explorer",
            keys=("Ctrl+Shift+3",),
        ),
        PanelEntry(
            id="hotspot",
            title="Hotspot",
            tip="Cycles by place in the program.",
            reading=(
                "A bar is a range of instructions, its height their latency summed over waves, its "
                "colours their kinds; a click selects the range everywhere, and a tall bar is where to "
                "look first."
            ),
            area="bottom",
            order=10,
            target="rcv_py.features.hotspot.panel:HotspotPanel",
            needs=(Affects.WAVES, Affects.CODE),
            keys=("Ctrl+Alt+Shift+1",),
        ),
    ),
)
