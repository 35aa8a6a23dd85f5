"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import Feature, PanelEntry
from rcv_py.base.problems import Affects

FEATURE = Feature(
    id="isa",
    schemas=(
        "help_result",
        "result",
    ),
    panels=(
        PanelEntry(
            id="isa",
            title="ISA",
            tip="Instructions with their costs and waits.",
            area="code",
            order=10,
            target="rcv_py.features.isa.panel:IsaPanel",
            shows=("instruction",),
            needs=(Affects.CODE,),
            keys=("Alt+Shift+5",),
            has_commands=True,
        ),
    ),
)
