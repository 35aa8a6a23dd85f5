"""What waits waited for: wait lines by stall, and below each the instructions that made it wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from rcv_py.analysis.hotspot import counted_rows
from rcv_py.analysis.wait_summary import WaitSummary, wait_summary
from rcv_py.base.text import count, plural
from rcv_py.model.kinds import KIND_TEXT
from rcv_py.state.selection import Hover
from rcv_py.ui.kit.coalesce import Coalesce
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.costs import only_for
from rcv_py.ui.kit.empty_state import WithEmptyState, reason
from rcv_py.ui.kit.legend import Legend
from rcv_py.ui.kit.panel import Panel, Sheet, panel
from rcv_py.ui.kit.places import place_text
from rcv_py.ui.kit.wait_tree import (
    BAR,
    MEDIAN,
    NAME,
    P90,
    SHARE,
    SOURCE,
    STALL,
    TIMES,
    StallDelegate,
    WaitModel,
    WaitNode,
    kinds_of,
    only_about,
    wait_nodes,
)

NO_WAVES = (
    "This capture has no traced waves, so nothing is known about waits. "
    "Record a thread trace with instruction tracing to see them."
)
READING = "Waits are shown as soon as waves are read."
UNREAD = "No wave could be read, so nothing is known about waits. Problems says why."
NO_WAITS = "No wave ran a wait for memory, LDS or messages."
NOT_SELECTED = "No line is selected. Click an instruction, or show all waits."
WIDTHS = {BAR: 120, STALL: 84, SHARE: 52, TIMES: 72, MEDIAN: 66, P90: 56, SOURCE: 160}
OPEN_SHARE = 0.05  # waits with more of all stall start open
STREAM_MS = 800

Answer = tuple[WaitSummary, WaitNode]


@panel(
    id="waits",
    title="Waits",
    area="bottom",
    order=30,
    tip="What waits waited for, with the stall charged to it.",
)
class WaitsPanel(Panel):
    """A tree of waits and producers; a click selects the line everywhere."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.summary: WaitSummary | None = None
        self._whole = WaitNode(-1, 0, 0, 0)
        self._is_quiet = False
        self.model = WaitModel(self)
        self.tree = QTreeView()
        self.delegate = StallDelegate(self.model, ui.theme, lambda: ui.settings["isa.bar_scale"])
        self.legend, self.note = Legend(), QLabel()
        self.only = QCheckBox("Selected line only")
        self._ranged = Coalesce(self, self._compute_range, STREAM_MS)
        self._lay_out()
        self._set_up_tree()
        self._watch()
        self._open()

    def _lay_out(self) -> None:
        self.note.setObjectName("muted")
        self.only.setToolTip("Show the waits at the selected line, and those that waited for it.")
        self.only.setAccessibleName("Show only waits of the selected line")
        self.only.toggled.connect(self._show)
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 4)
        bar.setSpacing(8)
        bar.addWidget(self.legend, 1)
        bar.addWidget(self.note)
        bar.addWidget(self.only)
        self.bar = QWidget()
        self.bar.setLayout(bar)
        self.empty = WithEmptyState(self.tree)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(0)
        around.addWidget(self.bar)
        around.addWidget(self.empty, 1)

    def _set_up_tree(self) -> None:
        tree, header = self.tree, self.tree.header()
        tree.setModel(self.model)
        tree.setItemDelegateForColumn(BAR, self.delegate)
        tree.setUniformRowHeights(True)
        tree.setFrameShape(QTreeView.Shape.NoFrame)
        tree.setIndentation(16)
        tree.setExpandsOnDoubleClick(False)
        tree.setAllColumnsShowFocus(True)
        tree.setMouseTracking(True)
        tree.setAccessibleName("Waits by stall, each with what it waited for")
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._open_menu)
        tree.viewport().installEventFilter(self)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, width)
        header.setSortIndicator(STALL, Qt.SortOrder.DescendingOrder)
        tree.setSortingEnabled(True)
        tree.clicked.connect(self._go)
        tree.activated.connect(self._go)
        tree.doubleClicked.connect(lambda index: self._toggle(index.siblingAtColumn(0)))
        tree.entered.connect(lambda index: self.session.hover.set(Hover(line=self.model.node(index).line)))
        tree.selectionModel().currentChanged.connect(self._reached)

    def _watch(self) -> None:
        session, ui = self.session, self.ui
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.clock_range.watch(self._range_changed)
        session.loaded.watch(self._more_waves)
        ui.results.cell("waits").watch(self._shared)
        ui.settings.cell("isa.bar_scale").watch(self._repaint)
        ui.theme.changed.connect(self._restyle)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self._ranged.reset()
        self.summary, self._whole = None, WaitNode(-1, 0, 0, 0)
        self.model.show(trace, self._whole)
        missing = trace is None or not len(trace.waves) or not len(trace.code)
        if not missing:
            self.ui.results.want("waits")
        self._show()

    def _shared(self) -> None:
        summary = self.ui.results.cell("waits").value
        if summary is not None and self.session.clock_range.value is None:
            self.ui.tasks.run(
                self, lambda: (summary, wait_nodes(summary)), only_for(self.session, self._take)
            )

    def _range_changed(self) -> None:
        if self.session.clock_range.value is None:
            self._shared()
        else:
            self._ranged.now()

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._ranged.ask()
        elif self.summary is None:
            self._show()

    def _compute_range(self) -> None:
        trace, store, window = self.session.trace.value, self.session.store, self.session.clock_range.value
        if trace is None or store is None or window is None or not len(trace.code):
            return
        batches = store.batches
        self._ranged.started()

        def job() -> Answer:
            summary = wait_summary(trace, batches, counted_rows(trace.waves, None, window))
            return summary, wait_nodes(summary)

        self.ui.tasks.run(self, job, only_for(self.session, self._take))

    def _take(self, answer: Answer) -> None:
        self._ranged.finished()
        self.summary, self._whole = answer
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, summary = self.session.trace.value, self.summary
        sentence = self._why_empty()
        self.bar.setVisible(summary is not None and bool(len(summary.blocking)))
        self.empty.say(sentence)
        if trace is None or summary is None or sentence:
            return
        is_first = not self.model.root.children
        open_lines = {node.line for node in self.model.root.children if self._is_open(node)}
        line = self.session.selection.value.line
        root = only_about(self._whole, line) if self.only.isChecked() and line is not None else self._whole
        self._is_quiet = True
        self.model.show(trace, root)
        for node in root.children:
            starts_open = is_first and node.stall > OPEN_SHARE * max(1, node.whole)
            if node.line in open_lines or starts_open or self.only.isChecked():
                self.tree.expand(self.model.index_of(node))
        self._is_quiet = False
        self._say(summary)
        self._restyle()
        self._mark()

    def _why_empty(self) -> str:
        trace, summary, store = self.session.trace.value, self.summary, self.session.store
        if trace is None or not len(trace.waves) or not len(trace.code):
            return reason(trace, "waits", NO_WAVES)
        if summary is None or not summary.waves:
            is_over = store is not None and len(store.missing) >= len(trace.waves)
            in_range = summary is not None and self.session.clock_range.value is not None
            return "No wave in the clock range." if in_range else UNREAD if is_over else READING
        if not len(summary.blocking):
            return reason(trace, "waits", NO_WAITS)
        line = self.session.selection.value.line
        if not self.only.isChecked():
            return ""
        if line is None:
            return NOT_SELECTED
        found = only_about(self._whole, line).children
        text = f"Line {line}, {trace.code.text[line]}, neither waits nor is waited for."
        return "" if found else text

    def _say(self, summary: WaitSummary) -> None:
        store, trace = self.session.store, self.session.trace.value
        assert trace is not None
        whole = f"{count(self._whole.stall)} cycles of stall in {plural(summary.waves, 'wave')}"
        missing = 0 if store is None else len(store.missing)
        if self.session.clock_range.value is not None:
            whole += " of the clock range"
        elif summary.waves + missing < len(trace.waves):
            whole = f"partial: {summary.waves:,} of {plural(len(trace.waves), 'wave')} read"
        self.note.setText(whole)

    def _is_open(self, node: WaitNode) -> bool:
        return self.tree.isExpanded(self.model.index_of(node))

    def _restyle(self) -> None:
        trace, theme = self.session.trace.value, self.ui.theme
        if trace is None:
            return
        kinds = kinds_of(trace, self.model.root)
        self.legend.set_items([(theme.kind(kind), kind.name, KIND_TEXT[kind]) for kind in kinds])
        self._repaint()

    def _repaint(self) -> None:
        self.tree.viewport().update()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self.summary is None:
            return
        if self.only.isChecked():
            self._show()
        else:
            self._mark()

    def _mark(self) -> None:
        """Make the selected line the current row, the same one if it shows that line already."""
        line, here = self.session.selection.value.line, self.tree.currentIndex()
        if here.isValid() and self.model.node(here).line == line:
            return
        node = self._node_of(line)
        self._is_quiet = True
        index = QModelIndex() if node is None else self.model.index_of(node)
        self.tree.setCurrentIndex(index)
        if index.isValid():
            self.tree.scrollTo(index)
        self._is_quiet = False

    def _node_of(self, line: int | None) -> WaitNode | None:
        waits = self.model.root.children
        inner = [child for node in waits if self._is_open(node) for child in node.children]
        return next((node for node in (*waits, *inner) if node.line == line), None)

    def _go(self, index: QModelIndex) -> None:
        if index.isValid() and self.model.node(index).line != self.session.selection.value.line:
            self.session.select_line(self.model.node(index).line)

    def _reached(self, index: QModelIndex, previous: QModelIndex) -> None:
        # Only the keyboard comes here with the focus and without a button; a click is told by `clicked`.
        if self.tree.hasFocus() and not QGuiApplication.mouseButtons() and not self._is_quiet:
            self._go(index)

    def _toggle(self, index: QModelIndex) -> None:
        self.tree.setExpanded(index, not self.tree.isExpanded(index))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell that the mouse left the rows."""
        if event.type() == QEvent.Type.Leave:
            self.session.hover.set(None)
        return super().eventFilter(watched, event)

    def _open_menu(self, position: QPoint) -> None:
        index = self.tree.indexAt(position)
        if not index.isValid():
            return
        node = self.model.node(index)
        wait = node if node.is_wait or node.parent is None else node.parent
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go there", lambda: self._go(index))
        menu.addAction("Show only the arrows of this wait", lambda: self._isolate(wait.line))
        menu.addAction("Copy", lambda: QGuiApplication.clipboard().setText(self.model.tip(node)))
        menu.addSeparator()
        menu.addAction("Expand all", self.tree.expandAll)
        menu.addAction("Collapse all", self.tree.collapseAll)
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _isolate(self, line: int) -> None:
        self.session.select_line(line)
        self.session.isolated_wait.set(line)

    # -- state --------------------------------------------------------------------------------------

    def sheet(self) -> Sheet | None:
        """One row a wait and producer, as shown."""
        trace = self.session.trace.value
        if trace is None or not self.model.root.children:
            return None
        headers = ("line", "wait", "hits", "stall", "producer line", "producer", "times", "charged")
        return Sheet("Waits", (*headers, "exact", "median", "p90", "source"), self._sheet_rows())

    def _sheet_rows(self) -> Iterator[tuple[Any, ...]]:
        trace = self.session.trace.value
        assert trace is not None
        text = trace.code.text
        for wait in self.model.root.children:
            head = (wait.line, text[wait.line], wait.times, wait.stall)
            for one in wait.children:
                numbers = (one.median, one.p90) if one.exact else ("", "")
                chain = trace.code.chain(one.line)
                source = place_text(trace.sources, *chain[0], full=True) if chain else ""
                yield (*head, one.line, text[one.line], one.times, one.stall, one.exact, *numbers, source)
            if not wait.children:
                yield (*head, "", "", 0, 0, 0, "", "", "")

    def save_state(self) -> dict[str, Any]:
        """Widths, order and filter."""
        column, order = self.model.sorting
        return {
            "widths": [self.tree.columnWidth(at) for at in WIDTHS],
            "sort": [column, order == Qt.SortOrder.DescendingOrder],
            "selected_only": self.only.isChecked(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        widths, sort = state.get("widths"), state.get("sort")
        if isinstance(widths, list) and len(widths) == len(WIDTHS):
            for at, width in zip(WIDTHS, widths, strict=True):
                if isinstance(width, int) and 0 < width < 2000:
                    self.tree.setColumnWidth(at, width)
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(SOURCE + 1):
            down = Qt.SortOrder.DescendingOrder if sort[1] else Qt.SortOrder.AscendingOrder
            self.tree.sortByColumn(int(sort[0]), down)
        self.only.setChecked(state.get("selected_only") is True)
