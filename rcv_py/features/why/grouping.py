"""How the tree of waiting groups cycles: by cause, by wait, or by cycles in which a SIMD did not issue."""

from collections import Counter
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from math import nan
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from msgspec.structs import replace
from PySide6.QtGui import QColor

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.attribution.wait_costs import WaitSummary
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.runs import run_starts
from rcv_py.base.text import Message, count, join_texts, known_percent, percent, plural
from rcv_py.base.tree import TreeNode
from rcv_py.features.why import result as causes
from rcv_py.features.why import waits_result as waits
from rcv_py.features.why.bubbles_result import BUBBLES, NO_INSTRUCTION, bubble_table
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.results.common import IDLE, SOURCE_PLACE, STALL
from rcv_py.results.field import Field
from rcv_py.ui.core.panel import Sheet, UiContext
from rcv_py.ui.core.shared_results import of_waves
from rcv_py.ui.table.result_columns import result_columns, with_bar
from rcv_py.ui.table.table_model import TableModel, grouped
from rcv_py.ui.table.tree_table import Parts, TreeColumn, number_column, share_text, source_column

Result = TypeVar("Result", bound=Sized)

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
    name_tip: ClassVar[str]
    bar_tip: ClassVar[str]

    columns: Callable[[], tuple[TreeColumn[WhyNode], ...]]  # with ids of `WIDTHS`
    nodes: Callable[[Result], WhyNode]  # in a thread
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

    def has_rows(self, result: Result) -> bool:
        """Return whether there is a row to show."""
        return len(result) > 0

    def starts_open(self, node: WhyNode) -> bool:
        """Return whether a branch is open at first."""
        return False

    def assumption(self, result: Result) -> str:
        """Return the assumption of the numbers, a sentence above the rows; "" for none."""
        return ""

    def note_tip(self, result: Result) -> str:
        """Return the meaning of the sum, if it needs an explanation."""
        return ""

    def name_column(self, title: str, key: Callable[[WhyNode], int], sort: str) -> TreeColumn[WhyNode]:
        """Return the column of names."""
        return TreeColumn("name", title, text=self.name, key=key, tip=self.name_tip, sort=sort)

    def bar_column(self, title: str, sort: str) -> TreeColumn[WhyNode]:
        """Return the column of bars."""
        length, px = attrgetter("length"), WIDTHS["bar"]
        return TreeColumn("bar", title, key=length, parts=self.parts, width=px, tip=self.bar_tip, sort=sort)

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


MAX_LINES = 200  # maximum instructions of a cause; a last row sums up the rest


