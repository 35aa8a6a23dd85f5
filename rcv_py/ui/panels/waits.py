"""What waits waited for: wait lines by stall, and below each the instructions that made it wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from operator import attrgetter

from PySide6.QtCore import QModelIndex, QPoint

from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.cost.place_text import beside, known_place
from rcv_py.analysis.waits.wait_latency import WaitSummary, wait_summary
from rcv_py.base.text import count, percent, plural
from rcv_py.base.tree import TreeNode
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.results.common import SOURCE_PLACE
from rcv_py.results.waits import LATENCIES, SHARE_OF_STALL, STALL, TIMES, flat_table, waits_about
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import bar, boxed, column
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import copy_text
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

NO_WAITS = "No wave ran a wait for memory, LDS or messages."
NOT_SELECTED = "No line is selected. Click an instruction, or show all waits."
OUT_OF_RANGE = "No wave that was read touches the clock range. Reset the range in the Wave panel to see all."
STREAM_MS = 800
OPEN_SHARE = 0.05  # waits with more of all stall start open

Answer = tuple[WaitSummary, "WaitNode"]


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


def wait_nodes(summary: WaitSummary) -> WaitNode:
    """Return the root of the tree; takes a few milliseconds, so a thread may do it."""
    table, latency = summary.blocking, summary.latency
    columns = (latency.line, latency.exact, latency.median, latency.p90)
    known = {
        line: {"exact": exact, "median": median, "p90": p90}
        for line, exact, median, p90 in zip(*(column.tolist() for column in columns), strict=True)
    }
    total = int(table.stall.sum())
    producers = list(zip(table.producer.tolist(), table.n.tolist(), table.charged.tolist(), strict=True))
    heads = zip(table.line.tolist(), table.hits.tolist(), table.stall.tolist(), strict=True)
    waits = [
        WaitNode(
            line=line,
            times=hits,
            stall=stall,
            total=total,
            children=[
                WaitNode(line=producer, times=n, stall=charged, total=stall, **known.get(producer, {}))
                for producer, n, charged in producers[table.producers(row)]
            ],
        )
        for row, (line, hits, stall) in enumerate(heads)
    ]
    return WaitNode(times=int(table.hits.sum()), stall=total, total=total, children=waits)


def only_about(root: WaitNode, line: int) -> WaitNode:
    """Return a tree of the waits at a code row, and of those that waited for it."""
    nodes = [
        replace(node, children=[replace(child, children=[]) for child in node.children])
        for node in root.children
        if node.line == line or any(child.line == line for child in node.children)
    ]
    return replace(root, children=nodes)


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
                    sort="instruction",
                ),
                TreeColumn(
                    "bar",
                    "stall",
                    key=lambda node: node.stall,
                    parts=self.parts,
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
                source_column(SOURCE_PLACE, self.trace, 160, sort=SOURCE_PLACE.name),
            ),
            self.tip,
            self.spoken,
            lambda node: node.line,
            lambda node: node.stall > OPEN_SHARE * max(1, node.total),
        )

    def name(self, node: WaitNode) -> str:
        """The instruction, after its row."""
        return "" if self.trace is None else f"{node.line}  {self.trace.code.text[node.line]}"

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
        """The total instruction, exact numbers, how sure the latency is, and the source in full."""
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


def kinds_of(trace: Trace, root: WaitNode) -> list[TokenKind]:
    """Return the kinds of instruction that stall is charged to, for a legend."""
    lines = {child.line for node in root.children for child in node.children if child.stall}
    found = sorted({int(trace.code.kind[line]) for line in lines})
    return [TokenKind(kind) for kind in found if kind in KIND_TEXT]


@panel(id="waits", title="Waits", area="bottom", order=30, needs=("waves", "code"))
class WaitsPanel(TreePanel[WaitSummary, WaitNode]):
    """What waits waited for, with the stall charged to it."""

    result_name = "waits"

    def __init__(self, ui: UiContext) -> None:
        gives_way = dict.fromkeys((LATENCIES["p90"].name, SOURCE_PLACE.name, SHARE_OF_STALL.name, "bar"), 240)
        super().__init__(
            ui,
            TreeTable(WaitRows(ui.theme).tree(), ui, sort="stall", yields=gives_way),
            name="Waits by stall, each with what it waited for",
            only="Show the waits at the selected line, and those that waited for it.",
        )
        self._all = WaitNode()
        self._ranged = self.coalesced(self._compute_range, STREAM_MS)
        self.bar = boxed(bar((self.legend, 1), self.note, self.only))
        column(self.bar, (self.empty, 1), of=self)
        self.tree.menu_asked.connect(self._open_menu)
        self.session.clock_range.watch(self._range_changed)
        self.session.waves.watch(self._more_waves)
        self._start()

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._ranged.reset()
        self.result, self._all = None, WaitNode()
        super()._open()
        self._show()

    def _refresh(self) -> None:
        summary = self.ui.results.cell(self.result_name).value
        if summary is not None and self.session.clock_range.value is None:
            self.run_job(lambda: (summary, wait_nodes(summary)), self._take, stream=self._ranged)

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
        batches, name, ways = store.batches, self.session.waves.value, self.ui.results.ways

        def job() -> Answer:
            own, inside = ways.choice(trace, batches, name).rows, counted_rows(trace.waves, None, window)
            summary = wait_summary(trace, batches, inside if own is None else own & inside)
            return summary, wait_nodes(summary)

        self.run_job(job, self._take, stream=self._ranged)

    def _take(self, answer: Answer) -> None:
        self.result, self._all = answer
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, summary = self.session.trace.value, self.result
        sentence = self._why_empty()
        self.bar.setVisible(summary is not None and bool(len(summary.blocking)))
        self.empty.say(sentence)
        if trace is None or summary is None or sentence:
            return
        line = self.only_line
        root = self._all if line is None else only_about(self._all, line)
        self.tree.show_tree(WaitRows(self.ui.theme, trace).tree(root), is_all_open=line is not None)
        self.note.setText(self._note(summary))
        self._show_legend()
        self._mark(self.session.selection.value.line)

    def _why_empty(self) -> str:
        trace, summary, line = self.session.trace.value, self.result, self.session.selection.value.line
        sentence = self.why_no_waves(summary)
        if summary is not None and not summary.waves and self.session.clock_range.value is not None:
            return OUT_OF_RANGE
        if sentence or trace is None or summary is None:
            return sentence
        if not len(summary.blocking):
            return self.reason(NO_WAITS)
        if not self.only.isChecked():
            return ""
        if line is None:
            return NOT_SELECTED
        text = f"Line {line}, {trace.code.text[line]}{beside(trace, line)}, neither waits nor is waited for."
        return "" if only_about(self._all, line).children else text

    def _note(self, summary: WaitSummary) -> str:
        text = f"{count(self._all.stall)} cycles of stall in {plural(summary.waves, 'wave')}"
        if self.session.clock_range.value is not None:
            return f"{text} of the clock range"
        store = self.session.store
        if store is not None and not store.is_complete:
            return f"partial: {summary.waves:,} of {plural(summary.of, 'wave')} read"
        return self.of_waves(text)

    def _show_legend(self) -> None:
        trace, theme = self.session.trace.value, self.ui.theme
        if trace is not None:
            kinds = kinds_of(trace, self.tree.rows.root)
            self.legend.set_items([(theme.kind(kind), kind.name, KIND_TEXT[kind]) for kind in kinds])

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self.result is not None and self.only.isChecked():
            self._show()
        elif self.result is not None:
            self._mark(self.session.selection.value.line)

    def _mark(self, line: int | None) -> None:
        """Make a row of the selected line the current one; one that is about it already stays."""
        here = self.tree.currentIndex()
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
