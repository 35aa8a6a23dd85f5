"""Why waves stalled and idled: causes by cycles, below each the late instructions and those to blame."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.base.records import dataclass
from rcv_py.base.runs import run_starts
from rcv_py.base.text import count, known_percent
from rcv_py.base.tree import TreeNode
from rcv_py.results.causes import BY, SHARE_OF_STALL, TIMES, flat_table
from rcv_py.results.common import IDLE, SOURCE_PLACE, STALL
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table import command_text
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.table_panel import TreePanel
from rcv_py.ui.table.tree_table import (
    Parts,
    Tree,
    TreeColumn,
    number_column,
    share_text,
    source_column,
)

MAX_LINES = 200  # of a cause; the rest is summed up in one row


@dataclass(eq=False)
class CauseNode(TreeNode):
    """A cause (depth 1), an instruction that was late (2) or one to blame (3); the root has depth 0."""

    cause: int = -1
    line: int = -1  # code row that a click selects, -1: none
    stall: int = 0
    idle: int = 0
    times: int = 0
    depth: int = 0
    more: int = 0  # how many instructions a row sums up
    is_guess: bool = False  # depth 3: one of several instructions that fit

    @property
    def cycles(self) -> int:
        """Stalled and idle cycles."""
        return self.stall + self.idle

    @property
    def is_rest(self) -> bool:
        """Whether it sums up the instructions with fewer cycles."""
        return self.more > 0


def _about(table: Attribution, line: int | None) -> Attribution:
    return table if line is None else table.where((table.line == line) | (table.producer == line))


def _lines(part: Attribution, cause: int) -> Iterator[CauseNode]:
    """The late instructions of a cause, most cycles first."""
    order = np.argsort(part.line, kind="stable")  # rows of a line stay in order of cycles
    groups = np.split(order, run_starts(part.line[order])[1:]) if len(order) else []
    groups.sort(key=lambda rows: -int(part.cycles[rows].sum()))
    for rows in groups[:MAX_LINES]:
        blamed = [
            _node(
                part.where(np.array([row])),
                cause=cause,
                line=int(part.producer[row]),
                depth=3,
                is_guess=bool(part.is_guess[row]),
            )
            for row in rows[:MAX_LINES].tolist()
            if part.producer[row] >= 0
        ]
        yield _node(part.where(rows), cause=cause, line=int(part.line[rows[0]]), depth=2, children=blamed)
    if len(groups) > MAX_LINES:
        rest = np.concatenate(groups[MAX_LINES:])
        yield _node(part.where(rest), cause=cause, depth=2, more=len(groups) - MAX_LINES)


def _node(part: Attribution, *, depth: int, **node: Any) -> CauseNode:
    stall, idle, times = (int(column.sum()) for column in (part.stall, part.idle, part.count))
    return CauseNode(stall=stall, idle=idle, times=times, depth=depth, **node)


def cause_colour(theme: Theme, cause: int) -> QColor:
    """Return the colour of a cause."""
    table, key = CAUSE_TEXT[Cause(cause)].colour
    return theme.role(str(key)) if table == "role" else theme.kind(int(key))


@panel(id="causes", title="Causes", area="bottom", order=21, needs=("code",), within="why")
class CausesPanel(TreePanel[Attribution, CauseNode]):
    """Why waves stalled and idled, and which instruction is to blame."""

    result_name = "attribution"
    topic = "stalls"
    nothing = BY["cause"].nothing

    def __init__(self, ui: UiContext) -> None:
        self.assumption = PlainLabel(role="muted", wordWrap=True)
        super().__init__(
            ui,
            name="Causes of stalled and idle cycles, with instructions to blame",
            only="Show why the selected instruction was late, and what it made late.",
            sort="bar",
            yields=dict.fromkeys((SOURCE_PLACE.name, TIMES.name, IDLE.name, "bar"), 260),
            below=self.assumption,
        )
        self._start()

    def _tree(self, root: CauseNode | None) -> Tree[CauseNode]:
        total = 0 if self.result is None else self.result.total_stall
        return Tree(
            root or CauseNode(),
            (
                TreeColumn(
                    id="name",
                    title="cause",
                    text=self._name,
                    key=lambda node: node.cause if node.depth == 1 else node.line,
                    tip="A cause; below it the instructions that were late, "
                    "and below each what made it late.",
                ),
                TreeColumn(
                    "bar",
                    "cycles",
                    key=lambda node: node.cycles,
                    parts=self._parts,
                    width=130,
                    tip="Stalled cycles in the colour of the cause, idle cycles in grey.",
                    sort="cycles",
                ),
                number_column(STALL, attrgetter("stall"), 96),
                number_column(
                    SHARE_OF_STALL,
                    attrgetter("stall"),
                    56,
                    text=lambda node: share_text(node.stall, total),
                    title="%",
                    sort=STALL.name,
                ),
                number_column(IDLE, attrgetter("idle"), 80),
                number_column(TIMES, attrgetter("times"), 80),
                source_column(SOURCE_PLACE, self.session.trace, 180),
            ),
            self._tip,
            self._spoken,
            lambda node: (node.depth, node.cause, node.line),
        )

    def _name(self, node: CauseNode) -> str:
        trace = self.session.trace.value
        if node.depth == 1:
            return CAUSE_TEXT[Cause(node.cause)].name
        if node.more:
            return f"{node.more:,} more instructions"
        if trace is None or node.line < 0:
            return "no instruction of the program"
        arrow = "" if node.depth < 3 else "← perhaps " if node.is_guess else "← "
        return f"{arrow}{node.line}  {trace.code.text[node.line]}"

    def _parts(self, node: CauseNode) -> Parts:
        return [
            (node.stall, cause_colour(self.ui.theme, node.cause)),
            (node.idle, self.ui.theme.role("idle")),
        ]

    def _tip(self, node: CauseNode) -> str:
        trace, text = self.session.trace.value, CAUSE_TEXT[Cause(node.cause)]
        numbers = (
            f"{grouped(node.stall)} stalled and {grouped(node.idle)} idle cycles, {grouped(node.times)} times"
        )
        because = f"Stalled because {text.sentence}."
        rests = f"Evidence: {text.evidence}." if node.cause else "Evidence: none, so no cause is claimed."
        sure = "" if text.is_certain or not node.cause else "Likely, not proven."
        place = "" if trace is None else known_place(trace, node.line, full=True)
        lines = (self._name(node), numbers, because, rests, sure, place)
        return "\n".join(line for line in lines if line)

    def _spoken(self, node: CauseNode) -> str:
        return f"{self._name(node)}, {grouped(node.stall)} stalled, {grouped(node.idle)} idle cycles"

    def _nodes(self, result: Attribution, line: int | None) -> CauseNode:
        part = _about(result, line)
        causes = []
        for cause in part.by_cause().cause.tolist():
            rows = part.where(part.cause == cause)
            causes.append(_node(rows, cause=cause, depth=1, children=list(_lines(rows, cause))))
        return _node(part, depth=0, children=causes)

    def _has_rows(self, result: Attribution) -> bool:
        return len(result) > 0

    def _nothing_about(self, line: int) -> str:
        return f"Instruction {line} never stalled or idled, and made nothing else late."

    def _note(self, result: Attribution) -> str:
        self.assumption.setText(result.assumption)
        share = f"{known_percent(result.explained)} of {count(result.total_stall)} stalled cycles explained"
        return self.of_waves(share)

    def _legend(self) -> list[tuple[QColor, str, str]]:
        causes = [node.cause for node in self.tree.rows.root.children if node.stall]
        texts = {cause: CAUSE_TEXT[Cause(cause)] for cause in causes}
        return [(cause_colour(self.ui.theme, at), text.name, text.sentence) for at, text in texts.items()]

    # -- what the shell asks ------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The causes, with late instructions and those to blame."""
        return self.tree_words("causes")

    def sheet(self) -> Sheet | None:
        """One row a cause, late instruction and instruction to blame."""
        trace, table = self.session.trace.value, self.result
        if trace is None or table is None or not len(table):
            return None
        part = _about(table, self.only_line)
        return Sheet.of("Causes", flat_table(trace, part, part.by_cause(), "cause"))
