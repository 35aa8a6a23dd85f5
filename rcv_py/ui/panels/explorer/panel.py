"""Where the time went: folders, files and their lines, by cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QTreeView, QVBoxLayout, QWidget

from rcv_py.analysis.cost.place_trees import Place, label_tree, source_tree
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.model.modes import LatencyMode
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import charged, cost_job, only_for, unit_of
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, copy_text
from rcv_py.ui.panels.explorer.cost_tree import BAR, COST, NAME, SHARE, BarDelegate, TreeModel
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_CODE = "This capture has no instructions, so there is nothing to rank."
NO_SOURCES = (
    "No instruction has a source place, so labels are ranked instead. "
    "Build the kernel with debug information (-g) to see files."
)
STREAM_MS = 500
WITH_COST_PX = 260  # narrower than that, cycles would leave no room for names
WITH_BAR_PX = 220  # narrower than this, names need the room of the bars


@panel(id="explorer", title="Explorer", area="left", order=10, tip="Files and lines by cost.")
class ExplorerPanel(Panel):
    """A tree of places with bars by kind of instruction; a click goes there."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.model = TreeModel(self)
        self.tree = QTreeView()
        self.note = PlainLabel(NO_SOURCES, visible=False, wordWrap=True)
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self._is_quiet = False
        self._delegate = BarDelegate(self.model, ui.theme, lambda: ui.settings["isa.bar_scale"])
        self._set_up_tree()
        self.note.setObjectName("muted")
        self.note.setContentsMargins(8, 6, 8, 6)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.note)
        column.addWidget(self.tree, 1)
        self.empty = WithEmptyState(content)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.empty)
        self._watch()
        self._open()

    def _set_up_tree(self) -> None:
        tree, header = self.tree, self.tree.header()
        tree.setModel(self.model)
        tree.setItemDelegateForColumn(BAR, self._delegate)
        tree.setUniformRowHeights(True)
        tree.setFrameShape(QTreeView.Shape.NoFrame)
        tree.setIndentation(14)
        tree.setExpandsOnDoubleClick(False)
        tree.setAllColumnsShowFocus(True)
        tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.setAccessibleName("Files and lines by cost")
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._open_menu)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in ((BAR, 60), (COST, 60), (SHARE, 46)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, width)
        tree.clicked.connect(self._go)
        tree.activated.connect(self._go)
        tree.doubleClicked.connect(lambda index: tree.setExpanded(index, not tree.isExpanded(index)))
        tree.selectionModel().currentChanged.connect(self._reached)

    def _watch(self) -> None:
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.source_cost.watch(self._wanted.ask)
        session.clock_range.watch(self._wanted.ask)
        session.loaded.watch(self._more_waves)
        self.ui.settings.cell("isa.show_idle").watch(self._wanted.ask)
        self.ui.settings.cell("isa.bar_scale").watch(self._repaint)
        self.ui.theme.changed.connect(self._repaint)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for names: without it cycles give way, which the bar shows too, then the bars."""
        super().resizeEvent(event)
        self.tree.setColumnHidden(COST, self.width() < WITH_COST_PX)
        self.tree.setColumnHidden(BAR, self.width() < WITH_BAR_PX)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        missing = trace is None or not len(trace.code)
        self.empty.say(reason(trace, "explorer", NO_CODE) if missing else "")
        self._stream.reset()
        self.note.setVisible(not missing and not self._has_sources)
        if not missing:
            self._compute()

    @property
    def _has_sources(self) -> bool:
        trace = self.session.trace.value
        return trace is not None and len(trace.code.chain_file) > 0

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._stream.ask()

    def _compute(self) -> None:
        trace, job = self.session.trace.value, cost_job(self.session, LatencyMode.SUM_ALL)
        if trace is None or job is None or self.empty.is_empty:
            return
        self._stream.started()
        how, idle = self.session.source_cost.value, self.ui.settings["isa.show_idle"]
        has_sources = self._has_sources

        def tree() -> tuple[Place, int]:
            cost = charged(job(), idle)
            root = source_tree(trace, cost, how) if has_sources else label_tree(trace, cost)
            return root, int(cost.sum())

        self.run_job(tree, only_for(self.session, self._take))

    def _take(self, answer: tuple[Place, int]) -> None:
        self._stream.finished()
        open_places = self._open_places()
        self.model.show(*answer, unit_of(self.session.trace.value))
        for place in self.model.root.walk():
            if place is not self.model.root and (place.tip in open_places or self._starts_open(place)):
                self.tree.expand(self.model.index_of(place))
        self._follow()

    def _starts_open(self, place: Place) -> bool:
        return place.file < 0 and bool(place.children) and (self._has_sources or place.row == 0)

    def _open_places(self) -> set[str]:
        return {
            place.tip for place in self.model.root.walk() if self.tree.isExpanded(self.model.index_of(place))
        }

    # -- selecting ----------------------------------------------------------------------------------

    def _go(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        place = self.model.place(index)
        if place.file >= 0:
            line = place.line if place.line >= 0 else self._hottest_line(place)
            self.session.select_source(place.file, line)
        elif place.line >= 0:
            self.session.select_line(place.line)
        else:
            self.tree.setExpanded(index, not self.tree.isExpanded(index))

    def _reached(self, index: QModelIndex, previous: QModelIndex) -> None:
        # Only the keyboard comes here with the focus and without a button; a click is told by `clicked`.
        by_key = self.tree.hasFocus() and not QGuiApplication.mouseButtons()
        if by_key and not self._is_quiet and index.isValid():
            place = self.model.place(index)
            if place.line >= 0 or place.file >= 0:
                self._go(index)

    def _hottest_line(self, place: Place) -> int:
        if place.children:
            return place.children[0].line
        trace = self.session.trace.value
        assert trace is not None
        costs = source_costs(
            trace.code, trace.code.latency, self.session.source_cost.value, len(trace.sources)
        )
        own = costs.lines_of(place.file)
        return int(costs.line[own][np.argmax(costs.cost[own])]) if own.stop > own.start else 1

    def _follow(self) -> None:
        found = self._selected_place()
        index = QModelIndex() if found is None else self._shown(self.model.index_of(found))
        if index == self.tree.currentIndex().siblingAtColumn(0):
            return
        self._is_quiet = True
        self.tree.setCurrentIndex(index)
        self._is_quiet = False

    def _selected_place(self) -> Place | None:
        selection = self.session.selection.value
        if self._has_sources and selection.source is not None:
            file, line = selection.source
            wanted = [place for place in self.model.root.walk() if place.file == file]
            return next((place for place in wanted if place.line == line), wanted[0] if wanted else None)
        lines = [place for place in self.model.root.walk() if place.line == selection.line and place.file < 0]
        return lines[-1] if selection.line is not None and lines else None

    def _shown(self, index: QModelIndex) -> QModelIndex:
        """Return the index, or its nearest ancestor that no closed branch hides."""
        above = index.parent()
        shown = index
        while above.isValid():
            shown = shown if self.tree.isExpanded(above) else above
            above = above.parent()
        return shown

    # -- menu, state --------------------------------------------------------------------------------

    def _open_menu(self, position: QPoint) -> None:
        index = self.tree.indexAt(position)
        if not index.isValid():
            return
        place = self.model.place(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go there", lambda: self._go(index))
        menu.addAction("Copy path", lambda: copy_text(place.tip or place.name))
        menu.addSeparator()
        menu.addAction("Expand all", self.tree.expandAll)
        menu.addAction("Collapse all", self.tree.collapseAll)
        self.add_copy(menu)
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def command_line(self) -> command_text.Words | None:
        """The tree."""
        how = command_text.charge(self.ui)
        return command_text.rcv(self.session, "hotspot", "--by=tree", *how, "--top=0")

    def sheet(self) -> Sheet | None:
        """All nodes, depth first."""
        if not self.model.root.children:
            return None

        def rows() -> Iterator[tuple[Any, ...]]:
            for place in self.model.root.walk():
                if place is not self.model.root:
                    yield place.name, place.tip, place.cost, place.cost / max(1, self.model.total)

        return Sheet("Explorer", ("name", "path", self.model.unit, "share"), rows())

    def save_state(self) -> dict[str, Any]:
        """Widths of the columns."""
        return {"widths": [self.tree.columnWidth(column) for column in (BAR, COST, SHARE)]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        widths = state.get("widths")
        if (
            isinstance(widths, list)
            and len(widths) == 3
            and all(isinstance(w, int) and 0 < w < 2000 for w in widths)
        ):
            for column, width in zip((BAR, COST, SHARE), widths, strict=True):
                self.tree.setColumnWidth(column, width)

    def _repaint(self) -> None:
        self.tree.viewport().update()
