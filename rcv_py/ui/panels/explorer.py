"""Where the time went: folders, files and their lines, by cost."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QModelIndex, QPoint, Qt

from rcv_py.analysis.cost.explorer import CostNode, label_tree, source_tree
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.base.text import percent, short_count
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import CostUpdates, charged_job, has_sources, unit_of
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, copy_text
from rcv_py.ui.table import command_text
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Parts, Tree, TreeColumn, TreeTable, share_text
from rcv_py.ui.widgets.empty_state import page

NO_SOURCES = (
    "No instruction has a source place, so labels are ranked instead. "
    "Build the kernel with debug information (-g) to see files."
)
STREAM_MS = 500


@panel(id="explorer", title="Files", area="left", order=20, icon="folder", needs=("code", "source lines"))
class ExplorerPanel(Panel):
    """Files and lines by cost."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        # Without room for names, cycles give way first: the bars show them too.
        self.tree = TreeTable(self._tree(), ui, yields={"cost": 94, "bar": 114})
        self.remembered = {"tree": self.tree}
        self.note = PlainLabel(NO_SOURCES, role="muted", visible=False, wordWrap=True)
        self.note.setContentsMargins(8, 6, 8, 6)
        self.empty = page(self, self.note, (self.tree, 1))
        self._costs = CostUpdates(self, self._compute, STREAM_MS)
        self._set_up_tree()
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.source_cost.watch(self._costs.ask)
        self._open()

    def _set_up_tree(self) -> None:
        tree = self.tree
        tree.setIndentation(14)
        tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        tree.setAccessibleName("Files and lines by cost")
        tree.menu_asked.connect(self._open_menu)
        tree.chosen.connect(self._go)
        tree.clicked.connect(self._toggle_folder)
        tree.activated.connect(self._toggle_folder)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        missing = self.why_missing("code")
        self.empty.say(missing)
        self._costs.reset()
        self.note.setVisible(not missing and not has_sources(self.session.trace.value))
        if not missing:
            self._compute()

    def _compute(self) -> None:
        trace, cost = self.session.trace.value, charged_job(self.ui)
        if trace is None or cost is None or self.empty.is_empty:
            return
        how, is_source = self.session.source_cost.value, has_sources(trace)

        def tree() -> CostNode:
            return (
                source_tree(trace.code, trace.sources, cost(), how)
                if is_source
                else label_tree(trace, cost())
            )

        self.run_job(tree, self._take, stream=self._costs.stream)

    def _take(self, root: CostNode) -> None:
        self.tree.show_tree(self._tree(root))
        self._follow()

    def _tree(self, root: CostNode | None = None) -> Tree[CostNode]:
        trace, total = self.session.trace.value, 0 if root is None else root.cost
        unit, is_source = unit_of(trace), has_sources(trace)

        def tip(place: CostNode) -> str:
            """Path, exact cost, and the cost by kind."""
            cost = f"{grouped(place.cost)} {unit}, {percent(place.cost, total)} of all"
            kinds = [
                f"{KIND_TEXT[TokenKind(kind)]}: {grouped(place.by_kind[kind])}"
                for kind in np.argsort(-place.by_kind, kind="stable").tolist()
                if place.by_kind[kind]
            ]
            return "\n".join([place.tip or place.name, cost, *kinds])

        def cost(place: CostNode) -> str:
            return short_count(place.cost) if place.cost else ""

        def share(place: CostNode) -> str:
            return share_text(place.cost, total)

        def parts(place: CostNode) -> Parts:
            return [(int(place.by_kind[kind]), self.ui.theme.kind(kind)) for kind in range(KIND_COUNT)]

        return Tree(
            root or CostNode(),
            (
                TreeColumn("name", "place", lambda place: place.name),
                TreeColumn("bar", "cost", parts=parts, width=60),
                TreeColumn("cost", unit, cost, is_number=True, width=60),
                TreeColumn("share", "%", share, is_number=True, width=46),
            ),
            tip,
            lambda place: f"{place.name}, {grouped(place.cost)} {unit}, {percent(place.cost, total)}",
            lambda place: place.tip,
            lambda place: place.file < 0 and (is_source or place.row == 0),
        )

    # -- selecting ----------------------------------------------------------------------------------

    def _go(self, place: CostNode) -> None:
        if place.file >= 0:
            line = place.line if place.line >= 0 else self._hottest_line(place)
            self.session.select_source(place.file, line)
        elif place.line >= 0:
            self.session.select_line(place.line)

    def _toggle_folder(self, index: QModelIndex) -> None:
        if index.isValid() and _is_folder(self.tree.rows.node(index)):
            self.tree.toggle(index)

    def _hottest_line(self, place: CostNode) -> int:
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
        self.tree.mark(self._selected_place())

    def _selected_place(self) -> CostNode | None:
        selection = self.session.selection.value
        if has_sources(self.session.trace.value) and selection.source is not None:
            file, line = selection.source
            wanted = [place for place in self.tree.rows.root.walk() if place.file == file]
            return next((place for place in wanted if place.line == line), wanted[0] if wanted else None)
        lines = [
            place for place in self.tree.rows.root.walk() if place.line == selection.line and place.file < 0
        ]
        return lines[-1] if selection.line is not None and lines else None

    # -- menu, state --------------------------------------------------------------------------------

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        place = self.tree.rows.node(index)
        go = self._toggle_folder if _is_folder(place) else lambda _: self._go(place)
        copy = ("Copy path", lambda: copy_text(place.tip or place.name))
        menu = self.tree.menu(("Go there", lambda: go(index)), copy)
        self.add_copy(menu)
        menu.popup(at)

    def command_line(self) -> command_text.Words | None:
        """The tree."""
        how = command_text.charge(self.ui)
        return command_text.rcv(self.session, "hotspot", "--by=tree", *how, "--top=0")

    def sheet(self) -> Sheet | None:
        """All nodes, depth first."""
        root = self.tree.rows.root
        if not root.children:
            return None
        rows = (
            (place.name, place.tip, place.cost, place.cost / max(1, root.cost))
            for place in root.walk()
            if place is not root
        )
        return Sheet("Explorer", ("name", "path", unit_of(self.session.trace.value), "share"), rows)


def _is_folder(place: CostNode) -> bool:
    return place.file < 0 and place.line < 0
