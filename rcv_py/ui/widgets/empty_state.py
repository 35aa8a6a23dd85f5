"""What a panel shows when it has nothing to show: why, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rcv_py.base.problems import Affects
from rcv_py.model.trace import Trace
from rcv_py.ui.core.layout import Item, boxed, column
from rcv_py.ui.core.plain_text import PlainLabel

NO_TRACE = "No capture is open. Open a ui_output folder with Ctrl+O, or drop one here."


# What a panel cannot do without: if it is empty, the problems of this data say why.
NEEDS = {
    **dict.fromkeys(("compute_unit", "utilization", "wave_states"), (Affects.WAVES,)),
    **dict.fromkeys(("wave_picker", "token_details"), (Affects.WAVES,)),
    **dict.fromkeys(("hotspot", "distribution", "waits", "latency"), (Affects.WAVES, Affects.CODE)),
    **dict.fromkeys(("global_timeline", "occupancy", "dispatches"), (Affects.OCCUPANCY,)),
    "overview": (Affects.WAVES, Affects.OCCUPANCY),
    **dict.fromkeys(("isa", "labels", "search"), (Affects.CODE,)),
    **dict.fromkeys(("causes", "loops", "bubbles", "flamegraph"), (Affects.CODE,)),
    **dict.fromkeys(("explorer", "top_lines"), (Affects.CODE, Affects.SOURCE_LINES)),
    "source": (Affects.CODE, Affects.SOURCE_LINES, Affects.SOURCE_TEXT),
    "counters": (Affects.COUNTERS,),
    "events": (Affects.MARKERS,),
}


def reason(trace: Trace | None, panel: str, otherwise: str) -> str:
    """Return why a panel is empty: what the trace says about its data, else the given sentence."""
    if trace is None:
        return NO_TRACE
    problems = trace.problems_about(*NEEDS.get(panel, ()))
    return "\n\n".join(str(problem) for problem in problems) if problems else otherwise


class WithEmptyState(QStackedWidget):
    """A widget, or a centred sentence in its place."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.content = content
        self.sentence = PlainLabel()
        self.sentence.setObjectName("empty_state")
        self.sentence.setWordWrap(True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        page = column(self.sentence, margins=(24, 16, 24, 16))
        page.setAlignment(self.sentence, Qt.AlignmentFlag.AlignVCenter)
        self.addWidget(content)
        self.addWidget(boxed(page))

    def say(self, sentence: str) -> None:
        """Show the sentence, or the content if it is empty."""
        self.sentence.setText(sentence)
        self.sentence.setAccessibleName(sentence)
        self.setCurrentIndex(1 if sentence else 0)

    @property
    def is_empty(self) -> bool:
        """Whether the sentence is shown."""
        return self.currentIndex() == 1


def page(panel: QWidget, *items: Item) -> WithEmptyState:
    """Fill a panel with items one below the other, or with a sentence in the place of all of them."""
    alone = items[0] if len(items) == 1 else None
    empty = WithEmptyState(alone if isinstance(alone, QWidget) else boxed(column(*items)))
    column(empty, of=panel)
    return empty
