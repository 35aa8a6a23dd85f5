"""Stall of wait instructions, with the operations they waited for below each."""

from collections import Counter
from typing import Any

from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.wait_costs import WaitSummary
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.features.why.grouping import Grouping, WhyNode, number
from rcv_py.features.why.waits_result import LATENCIES, SHARE_OF_STALL, STALL, TIMES, flat_table, waits_about
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.shared_results import of_waves
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, TreeColumn

CYCLES_TIP = "Cycles that the wait stalled; of an instruction, what is charged to it for ending the wait."
SHARE_TIP = "Share of the stall of all waits; below a wait, of its stall."
TIMES_TIP = "How often the wait ran; how often it required the instruction."
NAME_TIP = "A wait, and below it what it waited for."
BAR_TIP = "Stall of the wait by the kind of instruction it is charged to; of a single kind, its part."
OPEN_SHARE = 0.05  # waits with a larger share of all stall start open


def _stall_text(node: WhyNode) -> str:
    return grouped(node.stall) if node.stall or node.depth == 1 else ""


def _producer_facts(node: WhyNode) -> list[str]:
    part = percent(node.stall, node.total)
    charged: str = "no stall charged"
    if node.stall:
        charged = Message("{0} cycles, {1} of the wait's stall", grouped(node.stall), part)
    facts = [Message("required {0} times; {1}", grouped(node.times), charged)]
    if not node.exact:
        return [*facts, "latency: no wait shows it exactly"]
    numbers = Message("median {0}, p90 {1} cycles", grouped(node.median), grouped(node.p90))
    return [*facts, Message("latency: {0} of {1} exact samples", numbers, grouped(node.exact))]


class ByWait(Grouping[WaitSummary]):
    """Groups by wait instruction, and below each by the operations of its counter that it waited for."""

    id = "waits"
    text = "By wait or counter"
    tip = "Stall of each wait instruction; below it the operations of its counter that it waited for."
    accessible = "Waits by stall, each with what it waited for"
    result_name = "waits"
    nothing = "No wave ran a wait for memory, LDS or messages."

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("wait", NAME_TIP, lambda node: node.line, "instruction"),
            self.bar_column("stall", BAR_TIP, STALL.name),
            number("cycles", STALL, text=_stall_text, title="cycles", tip=CYCLES_TIP),
            self.share_column(SHARE_OF_STALL, tip=SHARE_TIP),
            number("hits", TIMES, "times", tip=TIMES_TIP),
            number("median", LATENCIES["median"], sort=""),
            number("p90", LATENCIES["p90"], sort=""),
            self.source_column(sort=SOURCE_PLACE.name),
        )

    def starts_open(self, node: WhyNode) -> bool:
        """Return whether a wait starts open: if it has much of all stall."""
        return node.stall > OPEN_SHARE * max(1, node.total)

    def parts(self, node: WhyNode) -> Parts:
        trace, by_kind = self.session.trace.value, Counter[int]()
        for charged in node.children if node.depth == 1 else [node]:
            by_kind[0 if trace is None else int(trace.code.kind[charged.line])] += int(charged.stall)
        rest = node.stall - sum(by_kind.values())
        parts = [(cycles, self.ui.theme.kind(kind)) for kind, cycles in sorted(by_kind.items())]
        return [*parts, (rest, self.ui.theme.role("stall"))]

    def name(self, node: WhyNode) -> str:
        name = super().name(node)
        return Message("← perhaps {0}", name) if node.is_guess else name

    def tip_of(self, node: WhyNode) -> str:
        if node.depth > 1:
            facts = _producer_facts(node)
        else:
            part, rest = percent(node.stall, node.total), node.stall - sum(one.stall for one in node.children)
            times, stall = grouped(node.times), grouped(node.stall)
            facts = [Message("{0} cycles of stall, {1} of all waits, in {2} runs", stall, part, times)]
            if rest:
                facts.append(Message("{0} of them with nothing outstanding that is known", grouped(rest)))
        return "\n".join(filter(None, (self.name(node), *facts, self.place(node))))

    def spoken(self, node: WhyNode) -> str:
        what, times = "waits" if node.depth == 1 else "waited for", grouped(node.times)
        return Message(
            "{0}, {1}, {2} cycles of stall, {3} times", self.name(node), what, grouped(node.stall), times
        )

    def nodes(self, result: WaitSummary) -> WhyNode:
        table, latency = result.blocking, result.latency
        columns = (latency.line, latency.exact, latency.median, latency.p90)
        known = {
            line: {"exact": exact, "median": median, "p90": p90}
            for line, exact, median, p90 in zip(*(column.tolist() for column in columns), strict=True)
        }
        total = int(table.stall.sum())
        facts = (table.producer, table.n, table.charged, table.is_guess)
        producers = list(zip(*(column.tolist() for column in facts), strict=True))
        waits = []
        for row in waits_about(result, None).tolist():
            stall = int(table.stall[row])
            below = [
                _node(producer, n, charged, stall, depth=2, is_guess=is_guess, **known.get(producer, {}))
                for producer, n, charged, is_guess in producers[table.producers(row)]
            ]
            line, hits = int(table.line[row]), int(table.hits[row])
            waits.append(_node(line, hits, stall, total, depth=1, children=below))
        return _node(-1, int(table.hits.sum()), total, total, depth=0, children=waits)

    def has_rows(self, result: WaitSummary) -> bool:
        return len(result.blocking) > 0

    def note(self, result: WaitSummary) -> str:
        store = self.session.store
        if store is not None and not store.is_complete:
            return Message("partial: {0:,} of {1} read", result.waves, plural(result.of, "wave"))
        stall, waves = count(result.blocking.stall.sum()), plural(result.waves, "wave")
        return of_waves(self.session, Message("{0} cycles of stall in {1}", stall, waves))

    def legend(self, root: WhyNode) -> list[tuple[QColor, str, str]]:
        trace = self.session.trace.value
        if trace is None:
            return []
        lines = {node.line for wait in root.children for node in wait.children if node.stall}
        there = {int(trace.code.kind[line]) for line in lines}
        kinds = [kind for kind in TokenKind if kind in there and kind in KIND_TEXT]
        return [(self.ui.theme.kind(kind), KIND_NAME[kind], KIND_TEXT[kind]) for kind in kinds]

    def sheet(self, trace: Trace, result: WaitSummary, root: WhyNode) -> Sheet:
        return Sheet.of("Waits", flat_table(trace, result, waits_about(result, None)))


def _node(line: int, times: int, stall: int, total: int, *, depth: int, **more: Any) -> WhyNode:
    return WhyNode(
        line=line, times=times, stall=stall, cycles=stall, length=stall, total=total, depth=depth, **more
    )
