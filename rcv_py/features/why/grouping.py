"""The interface of a grouping of the tree: rows, columns, names, sums."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtGui import QColor

from rcv_py.analysis.cost.place_text import known_place
from rcv_py.base.tree import TreeNode
from rcv_py.model.trace import Trace
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.field import Field
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.table.tree_table import Parts, TreeColumn, number_column, share_text, source_column

Result = TypeVar("Result")

# All columns that a grouping may have, with their widths in px; the name takes the rest.
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
# Columns that give way when names need room, least important first.
YIELDS = dict.fromkeys(("source", "p90", "hits", "drain", "idle", "bar"), 260)


@dataclass(eq=False)
class WhyNode(TreeNode):
    """A cause or an instruction, in the columns that all groupings share.

    Rows of depth 1 stand for themselves; rows below give their causes.  Unknown values are 0, nan or -1.
    """

    depth: int = 0
    cause: int = -1
    line: int = -1  # code row that a click selects
    cycles: float = 0  # that the grouping counts
    total: float = 0  # the base of its share
    length: float = 0  # of the bar
    stall: float = 0
    idle: float = 0
    drain: float = 0
    times: int = 0
    exact: int = 0  # samples of its latency
    median: float = nan
    p90: float = nan
    more: int = 0  # number of instructions that a row sums up
    is_guess: bool = False  # one of several candidates

    @property
    def is_rest(self) -> bool:
        """Return whether it sums up the instructions with fewer cycles."""
        return self.more > 0


class Grouping(Generic[Result]):
    """A way to group cycles: the result that the tree shows, and the content of its rows."""

    id: ClassVar[str]  # id of the panel in this grouping
    text: ClassVar[str]  # on the switch
    tip: ClassVar[str]
    accessible: ClassVar[str]  # the screen reader's name of the tree
    result_name: ClassVar[str]
    topic: ClassVar[str] = ""  # the missing data if there are no waves, by default the title
    nothing: ClassVar[str]  # why a result has no rows

    columns: Callable[[], tuple[TreeColumn[WhyNode], ...]]  # with ids of `WIDTHS`
    nodes: Callable[[Result], WhyNode]  # in a thread
    has_rows: Callable[[Result], bool]
    note: Callable[[Result], str]  # a sum
    parts: Callable[[WhyNode], Parts]
    legend: Callable[[WhyNode], list[tuple[QColor, str, str]]]  # parts of the bars of a root
    tip_of: Callable[[WhyNode], str]
    spoken: Callable[[WhyNode], str]
    sheet: Callable[[Trace, Result, WhyNode], Sheet]  # table of those rows

    def __init__(self, ui: UiContext) -> None:
        self.ui, self.session = ui, ui.session

    def name(self, node: WhyNode) -> str:
        """Return the name of a row: an instruction with its number."""
        trace = self.session.trace.value
        return "" if trace is None or node.line < 0 else f"{node.line}  {trace.code.text[node.line]}"

    def place(self, node: WhyNode) -> str:
        """Return the whole source place of a row, "" if none is known."""
        trace = self.session.trace.value
        return "" if trace is None else known_place(trace, node.line, full=True)

    def starts_open(self, node: WhyNode) -> bool:
        """Return whether a branch is open at first."""
        return False

    def assumption(self, result: Result) -> str:
        """Return the assumption of the numbers, a sentence above the rows; "" for none."""
        return ""

    def note_tip(self, result: Result) -> str:
        """Return the meaning of the sum, if it needs an explanation."""
        return ""

    def name_column(
        self, title: str, tip: str, key: Callable[[WhyNode], int], sort: str
    ) -> TreeColumn[WhyNode]:
        """Return the column of names."""
        return TreeColumn("name", title, text=self.name, key=key, tip=tip, sort=sort)

    def bar_column(self, title: str, tip: str, sort: str) -> TreeColumn[WhyNode]:
        """Return the column of bars."""
        return TreeColumn(
            "bar", title, key=attrgetter("length"), parts=self.parts, width=WIDTHS["bar"], tip=tip, sort=sort
        )

    def share_column(self, field: Field, *, tip: str = "", sort: str | None = None) -> TreeColumn[WhyNode]:
        """Return the column of shares."""

        def text(node: WhyNode) -> str:
            return share_text(node.cycles, node.total)

        return number("share", field, "cycles", text=text, title="%", tip=tip, sort=sort)

    def source_column(self, *, sort: str = "") -> TreeColumn[WhyNode]:
        """Return the column of source places."""
        return source_column(SOURCE_PLACE, self.session.trace, WIDTHS["source"], sort=sort)


def number(slot: str, field: Field, attribute: str = "", **more: Any) -> TreeColumn[WhyNode]:
    """Return a column of numbers of nodes; the attribute has the column's name unless it is given."""
    return replace(number_column(field, attrgetter(attribute or slot), WIDTHS[slot], **more), id=slot)
