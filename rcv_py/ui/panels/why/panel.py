"""Why waves waited, in one panel: by cause, by wait, and by cycles in which their SIMD did nothing."""

from __future__ import annotations

from types import MappingProxyType

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.panel import panel
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.widgets.choice import Switch
from rcv_py.ui.widgets.parts import PartedPanel

MARGINS = (8, 4, 8, 0)
TEXTS = {"causes": "By cause", "waits": "By wait or counter", "bubbles": "By no-issue cycles"}
TIPS = {
    "causes": "Stalled and idle cycles by what caused them; below each the instructions that were late, "
    "and below these the ones to blame.",
    "waits": "Stall of each wait instruction; below it the operations of its counter that it waited for.",
    "bubbles": "Cycles in which a SIMD held waves and none issued, by the instructions that these waited in.",
}


@panel(id="why", title="Why", area="bottom", order=20, needs=("code",))
class WhyPanel(PartedPanel):
    """Why waves stalled and idled: by cause, by wait, by cycles without issue."""

    texts = MappingProxyType(TEXTS)
    choice_name = "How stalled and idle cycles are grouped"
    choice_kind = Switch

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        assert isinstance(self.choice, Switch)
        for name, button in self.choice.buttons.items():
            button.setToolTip(tooltip(TIPS[name]))
            button.setAccessibleDescription(TIPS[name])
        column(boxed(row(self.choice, None, margins=MARGINS)), (self.stack, 1), of=self)

    def caption(self) -> str:
        """How cycles are grouped, and what that grouping says."""
        grouping = TEXTS[self.chosen_part].lower()
        return ", ".join(filter(None, (grouping, super().caption())))
