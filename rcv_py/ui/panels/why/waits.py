"""What waits waited for: wait lines by stall, and below each the instructions that made it wait."""

from __future__ import annotations

from collections import Counter
from math import nan
from operator import attrgetter

from PySide6.QtCore import QModelIndex, QPoint
from PySide6.QtGui import QColor

from rcv_py.analysis.cost.place_text import beside, known_place
from rcv_py.analysis.waits.wait_latency import WAITS, WaitSummary
from rcv_py.base.records import dataclass
from rcv_py.base.text import count, percent, plural
from rcv_py.base.tree import TreeNode
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.waits import LATENCIES, SHARE_OF_STALL, STALL, TIMES, flat_table, waits_about
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import rows_in
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import copy_text
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

OUT_OF_RANGE = "No wave that was read touches the clock range. Reset the range in the Wave panel to see all."
STREAM_MS = 800
OPEN_SHARE = 0.05  # waits with more of all stall start open


@dataclass(eq=False)
class WaitNode(TreeNode):
    """A wait, or an instruction it waited for; `total` is what the share is taken of."""

    line: int = -1
    times: int = 0
    stall: int = 0
    total: int = 0
    exact: int = 0
    median: float = nan
    p90: float = nan

    @property
    def is_wait(self) -> bool:
        """Whether it is a wait and not one of its instructions."""
        return self.parent is not None and self.parent.parent is None


def _wait_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.total)
    facts = [f"{grouped(node.stall)} cycles of stall, {part} of all waits, in {grouped(node.times)} runs"]
    rest = node.stall - sum(child.stall for child in node.children)
    return [*facts, f"{grouped(rest)} of them with nothing outstanding that is known"] if rest else facts


def _producer_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.total)
    charged = (
        f"{grouped(node.stall)} cycles, {part} of the wait's stall" if node.stall else "no stall charged"
    )
    facts = [f"required {grouped(node.times)} times; {charged}"]
    if not node.exact:
        return [*facts, "latency: no wait shows it exactly"]
    numbers = f"median {grouped(node.median)}, p90 {grouped(node.p90)} cycles"
    return [*facts, f"latency: {numbers} of {grouped(node.exact)} exact samples"]


