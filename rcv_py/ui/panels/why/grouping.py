"""What the rows of the tree are, and what a grouping says of its result: columns, names, sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtGui import QColor

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.tree import TreeNode
from rcv_py.model.trace import Trace
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.field import Field
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.table.tree_table import Parts, TreeColumn, number_column, share_text, source_column

Found = TypeVar("Found")

# All columns that a grouping may have, with their widths in px; the name takes what others leave.
WIDTHS = {
    "name": 0,
    "bar": 125,
    "cycles": 94,
    "share": 54,
    "stall": 80,
    "idle": 80,
    "drain": 80,
    "hits": 76,
    "median": 66,
    "p90": 56,
    "source": 170,
}
# Those that give way when names have less room, the least wanted first.
YIELDS = dict.fromkeys(("source", "p90", "hits", "drain", "idle", "bar"), 260)


@dataclass(eq=False)
class WhyNode(TreeNode):
    """A cause or an instruction: what all groupings say of it, in the same columns.

    Depth 1 are rows that stand for themselves, below them is what made them late.  What a grouping does not
    know is 0, nan or -1.
    """

    depth: int = 0
    cause: int = -1
    line: int = -1  # code row that a click selects
    cycles: float = 0  # by which the grouping counts
    total: float = 0  # what its share is taken of
    length: float = 0  # of the bar
    stall: float = 0
    idle: float = 0
    drain: float = 0
    times: int = 0
    exact: int = 0  # samples of its latency
    median: float = nan
    p90: float = nan
    more: int = 0  # how many instructions a row sums up
    is_guess: bool = False  # one of several instructions that fit

    @property
    def is_rest(self) -> bool:
        """Whether it sums up the instructions with fewer cycles."""
        return self.more > 0


class Grouping(Generic[Found]):
    """One way to group cycles: which result the tree shows, and how its rows read.  Subclasses say it all."""

    id: ClassVar[str]  # by which the panel is known when it groups so
    text: ClassVar[str]  # on the switch
    tip: ClassVar[str]
    accessible: ClassVar[str]  # what a screen reader calls the tree
    result_name: ClassVar[str]
    topic: ClassVar[str] = ""  # what nothing is known about without waves, by default the title
    nothing: ClassVar[str]  # why a result has no rows
    only: ClassVar[str]  # what the box does that leaves what is about the selected instruction
    of_range: ClassVar[Reduction[Any, Any] | None] = None  # what answers for the waves of a clock range

    columns: Callable[[], tuple[TreeColumn[WhyNode], ...]]  # with ids of `WIDTHS`
    nodes: Callable[[Found, int | None], WhyNode]  # the root of all, or of what is about a line; in a thread
    has_rows: Callable[[Found], bool]
    nothing_about: Callable[[int], str]  # why nothing is shown of an instruction
    note: Callable[[Found], str]  # a sum
    parts: Callable[[WhyNode], Parts]
    legend: Callable[[WhyNode], list[tuple[QColor, str, str]]]  # what bars below a root are made of
    tip_of: Callable[[WhyNode], str]
    spoken: Callable[[WhyNode], str]
    sheet: Callable[[Trace, Found, int | None, WhyNode], Sheet]  # what is shown of a line or of all
    words: Callable[[], tuple[str, ...]]  # the command that prints it

    def __init__(self, ui: UiContext) -> None:
        self.ui, self.session = ui, ui.session

    def name(self, node: WhyNode) -> str:
        """What a row is called: an instruction with its number."""
        trace = self.session.trace.value
        return "" if trace is None or node.line < 0 else f"{node.line}  {trace.code.text[node.line]}"

    def starts_open(self, node: WhyNode) -> bool:
        """Whether a branch is open before somebody opens it."""
        return False

    def assumption(self, result: Found) -> str:
        """What numbers take for granted, a sentence above the rows; "" for none."""
        return ""

    def note_tip(self, result: Found) -> str:
        """What the sum means, if it needs to be said."""
        return ""

    # -- columns ------------------------------------------------------------------------------------

    def name_column(
        self, title: str, tip: str, key: Callable[[WhyNode], int], sort: str
    ) -> TreeColumn[WhyNode]:
        """The column of names."""
        return TreeColumn("name", title, text=self.name, key=key, tip=tip, sort=sort)

    def bar_column(self, title: str, tip: str, sort: str) -> TreeColumn[WhyNode]:
        """The column of bars."""
        return TreeColumn(
            "bar", title, key=attrgetter("length"), parts=self.parts, width=WIDTHS["bar"], tip=tip, sort=sort
        )

    def share_column(self, field: Field, *, tip: str = "", sort: str | None = None) -> TreeColumn[WhyNode]:
        """The column of shares."""
        return number("share", field, "cycles", text=_share, title="%", tip=tip, sort=sort)

    def source_column(self, *, sort: str = "") -> TreeColumn[WhyNode]:
        """The column of source places."""
        return source_column(SOURCE_PLACE, self.session.trace, WIDTHS["source"], sort=sort)


def number(slot: str, field: Field, attribute: str = "", **more: Any) -> TreeColumn[WhyNode]:
    """Return a column of numbers of nodes; the attribute has the name of the column unless it is given."""
    column = number_column(field, attrgetter(attribute or slot), WIDTHS[slot], **more)
    return replace(column, id=slot)


def _share(node: WhyNode) -> str:
    return share_text(node.cycles, node.total)
