"""Causes of stall and idle time: cycles per cause, the late instructions below it, and those to blame."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.base.runs import run_starts
from rcv_py.base.text import Message, count, known_percent
from rcv_py.features.why.grouping import Grouping, WhyNode, number
from rcv_py.features.why.result import BY, SHARE_OF_STALL, TIMES, flat_table
from rcv_py.model.trace import Trace
from rcv_py.results.common import IDLE, STALL
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.shared_results import of_waves
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, TreeColumn

NAME_TIP = "A cause; below it the instructions that were late, and below each what made it late."
BAR_TIP = "Stalled cycles in the colour of the cause, idle cycles in grey."
MAX_LINES = 200  # maximum instructions of a cause; a last row sums up the rest


def _lines(part: Attribution, cause: int, total: int) -> Iterator[WhyNode]:
    """Return the late instructions of a cause, most cycles first."""
    order = np.argsort(part.line, kind="stable")  # rows of an instruction stay in order of cycles
    groups = np.split(order, run_starts(part.line[order])[1:]) if len(order) else []
    groups.sort(key=lambda rows: -int(part.cycles[rows].sum()))
    for rows in groups[:MAX_LINES]:
        blamed = [
            _node(
                part.at(np.array([row])),
                total,
                cause=cause,
                line=int(part.producer[row]),
                depth=3,
                is_guess=bool(part.is_guess[row]),
            )
            for row in rows[:MAX_LINES].tolist()
            if part.producer[row] >= 0
        ]
        yield _node(part.at(rows), total, cause=cause, line=int(part.line[rows[0]]), depth=2, children=blamed)
    if len(groups) > MAX_LINES:
        rest = np.concatenate(groups[MAX_LINES:])
        yield _node(part.at(rest), total, cause=cause, depth=2, more=len(groups) - MAX_LINES)


def _node(part: Attribution, total: int, *, depth: int, **node: Any) -> WhyNode:
    stall, idle, times = (int(column.sum()) for column in (part.stall, part.idle, part.count))
    node |= {"stall": stall, "cycles": stall, "idle": idle, "length": stall + idle}
    return WhyNode(times=times, total=total, depth=depth, **node)


class ByCause(Grouping[Attribution]):
    """Groups by cause, below it the late instructions, and below these the instructions to blame."""

    id = "causes"
    text = "By cause"
    tip = (
        "Stalled and idle cycles by cause; below each cause the late instructions, and below "
        "them the instructions to blame."
    )
    accessible = "Causes of stalled and idle cycles, with instructions to blame"
    result_name = "attribution"
    topic = "stalls"
    nothing = BY["cause"].nothing

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("cause", NAME_TIP, lambda one: one.cause if one.depth == 1 else one.line, ""),
            self.bar_column("cycles", BAR_TIP, "cycles"),
            number("cycles", STALL),
            self.share_column(SHARE_OF_STALL, sort=STALL.name),
            number("idle", IDLE),
            number("hits", TIMES, "times"),
            self.source_column(),
        )

    def name(self, node: WhyNode) -> str:
        if node.depth == 1:
            return CAUSE_TEXT[Cause(node.cause)].name
        if node.more:
            return Message("{0:,} more instructions", node.more)
        if node.line < 0:
            return "no instruction of the program"
        name = super().name(node)
        return name if node.depth < 3 else Message("← perhaps {0}" if node.is_guess else "← {0}", name)

    def parts(self, node: WhyNode) -> Parts:
        theme = self.ui.theme
        return [(node.stall, theme.cause(node.cause)), (node.idle, theme.role("idle"))]

    def tip_of(self, node: WhyNode) -> str:
        """Return numbers, the reason as a sentence, and its basis."""
        text = CAUSE_TEXT[Cause(node.cause)]
        stall, idle, times = grouped(node.stall), grouped(node.idle), grouped(node.times)
        numbers = Message("{0} stalled and {1} idle cycles, {2} times", stall, idle, times)
        because = Message("Stalled because {0}.", text.sentence)
        evidence = Message("Evidence: {0}.", text.evidence)
        rests = evidence if node.cause else "Evidence: none, so no cause is assigned."
        sure = "" if text.is_certain or not node.cause else "Likely, not proven."
        return "\n".join(filter(None, (self.name(node), numbers, because, rests, sure, self.place(node))))

    def spoken(self, node: WhyNode) -> str:
        stall, idle = grouped(node.stall), grouped(node.idle)
        return Message("{0}, {1} stalled, {2} idle cycles", self.name(node), stall, idle)

    def nodes(self, result: Attribution) -> WhyNode:
        total, causes = result.total_stall, []
        for cause in result.by_cause().cause.tolist():
            rows = result.at(result.cause == cause)
            causes.append(_node(rows, total, cause=cause, depth=1, children=list(_lines(rows, cause, total))))
        return _node(result, total, depth=0, children=causes)

    def has_rows(self, result: Attribution) -> bool:
        return len(result) > 0

    def note(self, result: Attribution) -> str:
        part, whole = known_percent(result.explained), count(result.total_stall)
        return of_waves(self.session, Message("{0} of {1} stalled cycles explained", part, whole))

    def assumption(self, result: Attribution) -> str:
        return result.assumption

    def legend(self, root: WhyNode) -> list[tuple[QColor, str, str]]:
        causes = [node.cause for node in root.children if node.stall]
        texts = {cause: CAUSE_TEXT[Cause(cause)] for cause in causes}
        return [(self.ui.theme.cause(at), text.name, text.sentence) for at, text in texts.items()]

    def sheet(self, trace: Trace, result: Attribution, root: WhyNode) -> Sheet:
        return Sheet.of("Causes", flat_table(trace, result, result.by_cause(), "cause"))
