"""Why waves stalled and idled: causes by cycles, below each the late instructions and those to blame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.base.text import count, known_percent
from rcv_py.base.tree import TreeNode
from rcv_py.model.trace import Trace
from rcv_py.results.causes import BY, SHARE_OF_STALL, TIMES, flat_table
from rcv_py.results.common import IDLE, SOURCE_PLACE, STALL
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, boxed, column, row
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
    TreeTable,
    number_column,
    share_text,
    source_column,
)

NOT_SELECTED = "No line is selected. Click an instruction, or show all lines."
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
    for at in ranked[:MAX_LINES]:
        own = part.where(order[borders[at] : borders[at + 1]])
        blamed = [
            _node(one, cause=cause, line=int(one.producer[0]), depth=3, is_guess=bool(one.is_guess.all()))
            for row in range(min(len(own), MAX_LINES))
            if own.producer[row] >= 0
            for one in (own.where(np.array([row])),)
        ]
        yield _node(own, cause=cause, line=int(own.line[0]), depth=2, children=blamed)
    if len(ranked) > MAX_LINES:
        rest = np.concatenate([order[borders[at] : borders[at + 1]] for at in ranked[MAX_LINES:]])
        yield _node(part.where(rest), cause=cause, depth=2, more=len(ranked) - MAX_LINES)


def _node(part: Attribution, *, depth: int, **node: Any) -> CauseNode:
    stall, idle, times = (int(column.sum()) for column in (part.stall, part.idle, part.count))
    return CauseNode(stall=stall, idle=idle, times=times, depth=depth, **node)


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
                    sort="cycles",
                ),
                number_column(STALL, attrgetter("stall"), 96),
                number_column(
                    SHARE_OF_STALL,
                    attrgetter("stall"),
                    56,
                    text=lambda node: share_text(node.stall, self.total_stall),
                    title="%",
                    sort=STALL.name,
                ),
                number_column(IDLE, attrgetter("idle"), 80),
                number_column(TIMES, attrgetter("times"), 80),
                source_column(SOURCE_PLACE, self.trace, 180),
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


@panel(id="causes", title="Causes", area="bottom", order=25, needs=("code",))
class CausesPanel(TreePanel[Attribution, CauseNode]):
    """Why waves stalled and idled, and which instruction is to blame."""

    result_name = "attribution"
    topic = "stalls"

    def __init__(self, ui: UiContext) -> None:
        gives_way = dict.fromkeys((SOURCE_PLACE.name, TIMES.name, IDLE.name, "bar"), 260)
        super().__init__(
            ui,
            TreeTable(CauseRows(ui.theme).tree(), ui, sort="bar", yields=gives_way),
            name="Causes of stalled and idle cycles, with instructions to blame",
            only="Show why the selected line was late, and what it made late.",
        )
        self.assumption = PlainLabel(role="muted", wordWrap=True)
        choices = bar((self.legend, 1), self.note, self.only, margins=BAR_ABOVE)
        self.bar = boxed(column(choices, row(self.assumption, margins=BAR_BELOW)))
        column(self.bar, (self.empty, 1), of=self)
        self._start()

    def _refresh(self) -> None:
        self.result = self.ui.results.cell(self.result_name).value
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, table = self.session.trace.value, self.result
        sentence = self._why_empty()
        self.bar.setVisible(table is not None and bool(len(table)))
        self.empty.say(sentence)
        if trace is None or table is None or sentence:
            return
        line = self.only_line

        def take(root: CauseNode) -> None:
            if self.result is table:
                self._put(root, is_filtered=line is not None)

        self.run_job(lambda: cause_nodes(table, line), take)

    def _put(self, root: CauseNode, *, is_filtered: bool) -> None:
        table = self.result
        assert table is not None
        if is_filtered and not root.children:
            line = self.session.selection.value.line
            self.empty.say(f"Line {line} never stalled or idled, and made nothing else late.")
        rows = CauseRows(self.ui.theme, self.session.trace.value, table.total_stall)
        self.tree.show_tree(rows.tree(root), is_all_open=is_filtered)
        self.note.setText(self._note(table))
        self.assumption.setText(table.assumption)
        self._show_legend()

    def _why_empty(self) -> str:
        sentence = self.why_no_waves(self.result)
        if sentence or self.result is None:
            return sentence
        is_unknown = self.only.isChecked() and self.session.selection.value.line is None
        return (NOT_SELECTED if is_unknown else "") if len(self.result) else BY["cause"].nothing

    def _note(self, table: Attribution) -> str:
        share = f"{known_percent(table.explained)} of {count(table.total_stall)} stalled cycles explained"
        return self.of_waves(share)

    def _show_legend(self) -> None:
        causes = [node.cause for node in self.tree.rows.root.children if node.stall]
        texts = {cause: CAUSE_TEXT[Cause(cause)] for cause in causes}
        self.legend.set_items(
            [(cause_colour(self.ui.theme, one), text.name, text.sentence) for one, text in texts.items()]
        )

    # -- what the shell asks ------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The causes, with late instructions and those to blame."""
        return self.tree_words("causes")

    def sheet(self) -> Sheet | None:
        """One row a cause, late instruction and instruction to blame."""
        trace, table, line = self.session.trace.value, self.result, self.only_line
        if trace is None or table is None or not len(table):
            return None
        part = table if line is None else table.where((table.line == line) | (table.producer == line))
        return Sheet.of("Causes", flat_table(trace, part, part.by_cause(), "cause"))
