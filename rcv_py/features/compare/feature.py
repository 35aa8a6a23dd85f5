"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import Feature, PanelEntry

FEATURE = Feature(
    id="compare",
    schemas=(
        "library_result",
        "result",
        "trend_result",
    ),
    panels=(
        PanelEntry(
            id="compare",
            title="Compare",
            tip="The open capture against a baseline, beyond noise.",
            area="bottom",
            order=80,
            target="rcv_py.features.compare.panel:ComparePanel",
            shows=("comparison",),
            keys=("Ctrl+Alt+4",),
        ),
    ),
)
