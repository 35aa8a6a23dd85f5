"""A tree of waits, each with the instructions it waited for below it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

from rcv_py.analysis.cost.place_text import beside, known_place
from rcv_py.analysis.waits.wait_latency import WaitSummary
from rcv_py.base.text import percent
from rcv_py.base.tree import TreeNode
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.results.waits import TIMES
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, Tree, TreeColumn

OPEN_SHARE = 0.05  # waits with more of all stall start open


@dataclass(eq=False)
class WaitNode(TreeNode):
    """A wait, or an instruction it waited for; `whole` is what the share is taken of."""

    line: int = -1
    times: int = 0
    stall: int = 0
    whole: int = 0
    exact: int = 0
    median: float = nan
    p90: float = nan

    @property
    def is_wait(self) -> bool:
        """Whether it is a wait and not one of its instructions."""
        return self.parent is not None and self.parent.parent is None


def wait_nodes(summary: WaitSummary) -> WaitNode:
    """Return the root of the tree; takes a few milliseconds, so a thread may do it."""
    table, latency = summary.blocking, summary.latency
    columns = (latency.line, latency.exact, latency.median, latency.p90)
    known = {
        line: {"exact": exact, "median": median, "p90": p90}
        for line, exact, median, p90 in zip(*(column.tolist() for column in columns), strict=True)
    }
    whole = int(table.stall.sum())
    producers = list(zip(table.producer.tolist(), table.n.tolist(), table.charged.tolist(), strict=True))
    heads = zip(table.line.tolist(), table.hits.tolist(), table.stall.tolist(), strict=True)
    waits = [
        WaitNode(
            line=line,
            times=hits,
            stall=stall,
            whole=whole,
            children=[
                WaitNode(line=producer, times=n, stall=charged, whole=stall, **known.get(producer, {}))
                for producer, n, charged in producers[table.producers(row)]
            ],
        )
        for row, (line, hits, stall) in enumerate(heads)
    ]
    return WaitNode(times=int(table.hits.sum()), stall=whole, whole=whole, children=waits)


def only_about(root: WaitNode, line: int) -> WaitNode:
    """Return a tree of the waits at a code row, and of those that waited for it."""
    nodes = [
        _copy(node, [_copy(one) for one in node.children])
        for node in root.children
        if node.line == line or any(child.line == line for child in node.children)
    ]
    return _copy(root, nodes)


def _copy(node: WaitNode, children: list[WaitNode] | None = None) -> WaitNode:
    return WaitNode(
        line=node.line,
        times=node.times,
        stall=node.stall,
        whole=node.whole,
        exact=node.exact,
        median=node.median,
        p90=node.p90,
        children=children or [],
    )


@dataclass(frozen=True, slots=True, eq=False)
class WaitRows:
    """What the tree says of its nodes."""

    theme: Theme
    trace: Trace | None = None

    def tree(self, root: WaitNode | None = None) -> Tree[WaitNode]:
        """Return the tree below a root."""
        return Tree(
            root or WaitNode(),
            (
                TreeColumn(
                    "text",
                    "instruction",
                    self.name,
                    lambda node: node.line,
                    tip="A wait, and below it what it waited for.",
                ),
                TreeColumn(
                    "bar",
                    "stall",
                    key=lambda node: node.stall,
                    parts=self.parts,
                    width=120,
                    tip="Stall of the wait by the kind of instruction it is charged to; "
                    "of one of them, its part.",
                ),
                TreeColumn(
                    "stall",
                    "cycles",
                    lambda node: grouped(node.stall) if node.stall or node.is_wait else "",
                    lambda node: node.stall,
                    is_number=True,
                    width=92,
                    tip="Cycles that the wait stalled; of an instruction, what is charged to it "
                    "for being the newest required.",
                ),
                TreeColumn(
                    "share",
                    "%",
                    lambda node: percent(node.stall, node.whole).removesuffix(" %") if node.stall else "",
                    lambda node: node.stall,
                    is_number=True,
                    width=52,
                    tip="Share of the stall of all waits; below a wait, of its stall.",
                ),
                TreeColumn(
                    TIMES.name,
                    TIMES.title,
                    lambda node: grouped(node.times) if node.times else "",
                    lambda node: node.times,
                    is_number=True,
                    width=72,
                    tip="How often the wait ran; how often it required the instruction.",
                ),
                TreeColumn(
                    "median",
                    "latency",
                    lambda node: "" if isnan(node.median) else grouped(node.median),
                    lambda node: -1.0 if isnan(node.median) else node.median,
                    is_number=True,
                    width=66,
                    tip="Median of the exact latencies of the instruction, cycles: "
                    "from its issue until a wait had its result.",
                ),
                TreeColumn(
                    "p90",
                    "p90",
                    lambda node: "" if isnan(node.p90) else grouped(node.p90),
                    lambda node: -1.0 if isnan(node.p90) else node.p90,
                    is_number=True,
                    width=56,
                    tip="90 % of the exact latencies are at most this, cycles.",
                ),
                TreeColumn(
                    "source",
                    "  source",
                    self.source,
                    self.source,
                    is_elided_left=True,
                    width=160,
                    tip="Innermost place in the source.",
                ),
            ),
            self.tip,
            self.spoken,
            lambda node: node.line,
            lambda node: node.stall > OPEN_SHARE * max(1, node.whole),
        )

    def name(self, node: WaitNode) -> str:
        """The instruction, after its row."""
        return "" if self.trace is None else f"{node.line}  {self.trace.code.text[node.line]}"

    def source(self, node: WaitNode) -> str:
        """The innermost source line, "" if it is not known."""
        return "" if self.trace is None else beside(self.trace, node.line)

    def parts(self, node: WaitNode) -> Parts:
        """Stall by kind of the instruction it is charged to, then what is charged to none."""
        by_kind: dict[int, int] = {}
        for one in node.children if node.is_wait else [node]:
            kind = 0 if self.trace is None else int(self.trace.code.kind[one.line])
            by_kind[kind] = by_kind.get(kind, 0) + one.stall
        rest = node.stall - sum(by_kind.values())
        parts = [(cycles, self.theme.kind(kind)) for kind, cycles in sorted(by_kind.items())]
        return [*parts, (rest, self.theme.role("stall"))]

    def tip(self, node: WaitNode) -> str:
        """The whole instruction, exact numbers, how sure the latency is, and the source in full."""
        facts = _wait_facts(node) if node.is_wait else _producer_facts(node)
        place = "" if self.trace is None else known_place(self.trace, node.line, full=True)
        return "\n".join([self.name(node), *facts, *filter(None, (place,))])

    def spoken(self, node: WaitNode) -> str:
        """A row for a screen reader."""
        what = "waits" if node.is_wait else "waited for"
        return (
            f"{self.name(node)}, {what}, {grouped(node.stall)} cycles of stall, {grouped(node.times)} times"
        )


def _wait_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.whole)
    facts = [f"{grouped(node.stall)} cycles of stall, {part} of all waits, in {grouped(node.times)} runs"]
    rest = node.stall - sum(child.stall for child in node.children)
    return [*facts, f"{grouped(rest)} of them with nothing outstanding that is known"] if rest else facts


def _producer_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.whole)
    charged = (
        f"{grouped(node.stall)} cycles, {part} of the wait's stall" if node.stall else "no stall charged"
    )
    facts = [f"required {grouped(node.times)} times; {charged}"]
    if not node.exact:
        return [*facts, "latency: no wait tells it exactly"]
    numbers = f"median {grouped(node.median)}, p90 {grouped(node.p90)} cycles"
    return [*facts, f"latency: {numbers} of {grouped(node.exact)} exact samples"]


def kinds_of(trace: Trace, root: WaitNode) -> list[TokenKind]:
    """Return the kinds of instruction that stall is charged to, for a legend."""
    lines = {child.line for node in root.children for child in node.children if child.stall}
    found = sorted({int(trace.code.kind[line]) for line in lines})
    return [TokenKind(kind) for kind in found if kind in KIND_TEXT]