@panel(id="waits", title="Waits", area="bottom", order=24, needs=("waves", "code"), within="why")
class WaitsPanel(TreePanel[WaitSummary, WaitNode]):
    """What waits waited for, with the stall charged to it."""

    result_name = "waits"
    nothing = "No wave ran a wait for memory, LDS or messages."

    def __init__(self, ui: UiContext) -> None:
        super().__init__(
            ui,
            name="Waits by stall, each with what it waited for",
            only="Show the waits at the selected instruction, and those that waited for it.",
            sort="stall",
            yields=dict.fromkeys((LATENCIES["p90"].name, SOURCE_PLACE.name, SHARE_OF_STALL.name, "bar"), 240),
        )
        self._ranged = self.coalesced(self._compute_range, STREAM_MS)
        self.tree.menu_asked.connect(self._open_menu)
        self.session.clock_range.watch(self._range_changed)
        self.session.waves.watch(self._more_waves)
        self._start()

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._ranged.reset()
        self.result = None
        super()._open()
        self._show()
        if self.session.clock_range.value is not None:
            self._ranged.ask()

    def _refresh(self) -> None:
        if self.session.clock_range.value is None:
            super()._refresh()

    def _range_changed(self) -> None:
        if self.session.clock_range.value is None:
            self._refresh()
        else:
            self._ranged.now()

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._ranged.ask()
        elif self.result is None:
            self._show()

    def _compute_range(self) -> None:
        trace, store, window = self.session.trace.value, self.session.store, self.session.clock_range.value
        if trace is None or store is None or window is None or not len(trace.code):
            return
        name, ways = self.session.waves.value, self.ui.results.ways.of(self.session.snapshot())
        inside = rows_in(trace, window)
        ask = self.so_far("waits of a range", WAITS, window, inside)

        def job() -> WaitSummary:
            own = ways(name).rows
            return ask(inside if own is None or inside is None else own & inside)

        def take(summary: WaitSummary) -> None:
            if self.session.clock_range.value == window:
                self.result = summary
                self._show()

        self.run_job(job, take, stream=self._ranged)

    # -- showing ------------------------------------------------------------------------------------

    def _tree(self, root: WaitNode | None) -> Tree[WaitNode]:
        return Tree(
            root or WaitNode(),
            (
                TreeColumn(
                    id="text",
                    title="instruction",
                    text=self._name,
                    key=lambda node: node.line,
                    tip="A wait, and below it what it waited for.",
                    sort="instruction",
                ),
                TreeColumn(
                    "bar",
                    "stall",
                    key=lambda node: node.stall,
                    parts=self._parts,
                    width=120,
                    tip="Stall of the wait by the kind of instruction it is charged to; "
                    "of one of them, its part.",
                    sort=STALL.name,
                ),
                number_column(
                    STALL,
                    attrgetter("stall"),
                    92,
                    text=lambda node: grouped(node.stall) if node.stall or node.is_wait else "",
                    title="cycles",
                    tip="Cycles that the wait stalled; of an instruction, what is charged to it "
                    "for being the newest required.",
                ),
                number_column(
                    SHARE_OF_STALL,
                    attrgetter("stall"),
                    52,
                    text=lambda node: share_text(node.stall, node.total),
                    title="%",
                    tip="Share of the stall of all waits; below a wait, of its stall.",
                ),
                number_column(
                    TIMES,
                    attrgetter("times"),
                    72,
                    tip="How often the wait ran; how often it required the instruction.",
                ),
                number_column(LATENCIES["median"], attrgetter("median"), 66, sort=""),
                number_column(LATENCIES["p90"], attrgetter("p90"), 56, sort=""),
                source_column(SOURCE_PLACE, self.session.trace, 160, sort=SOURCE_PLACE.name),
            ),
            self._tip,
            self._spoken,
            lambda node: node.line,
            lambda node: node.stall > OPEN_SHARE * max(1, node.total),
        )

    def _name(self, node: WaitNode) -> str:
        trace = self.session.trace.value
        return "" if trace is None else f"{node.line}  {trace.code.text[node.line]}"

    def _parts(self, node: WaitNode) -> Parts:
        trace, by_kind = self.session.trace.value, Counter[int]()
        for charged in node.children if node.is_wait else [node]:
            by_kind[0 if trace is None else int(trace.code.kind[charged.line])] += charged.stall
        rest = node.stall - sum(by_kind.values())
        parts = [(cycles, self.ui.theme.kind(kind)) for kind, cycles in sorted(by_kind.items())]
        return [*parts, (rest, self.ui.theme.role("stall"))]

    def _tip(self, node: WaitNode) -> str:
        trace = self.session.trace.value
        facts = _wait_facts(node) if node.is_wait else _producer_facts(node)
        place = "" if trace is None else known_place(trace, node.line, full=True)
        return "\n".join([self._name(node), *facts, *filter(None, (place,))])

    def _spoken(self, node: WaitNode) -> str:
        what = "waits" if node.is_wait else "waited for"
        return (
            f"{self._name(node)}, {what}, {grouped(node.stall)} cycles of stall, {grouped(node.times)} times"
        )

    def _nodes(self, result: WaitSummary, line: int | None) -> WaitNode:
        table, latency = result.blocking, result.latency
        columns = (latency.line, latency.exact, latency.median, latency.p90)
        known = {
            line: {"exact": exact, "median": median, "p90": p90}
            for line, exact, median, p90 in zip(*(column.tolist() for column in columns), strict=True)
        }
        total = int(table.stall.sum())
        producers = list(zip(table.producer.tolist(), table.n.tolist(), table.charged.tolist(), strict=True))
        waits = [
            WaitNode(
                line=int(table.line[row]),
                times=int(table.hits[row]),
                stall=(stall := int(table.stall[row])),
                total=total,
                children=[
                    WaitNode(line=producer, times=n, stall=charged, total=stall, **known.get(producer, {}))
                    for producer, n, charged in producers[table.producers(row)]
                ],
            )
            for row in waits_about(result, line).tolist()
        ]
        return WaitNode(times=int(table.hits.sum()), stall=total, total=total, children=waits)

    def _has_rows(self, result: WaitSummary) -> bool:
        return len(result.blocking) > 0

    def _why_empty(self) -> str:
        if self.result is not None and not self.result.waves and self.session.clock_range.value is not None:
            return OUT_OF_RANGE
        return super()._why_empty()

    def _nothing_about(self, line: int) -> str:
        trace = self.session.trace.value
        text = "" if trace is None else f", {trace.code.text[line]}{beside(trace, line)},"
        return f"Instruction {line}{text} neither waits nor is waited for."

    def _note(self, result: WaitSummary) -> str:
        text = f"{count(result.blocking.stall.sum())} cycles of stall in {plural(result.waves, 'wave')}"
        if self.session.clock_range.value is not None:
            return f"{text} of the clock range"
        store = self.session.store
        if store is not None and not store.is_complete:
            return f"partial: {result.waves:,} of {plural(result.of, 'wave')} read"
        return self.of_waves(text)

    def _legend(self) -> list[tuple[QColor, str, str]]:
        trace, waits = self.session.trace.value, self.tree.rows.root.children
        if trace is None:
            return []
        lines = {node.line for wait in waits for node in wait.children if node.stall}
        kinds = sorted({int(trace.code.kind[line]) for line in lines} & set(KIND_TEXT))
        return [
            (self.ui.theme.kind(kind), KIND_NAME[TokenKind(kind)], KIND_TEXT[TokenKind(kind)])
            for kind in kinds
        ]

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        super()._follow()
        if self.result is not None and not self.only.isChecked():
            self._mark()

    def _mark(self) -> None:
        """Make a row of the selected instruction the current one; one that is about it already stays."""
        here, line = self.tree.currentIndex(), self.session.selection.value.line
        if not here.isValid() or self.tree.rows.node(here).line != line:
            self.tree.mark(self._row_of(line))

    def _row_of(self, line: int | None) -> WaitNode | None:
        waits, tree = self.tree.rows.root.children, self.tree
        shown = [one for wait in waits if tree.isExpanded(tree.rows.index_of(wait)) for one in wait.children]
        return next((node for node in (*waits, *shown) if node.line == line), None)

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        node = self.tree.rows.node(index)
        wait = node if node.is_wait or node.parent is None else node.parent
        tip = self.tree.rows.tree.tip(node)
        menu = self.tree.menu(
            ("Go there", lambda: self._go(node)),
            ("Show only the arrows of this wait", lambda: self._isolate(wait)),
            ("Copy", lambda: copy_text(tip)),
        )
        self.add_copy(menu)
        menu.popup(at)

    def _isolate(self, wait: WaitNode) -> None:
        self._go(wait)
        self.session.isolated_wait.set(wait.line)

    # -- what the shell asks ------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The waits, with what each waited for."""
        return self.tree_words("waits", *command_text.clock(self.session))

    def sheet(self) -> Sheet | None:
        """One row a wait and an instruction that it waited for."""
        trace, summary = self.session.trace.value, self.result
        if trace is None or summary is None or not self.tree.rows.root.children:
            return None
        return Sheet.of("Waits", flat_table(trace, summary, waits_about(summary, self.only_line)))
