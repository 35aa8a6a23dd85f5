"""Why waves waited, in one panel: by cause, by wait, and by cycles in which their SIMD did nothing."""

from __future__ import annotations

from types import MappingProxyType

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.panel import panel
from rcv_py.ui.widgets.choice import Switch
from rcv_py.ui.widgets.parts import PartedPanel

MARGINS = (8, 4, 8, 0)


@panel(id="why", title="Why", area="bottom", order=20, needs=("code",))
class WhyPanel(PartedPanel):
    """Why waves stalled and idled: by cause, by wait, by cycles without issue."""

    texts = MappingProxyType(
        {"causes": "By cause", "waits": "By wait or counter", "bubbles": "By no-issue cycles"}
    )
    choice_name = "How stalled and idle cycles are grouped"
    choice_kind = Switch

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        column(boxed(row(self.choice, None, margins=MARGINS)), (self.stack, 1), of=self)
