"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import Feature, PanelEntry

FEATURE = Feature(
    id="summary",
    schemas=(
        "info_result",
        "result",
    ),
    panels=(
        PanelEntry(
            id="summary",
            title="Summary",
            tip="The capture in numbers, on one page.",
            area="bottom",
            order=50,
            target="rcv_py.features.summary.panel:SummaryPanel",
            keys=("Ctrl+Alt+Shift+8",),
        ),
    ),
)
