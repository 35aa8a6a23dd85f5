"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group, PanelCommand, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    commands=(
        CommandEntry("search", Group.DIG, 160, "search_command"),
        CommandEntry("notes", Group.MANAGE, 40),
    ),
    sections={"notes": 30},
    panels=(
        PanelEntry(
            id="search",
            title="Search",
            tip="Search code, sources, notes, bookmarks and visited places.",
            reading="Matches are in the order of the program; a click selects the place in all views.",
            area="left",
            order=30,
            target="search_panel",
            shows=("search",),
            needs=(Affects.CODE,),
            icon="search",
            keys=("Ctrl+Shift+F", "Ctrl+Shift+4"),
        ),
        PanelEntry(
            id="matches",
            title="Search code and sources",
            tip="Instructions, labels, source lines and markers that match the search.",
            area="left",
            order=31,
            target="search_panel",
            needs=(Affects.CODE,),
            icon="search",
            within="search",
            is_listed=False,
            commands=(
                PanelCommand(
                    id="search.next",
                    title="Next hit of the search",
                    menu="Go",
                    keys=("F3",),
                    tip="Go to the next place that matches the search.",
                    method="next_hit",
                    why_not="why_no_hit",
                    until="Nothing was searched for, or nothing was found.",
                ),
                PanelCommand(
                    id="search.previous",
                    title="Previous hit of the search",
                    menu="Go",
                    keys=("Shift+F3",),
                    tip="Go to the place before that matches the search.",
                    method="previous_hit",
                    why_not="why_no_hit",
                    until="Nothing was searched for, or nothing was found.",
                ),
            ),
        ),
        PanelEntry(
            id="history",
            title="History",
            tip="Bookmarks and visited places.",
            area="left",
            order=50,
            target="search_panel",
            icon="bookmark",
            within="search",
            keys=("Ctrl+Shift+6",),
        ),
        PanelEntry(
            id="notes",
            title="Notes",
            tip="Notes about places of the capture, written by people and agents.",
            area="left",
            order=55,
            target="search_panel",
            shows=("notes",),
            icon="bookmark",
            within="search",
            is_listed=False,
        ),
    ),
)
