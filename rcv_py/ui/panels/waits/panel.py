"""What waits waited for: wait lines by stall, and below each the instructions that made it wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QMenu

from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.cost.place_text import beside, known_place
from rcv_py.analysis.waits.wait_summary import WaitSummary, wait_summary
from rcv_py.base.text import count, plural
from rcv_py.model.kinds import KIND_TEXT
from rcv_py.results.waits import STALL, WAITS
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.layout import bar, boxed, column
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, copy_text
from rcv_py.ui.panels.waits.tree import WaitNode, WaitRows, kinds_of, only_about, wait_nodes
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.result_columns import sort_names
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.table.tree_table import TreeTable
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_WAITS = "No wave ran a wait for memory, LDS or messages."
NOT_SELECTED = "No line is selected. Click an instruction, or show all waits."
OUT_OF_RANGE = "No wave that was read touches the clock range. Reset the range in the Wave panel to see all."
STREAM_MS = 800
SORTED = sort_names(WAITS) | {"bar": STALL.name}

Answer = tuple[WaitSummary, WaitNode]


@panel(
    id="waits",
    title="Waits",
    area="bottom",
    order=30,
    tip="What waits waited for, with the stall charged to it.",
)
class WaitsPanel(TablePanel[WaitSummary]):
    """A tree of waits and producers; a click selects the line everywhere."""

    result_name = "waits"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._whole = WaitNode()
        self.tree = TreeTable(
            WaitRows(ui.theme).tree(),
            lambda: ui.settings["isa.bar_scale"],
            sort="stall",
            yields=dict.fromkeys(("p90", "source", "share", "bar"), 240),
        )
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.setAccessibleName("Waits by stall, each with what it waited for")
        self.legend, self.note = Legend(), PlainLabel()
        self.only = QCheckBox("Selected line only")
        self._ranged = self.coalesced(self._compute_range, STREAM_MS)
        self._lay_out()
        self.tree.chosen.connect(self._go)
        self.tree.hovered.connect(self._point)
        self.tree.customContextMenuRequested.connect(self._open_menu)
        self.session.clock_range.watch(self._range_changed)
        self.session.waves.watch(self._more_waves)
        ui.settings.cell("isa.bar_scale").watch(self._restyle)
        ui.theme.changed.connect(self._restyle)
        self._start()

    def _lay_out(self) -> None:
        self.note.setObjectName("muted")
        self.only.setToolTip("Show the waits at the selected line, and those that waited for it.")
        self.only.setAccessibleName("Show only waits of the selected line")
        self.only.toggled.connect(self._show)
        self.bar = boxed(bar((self.legend, 1), self.note, self.only))
        self.empty = WithEmptyState(self.tree)
        column(self.bar, (self.empty, 1), of=self)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._ranged.reset()
        self.result, self._whole = None, WaitNode()
        self.tree.forget()
        super()._open()
        self._show()

    def _refresh(self) -> None:
        summary = self.ui.results.cell(self.result_name).value
        if summary is not None and self.session.clock_range.value is None:
            self.run_job(lambda: (summary, wait_nodes(summary)), only_for(self.session, self._take))

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
        self._ranged.started()

        def job() -> Answer:
            own, inside = ways.choice(trace, batches, name).rows, counted_rows(trace.waves, None, window)
            summary = wait_summary(trace, batches, inside if own is None else own & inside)
            return summary, wait_nodes(summary)

        self.run_job(job, only_for(self.session, self._take))

    def _take(self, answer: Answer) -> None:
        self._ranged.finished()
        self.result, self._whole = answer
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, summary = self.session.trace.value, self.result
        sentence = self._why_empty()
        self.bar.setVisible(summary is not None and bool(len(summary.blocking)))
        self.empty.say(sentence)
        if trace is None or summary is None or sentence:
            return
        line = self.session.selection.value.line
        is_filtered = self.only.isChecked() and line is not None
        root = only_about(self._whole, line) if is_filtered and line is not None else self._whole
        self.tree.show_tree(WaitRows(self.ui.theme, trace).tree(root), is_all_open=is_filtered)
        self.note.setText(self._note(summary))
        self._restyle()
        self._mark(line)

    def _why_empty(self) -> str:
        trace, summary, line = self.session.trace.value, self.result, self.session.selection.value.line
        sentence = self.why_no_waves(summary)
        if summary is not None and not summary.waves and self.session.clock_range.value is not None:
            return OUT_OF_RANGE
        if sentence or trace is None or summary is None:
            return sentence
        if not len(summary.blocking):
            return reason(trace, "waits", NO_WAITS)
        if not self.only.isChecked():
            return ""
        if line is None:
            return NOT_SELECTED
        text = f"Line {line}, {trace.code.text[line]}{beside(trace, line)}, neither waits nor is waited for."
        return "" if only_about(self._whole, line).children else text

    def _note(self, summary: WaitSummary) -> str:
        text = f"{count(self._whole.stall)} cycles of stall in {plural(summary.waves, 'wave')}"
        if self.session.clock_range.value is not None:
            return f"{text} of the clock range"
        store = self.session.store
        if store is not None and not store.is_complete:
            return f"partial: {summary.waves:,} of {plural(summary.of, 'wave')} read"
        return self.of_waves(text)

    def _restyle(self) -> None:
        trace, theme = self.session.trace.value, self.ui.theme
        if trace is not None:
            kinds = kinds_of(trace, self.tree.rows.root)
            self.legend.set_items([(theme.kind(kind), kind.name, KIND_TEXT[kind]) for kind in kinds])
        self.tree.viewport().update()

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

    def place_of(self, row: WaitNode | None) -> Hover | None:
        """The instruction of a row."""
        return None if row is None else Hover(line=row.line)

    def _open_menu(self, position: QPoint) -> None:
        index = self.tree.indexAt(position)
        if not index.isValid():
            return
        node = self.tree.rows.node(index)
        wait = node if node.is_wait or node.parent is None else node.parent
        tip = self.tree.rows.tree.tip(node)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go there", lambda: self._go(node))
        menu.addAction("Show only the arrows of this wait", lambda: self._isolate(wait))
        menu.addAction("Copy", lambda: copy_text(tip))
        menu.addSeparator()
        menu.addAction("Expand all", self.tree.expandAll)
        menu.addAction("Collapse all", self.tree.collapseAll)
        self.add_copy(menu)
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _isolate(self, wait: WaitNode) -> None:
        self._go(wait)
        self.session.isolated_wait.set(wait.line)

    # -- state --------------------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The waits, with what each waited for."""
        order = command_text.sorting(self.tree.rows, SORTED)
        of = command_text.only_line(self.session, self.only.isChecked())
        return command_text.rcv(
            self.session, "waits", *of, *command_text.clock(self.session), *order, "--top=0"
        )

    def sheet(self) -> Sheet | None:
        """One row a wait and producer, as shown."""
        if self.session.trace.value is None or not self.tree.rows.root.children:
            return None
        headers = ("line", "wait", "hits", "stall", "producer line", "producer", "times", "charged")
        return Sheet("Waits", (*headers, "exact", "median", "p90", "source"), self._sheet_rows())

    def _sheet_rows(self) -> Iterator[tuple[Any, ...]]:
        trace = self.session.trace.value
        assert trace is not None
        text = trace.code.text
        for wait in self.tree.rows.root.children:
            head = (wait.line, text[wait.line], wait.times, wait.stall)
            for one in wait.children:
                numbers = (one.median, one.p90) if one.exact else ("", "")
                source = known_place(trace, one.line, full=True)
                yield (*head, one.line, text[one.line], one.times, one.stall, one.exact, *numbers, source)
            if not wait.children:
                yield (*head, "", "", 0, 0, 0, "", "", "")

    def save_state(self) -> dict[str, Any]:
        """Widths, order and filter."""
        return {**self.tree.save_state(), "selected_only": self.only.isChecked()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.tree.load_state(state)
        self.only.setChecked(state.get("selected_only") is True)