def _lines(part: Attribution, cause: int, total: int) -> Iterator[WhyNode]:
    """Return the late instructions of a cause, most cycles first."""
    order = np.argsort(part.line, kind="stable")  # rows of an instruction stay in order of cycles
    groups = np.split(order, run_starts(part.line[order])[1:]) if len(order) else []
    groups.sort(key=lambda rows: -int(part.cycles[rows].sum()))
    for rows in groups[:MAX_LINES]:
        blamed = [
            _cause_node(
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
        late = int(part.line[rows[0]])
        yield _cause_node(part.at(rows), total, cause=cause, line=late, depth=2, children=blamed)
    if len(groups) > MAX_LINES:
        rest = np.concatenate(groups[MAX_LINES:])
        yield _cause_node(part.at(rest), total, cause=cause, depth=2, more=len(groups) - MAX_LINES)


def _cause_node(part: Attribution, total: int, *, depth: int, **node: Any) -> WhyNode:
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
    nothing = causes.BY["cause"].nothing
    name_tip = "A cause; below it the instructions that were late, and below each what made it late."
    bar_tip = "Stalled cycles in the colour of the cause, idle cycles in grey."

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("cause", lambda one: one.cause if one.depth == 1 else one.line, ""),
            self.bar_column("cycles", "cycles"),
            number("cycles", STALL),
            self.share_column(causes.SHARE_OF_STALL, sort=STALL.name),
            number("idle", IDLE),
            number("hits", causes.TIMES, "times"),
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
        return join_texts(
            "\n", filter(None, (self.name(node), numbers, because, rests, sure, self.place(node)))
        )

    def spoken(self, node: WhyNode) -> str:
        stall, idle = grouped(node.stall), grouped(node.idle)
        return Message("{0}, {1} stalled, {2} idle cycles", self.name(node), stall, idle)

    def nodes(self, result: Attribution) -> WhyNode:
        total, nodes = result.total_stall, []
        for cause in result.by_cause().cause.tolist():
            rows = result.at(result.cause == cause)
            late = list(_lines(rows, cause, total))
            nodes.append(_cause_node(rows, total, cause=cause, depth=1, children=late))
        return _cause_node(result, total, depth=0, children=nodes)

    def note(self, result: Attribution) -> str:
        part, whole = known_percent(result.explained), count(result.total_stall)
        return of_waves(self.session, Message("{0} of {1} stalled cycles explained", part, whole))

    def assumption(self, result: Attribution) -> str:
        return result.assumption

    def legend(self, root: WhyNode) -> list[tuple[QColor, str, str]]:
        texts = {node.cause: CAUSE_TEXT[Cause(node.cause)] for node in root.children if node.stall}
        return [(self.ui.theme.cause(at), text.name, text.sentence) for at, text in texts.items()]

    def sheet(self, trace: Trace, result: Attribution, root: WhyNode) -> Sheet:
        return Sheet.of("Causes", causes.flat_table(trace, result, result.by_cause(), "cause"))


CYCLES_TIP = "Cycles that the wait stalled; of an instruction, what is charged to it for ending the wait."
SHARE_TIP = "Share of the stall of all waits; below a wait, of its stall."
TIMES_TIP = "How often the wait ran; how often it required the instruction."
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
    name_tip = "A wait, and below it what it waited for."
    bar_tip = "Stall of the wait by the kind of instruction it is charged to; of a single kind, its part."

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("wait", lambda node: node.line, "instruction"),
            self.bar_column("stall", STALL.name),
            number("cycles", waits.STALL, text=_stall_text, title="cycles", tip=CYCLES_TIP),
            self.share_column(waits.SHARE_OF_STALL, tip=SHARE_TIP),
            number("hits", waits.TIMES, "times", tip=TIMES_TIP),
            number("median", waits.LATENCIES["median"], sort=""),
            number("p90", waits.LATENCIES["p90"], sort=""),
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
        return join_texts("\n", filter(None, (self.name(node), *facts, self.place(node))))

    def spoken(self, node: WhyNode) -> str:
        what, times = "waits" if node.depth == 1 else "waited for", grouped(node.times)
        template = "{0}, {1}, {2} cycles of stall, {3} times"
        return Message(template, self.name(node), what, grouped(node.stall), times)

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
        nodes = []
        for row in waits.waits_about(result, None).tolist():
            stall = int(table.stall[row])
            below = [
                _wait_node(producer, n, charged, stall, depth=2, is_guess=is_guess, **known.get(producer, {}))
                for producer, n, charged, is_guess in producers[table.producers(row)]
            ]
            line, hits = int(table.line[row]), int(table.hits[row])
            nodes.append(_wait_node(line, hits, stall, total, depth=1, children=below))
        return _wait_node(-1, int(table.hits.sum()), total, total, depth=0, children=nodes)

    def has_rows(self, result: WaitSummary) -> bool:
        return len(result.blocking) > 0

    def note(self, result: WaitSummary) -> str:
        store = self.session.store
        if store is not None and not store.is_complete:
            return Message("partial: {0:,} of {1} read", result.waves, plural(result.of, "wave"))
        stall, read = count(result.blocking.stall.sum()), plural(result.waves, "wave")
        return of_waves(self.session, Message("{0} cycles of stall in {1}", stall, read))

    def legend(self, root: WhyNode) -> list[tuple[QColor, str, str]]:
        trace = self.session.trace.value
        if trace is None:
            return []
        lines = {node.line for wait in root.children for node in wait.children if node.stall}
        there = {int(trace.code.kind[line]) for line in lines}
        kinds = [kind for kind in TokenKind if kind in there and kind in KIND_TEXT]
        return [(self.ui.theme.kind(kind), KIND_NAME[kind], KIND_TEXT[kind]) for kind in kinds]

    def sheet(self, trace: Trace, result: WaitSummary, root: WhyNode) -> Sheet:
        return Sheet.of("Waits", waits.flat_table(trace, result, waits.waits_about(result, None)))


def _wait_node(line: int, times: int, stall: int, total: int, *, depth: int, **more: Any) -> WhyNode:
    return WhyNode(
        line=line, times=times, stall=stall, cycles=stall, length=stall, total=total, depth=depth, **more
    )


KINDS = {  # role of its colour, and meaning
    "stall": ("stall", "the wave stalled in this instruction"),
    "idle": ("idle", "the wave had no instruction to issue before this instruction"),
    "drain": ("hidden", "the last instruction of the wave had issued, and the wave was still there"),
}


class ByNoIssue(Grouping[Bubbles]):
    """Groups by the instructions that waves were in while their SIMD did not issue."""

    id = "bubbles"
    text = "By no-issue cycles"
    tip = "Cycles in which a SIMD held waves and none issued, by the instructions that these waited in."
    accessible = "Instructions by cycles in which nothing happened on their SIMD"
    result_name = "bubbles"
    nothing = BUBBLES.nothing
    name_tip = "An instruction that waves waited in while nothing happened on their SIMD."
    bar_tip = "Bubbles by their kind."

    def columns(self) -> tuple[TreeColumn[WhyNode], ...]:
        return (
            self.name_column("instruction", lambda node: node.line, "instruction"),
            self.bar_column("bubbles", "bubbles"),
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
        lines = [Message("{0} cycles: {1}", grouped(round(n)), name) for name, n in cycles.items() if n]
        share = percent(node.cycles, node.total)
        whole = Message("{0} cycles, {1} of all bubbles", grouped(round(node.cycles)), share)
        return join_texts("\n", filter(None, (self.name(node), whole, *lines, self.place(node))))

    def spoken(self, node: WhyNode) -> str:
        return Message("{0}, {1} cycles of bubbles", self.name(node), grouped(round(node.cycles)))

    def nodes(self, result: Bubbles) -> WhyNode:
        columns = (result.line, result.total, *(getattr(result, kind) for kind in KINDS))
        rows = zip(*(column.tolist() for column in columns), strict=True)

        def node(line: int, total: float, *cycles: float) -> WhyNode:
            kinds: dict[str, Any] = dict(zip(KINDS, cycles, strict=True))
            return WhyNode(depth=1, line=line, cycles=total, length=total, total=result.bubble, **kinds)

        return WhyNode(children=[node(*row) for row in rows])

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
        model.set_columns(with_bar(columns, "text", "bubbles", tip=self.bar_tip))
        return Sheet("Bubbles", model.headers, model.table([node.number for node in root.children]))
