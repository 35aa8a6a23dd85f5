"""Cycles in which a SIMD held waves and none issued, by the waiting instructions."""

from typing import Any

from PySide6.QtGui import QColor

from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.features.why.bubbles_result import BUBBLES, NO_INSTRUCTION, bubble_table
from rcv_py.features.why.grouping import Grouping, WhyNode, number
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.shared_results import of_waves
from rcv_py.ui.table.result_columns import result_columns, with_bar
from rcv_py.ui.table.table_model import TableModel, grouped
from rcv_py.ui.table.tree_table import Parts, TreeColumn

KINDS = {  # role of its colour, and meaning
    "stall": ("stall", "the wave stalled in this instruction"),
    "idle": ("idle", "the wave had no instruction to issue before this instruction"),
    "drain": ("hidden", "the last instruction of the wave had issued, and the wave was still there"),
}
NAME_TIP = "An instruction that waves waited in while nothing happened on their SIMD."
BAR_TIP = "Bubbles by their kind."


class ByNoIssue(Grouping[Bubbles]):
    """Groups by the instructions that waves were in while their SIMD did not issue."""

    id = "bubbles"
    text = "By no-issue cycles"
    tip = "Cycles in which a SIMD held waves and none issued, by the instructions that these waited in."
    accessible = "Instructions by cycles in which nothing happened on their SIMD"
    result_name = "bubbles"
    nothing = BUBBLES.nothing

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("instruction", NAME_TIP, lambda node: node.line, "instruction"),
            self.bar_column("bubbles", BAR_TIP, "bubbles"),
            number("cycles", BUBBLES["bubbles"]),
            self.share_column(BUBBLES["share_of_bubbles"]),
            *(number(kind, BUBBLES[kind]) for kind in KINDS),
            self.source_column(),
        )

    def name(self, node: WhyNode) -> str:
        return super().name(node) or NO_INSTRUCTION

    def parts(self, node: WhyNode) -> Parts:
        return [(getattr(node, kind), self.ui.theme.role(color)) for kind, (color, _) in KINDS.items()]

    def tip_of(self, node: WhyNode) -> str:
        cycles = {meaning: getattr(node, kind) for kind, (_, meaning) in KINDS.items()}
        lines = [f"{grouped(round(own))} cycles: {meaning}" for meaning, own in cycles.items() if own]
        share = percent(node.cycles, node.total)
        whole = Message("{0} cycles, {1} of all bubbles", grouped(round(node.cycles)), share)
        return "\n".join(filter(None, (self.name(node), whole, *lines, self.place(node))))

    def spoken(self, node: WhyNode) -> str:
        return Message("{0}, {1} cycles of bubbles", self.name(node), grouped(round(node.cycles)))

    def nodes(self, result: Bubbles) -> WhyNode:
        columns = (result.line, result.total, *(getattr(result, kind) for kind in KINDS))
        rows = zip(*(column.tolist() for column in columns), strict=True)

        def node(line: int, total: float, *cycles: float) -> WhyNode:
            kinds: dict[str, Any] = dict(zip(KINDS, cycles, strict=True))
            return WhyNode(depth=1, line=line, cycles=total, length=total, total=result.bubble, **kinds)

        return WhyNode(children=[node(*row) for row in rows])

    def has_rows(self, result: Bubbles) -> bool:
        return len(result) > 0

    def note(self, result: Bubbles) -> str:
        bubble, resident = count(result.bubble), count(result.resident)
        part, simds = percent(result.bubble, result.resident), plural(len(result.place), "SIMD")
        text = "in {0} of {1} SIMD cycles with a wave nothing happened ({2}), {3}"
        return of_waves(self.session, Message(text, bubble, resident, part, simds))

    def note_tip(self, result: Bubbles) -> str:
        return Message(
            "{0}.\n{1} of the SIMD cycles are no-issue cycles; the MFMA unit worked in {2}.\nA bubble is "
            "split equally among the waves that were on the SIMD. Cycles in which another wave issued or "
            "the MFMA unit worked do not count, so shortening a stall may uncover another one.",
            self.note(result),
            percent(result.no_issue, result.resident),
            percent(result.matrix, result.resident),
        )

    def legend(self, root: WhyNode) -> list[tuple[QColor, str, str]]:
        role = self.ui.theme.role
        return [(role(color), kind, meaning) for kind, (color, meaning) in KINDS.items()]

    def sheet(self, trace: Trace, result: Bubbles, root: WhyNode) -> Sheet:
        model = TableModel()
        columns = result_columns(bubble_table(trace, result), trace)
        model.set_columns(with_bar(columns, "text", "bubbles", tip=BAR_TIP))
        return Sheet("Bubbles", model.headers, model.table([node.number for node in root.children]))
