"""Causes of stalled and idle cycles as a tree: cause, late instruction, instruction to blame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside, known_place
from rcv_py.base.text import percent
from rcv_py.base.tree import TreeNode
from rcv_py.model.trace import Trace
from rcv_py.results.causes import TIMES
from rcv_py.results.common import IDLE, STALL
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, Tree, TreeColumn, number_column

MOST_LINES = 200  # of a cause; the rest is summed up in one row


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


def cause_nodes(table: Attribution, line: int | None = None) -> CauseNode:
    """Return the root of the tree, of all rows or of those where a code row is late or to blame."""
    part = table if line is None else table.where((table.line == line) | (table.producer == line))
    causes = []
    for cause in part.by_cause().cause.tolist():
        one = part.where(part.cause == cause)
        causes.append(_node(one, cause=cause, depth=1, children=list(_lines(one, cause))))
    return _node(part, depth=0, children=causes)


def _lines(part: Attribution, cause: int) -> Iterator[CauseNode]:
    """The late instructions of a cause, most cycles first."""
    order = np.argsort(part.line, kind="stable")  # rows of a line stay in order of cycles
    line = part.line[order]
    borders = np.append(np.flatnonzero(np.append(True, line[1:] != line[:-1])), len(line))
    cycles = np.add.reduceat(part.cycles[order], borders[:-1]) if len(line) else np.zeros(0)
    ranked = np.argsort(-cycles, kind="stable").tolist()
    for at in ranked[:MOST_LINES]:
        own = part.where(order[borders[at] : borders[at + 1]])
        blamed = [
            _node(one, cause=cause, line=int(one.producer[0]), depth=3, is_guess=bool(one.is_guess.all()))
            for row in range(min(len(own), MOST_LINES))
            if own.producer[row] >= 0
            for one in (own.where(np.array([row])),)
        ]
        yield _node(own, cause=cause, line=int(own.line[0]), depth=2, children=blamed)
    if len(ranked) > MOST_LINES:
        rest = np.concatenate([order[borders[at] : borders[at + 1]] for at in ranked[MOST_LINES:]])
        yield _node(part.where(rest), cause=cause, depth=2, more=len(ranked) - MOST_LINES)


def _node(
    part: Attribution,
    *,
    depth: int,
    cause: int = -1,
    line: int = -1,
    more: int = 0,
    is_guess: bool = False,
    children: list[CauseNode] | None = None,
) -> CauseNode:
    return CauseNode(
        cause=cause,
        line=line,
        stall=int(part.stall.sum()),
        idle=int(part.idle.sum()),
        times=int(part.count.sum()),
        depth=depth,
        more=more,
        is_guess=is_guess,
        children=children or [],
    )


def cause_colour(theme: Theme, cause: int) -> QColor:
    """Return the colour of a cause."""
    table, key = CAUSE_TEXT[Cause(cause)].colour
    return theme.role(str(key)) if table == "role" else theme.kind(int(key))


@dataclass(frozen=True, slots=True, eq=False)
class CauseRows:
    """What the tree says of its nodes; shares are of `total_stall` cycles."""

    theme: Theme
    trace: Trace | None = None
    total_stall: int = 0

    def tree(self, root: CauseNode | None = None) -> Tree[CauseNode]:
        """Return the tree below a root."""
        return Tree(
            root or CauseNode(),
            (
                TreeColumn(
                    "name",
                    "cause",
                    self.name,
                    lambda node: node.cause if node.depth == 1 else node.line,
                    tip="A cause; below it the instructions that were late, "
                    "and below each what made it late.",
                ),
                TreeColumn(
                    "bar",
                    "cycles",
                    key=lambda node: node.cycles,
                    parts=self.parts,
                    width=130,
                    tip="Stalled cycles in the colour of the cause, idle cycles in grey.",
                ),
                number_column(STALL, attrgetter("stall"), 96),
                TreeColumn(
                    "share",
                    "%",
                    lambda node: (
                        percent(node.stall, self.total_stall).removesuffix(" %") if node.stall else ""
                    ),
                    lambda node: node.stall,
                    is_number=True,
                    width=56,
                    tip="Share of all stalled cycles.",
                ),
                number_column(IDLE, attrgetter("idle"), 80),
                number_column(TIMES, attrgetter("times"), 80),
                TreeColumn(
                    "source",
                    "  source",
                    self.source,
                    self.source,
                    is_elided_left=True,
                    width=180,
                    tip="Innermost place in the source.",
                ),
            ),
            self.tip,
            lambda one: f"{self.name(one)}, {grouped(one.stall)} stalled, {grouped(one.idle)} idle cycles",
            lambda one: (one.depth, one.cause, one.line),
        )

    def name(self, node: CauseNode) -> str:
        """What a row is about."""
        if node.depth == 1:
            return CAUSE_TEXT[Cause(node.cause)].name
        if node.more:
            return f"{node.more:,} more instructions"
        if self.trace is None or node.line < 0:
            return "no instruction of the program"
        arrow = "" if node.depth < 3 else "← perhaps " if node.is_guess else "← "
        return f"{arrow}{node.line}  {self.trace.code.text[node.line]}"

    def source(self, node: CauseNode) -> str:
        """The innermost source line, "" if it is not known."""
        return "" if self.trace is None else beside(self.trace, node.line)

    def parts(self, node: CauseNode) -> Parts:
        """Stall in the colour of the cause, then idle."""
        return [(node.stall, cause_colour(self.theme, node.cause)), (node.idle, self.theme.role("idle"))]

    def tip(self, node: CauseNode) -> str:
        """The cause in a sentence, what it rests on, and the exact numbers."""
        text = CAUSE_TEXT[Cause(node.cause)]
        numbers = (
            f"{grouped(node.stall)} stalled and {grouped(node.idle)} idle cycles, {grouped(node.times)} times"
        )
        because = f"Stalled because {text.sentence}."
        rests = f"Evidence: {text.evidence}." if node.cause else "Evidence: none, so no cause is claimed."
        sure = "" if text.is_certain or not node.cause else "Likely, not proven."
        place = "" if self.trace is None else known_place(self.trace, node.line, full=True)
        lines = (self.name(node), numbers, because, rests, sure, place)
        return "\n".join(line for line in lines if line)
