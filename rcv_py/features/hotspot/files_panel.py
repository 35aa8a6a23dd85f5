"""Folders, files and their lines, by cost."""

from operator import attrgetter

import numpy as np
from PySide6.QtCore import QModelIndex, QPoint
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.cost.explorer import LINES, CostNode, label_tree, matching, source_tree
from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.base.text import Message, percent, short_count, translated
from rcv_py.ui.core.costs import CostUpdates, charged_job, has_sources, unit_of
from rcv_py.ui.core.layout import BAR, boxed, column, row
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, filter_field, with_tip
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD
from rcv_py.ui.table.cost_bars import kind_lines, kind_parts
from rcv_py.ui.table.rows_view import MIN_ROW
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.table.tree_table import Tree, TreeColumn, TreeTable, share_text
from rcv_py.ui.widgets.empty_state import WithEmptyState

NO_SOURCES = (
    "No instruction has a source place, so labels are ranked instead. "
    "Build the kernel with debug information (-g) to see files."
)
STREAM_MS = 500
EVERY_MS = 120  # while the user types
INDENT_PX = 10
ALL_LINES = 20_000  # maximum lines of a file searched for a text
_cost_of = attrgetter("cost")


class FilesPanel(Panel):
    """Folders, files and lines by cost."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        tip = "Show only files and lines with this text in their path, place or code."
        self.field = with_tip(filter_field("Filter files and lines"), tip)
        self._filter = ""  # the text of the field that the tree shows
        self.tree = TreeTable(
            self._tree(),
            ui,
            sort="share",
            # Without room for names, the cycles column gives way first: the bars show cycles too.
            yields={"cost": 240, "bar": 60},
            opens_by_key=True,
            row_px=lambda: max(MIN_ROW, QFontMetrics(ui.theme.mono).height() + 1),
        )
        self.remembered = {"tree": self.tree}
        self.note = PlainLabel(NO_SOURCES, role="muted", visible=False, wordWrap=True)
        self.note.setContentsMargins(8, 6, 8, 6)
        self.empty = WithEmptyState(boxed(column(self.note, (self.tree, 1))))
        column(row(self.field, margins=BAR), (self.empty, 1), of=self)
        self.field.textChanged.connect(self.request(self._compute, EVERY_MS, always_rests=True).update)
        self._costs = CostUpdates(self, self._compute, STREAM_MS)
        self.tree.setIndentation(INDENT_PX)
        self.tree.setAccessibleName(translated("Files and lines by cost"))
        self.tree.menu_asked.connect(self._open_menu)
        self.tree.chosen.connect(self._go)
        self.tree.clicked.connect(self._toggle_folder)
        self.tree.activated.connect(self._toggle_folder)
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        self.session.source_cost.watch(self._costs.ask)
        self._open()

    def _open(self) -> None:
        missing = self.why_missing("code")
        self.empty.say(missing)
        self.note.setVisible(not missing and not has_sources(self.session.trace.value))
        if not missing:
            self._compute()

    def _compute(self) -> None:
        trace, cost = self.session.trace.value, charged_job(self.ui)
        if trace is None or cost is None or not len(trace.code):
            return
        how, wanted = self.session.source_cost.value, self.field.text().strip()
        self._filter, lines = wanted, ALL_LINES if wanted else LINES

        def tree() -> CostNode:
            if has_sources(trace):
                root = source_tree(trace.code, trace.sources, cost(), how, lines)
            else:
                root = label_tree(trace, cost(), lines)
            return matching(root, wanted, trace.sources) if wanted else root

        self._costs.run(tree, self._take)

    def _take(self, root: CostNode) -> None:
        self.tree.set_width("line", self._line_px(root))
        self.tree.show_tree(self._tree(root), is_all_open=bool(self._filter))
        is_none = bool(self._filter) and not root.children
        self.empty.say(Message("No file or line has “{0}” in it.", self._filter) if is_none else "")
        self._follow()

    def _line_px(self, root: CostNode) -> int:
        """Return the width that the deepest line needs: its arrows, and the longest number."""

        def depth(node: CostNode) -> int:
            return 1 + max(map(depth, node.children), default=0)

        largest = max((place.line for place in root.walk()), default=0)
        char_px = QFontMetrics(self.ui.theme.mono).horizontalAdvance("0")
        return (depth(root) - 1) * INDENT_PX + len(str(largest)) * char_px + 2 * PAD

    def _tree(self, root: CostNode | None = None) -> Tree[CostNode]:
        trace, total = self.session.trace.value, 0 if root is None else root.cost
        unit, is_source = unit_of(trace), has_sources(trace)
        mono, title = self.ui.theme.mono, "line" if is_source else "#"

        def tip(place: CostNode) -> str:
            """Return the path, or place and text of a line; the exact cost, and the cost by kind."""
            where: str = place.tip or place.name
            if place.text is not None:
                where = Message("instruction {0}", place.line)
                if trace is not None and place.file >= 0:
                    where = place_text(trace.sources, place.file, place.line)
            cost = Message("{0} {1}, {2} of all", grouped(place.cost), unit, percent(place.cost, total))
            return "\n".join([where, *filter(None, (place.text,)), cost, *kind_lines(place.by_kind)])

        def starts_open(place: CostNode) -> bool:
            """Return whether a node starts open: folders, and the most expensive file or label."""
            is_first = 2 * place.cost > total if is_source else place.row == 0
            return (is_source and place.file < 0) or is_first

        columns: tuple[TreeColumn[CostNode], ...] = (
            TreeColumn("line", title, text=lambda place: "" if place.text is None else str(place.line),
                       key=lambda place: (-1 if place.text is None else place.line, place.name),
                       is_number=True, width=60, font=lambda place: mono),
            TreeColumn("share", "%", text=lambda place: share_text(place.cost, total), key=_cost_of,
                       is_number=True, width=46),
            TreeColumn("bar", "cost", parts=lambda place: kind_parts(self.ui.theme, place.by_kind), width=44),
            TreeColumn("cost", unit, text=lambda place: short_count(place.cost) if place.cost else "",
                       key=_cost_of, is_number=True, width=60),
            TreeColumn("name", "place", text=lambda place: place.name if place.text is None else place.text,
                       key=lambda place: place.name, font=lambda place: None if place.text is None else mono),
        )  # fmt: skip
        return Tree(
            root or CostNode(),
            columns,
            tip,
            lambda place: f"{place.name}, {grouped(place.cost)} {unit}, {percent(place.cost, total)}",
            lambda place: (place.file, place.line, place.tip),
            starts_open,
        )

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
            return max(place.children, key=_cost_of).line
        trace, how = self.session.trace.value, self.session.source_cost.value
        assert trace is not None
        costs = source_costs(trace.code, trace.code.latency, how, len(trace.sources))
        own = costs.lines_of(place.file)
        return int(costs.line[own][np.argmax(costs.cost[own])]) if own.stop > own.start else 1

    def _follow(self) -> None:
        """Mark the selected line or its file; without sources, the selected instruction."""
        selection, places = self.session.selection.value, self.tree.rows.tree.root.walk()
        if has_sources(self.session.trace.value) and selection.source is not None:
            wanted = [place for place in places if place.file == selection.source[0]]
            wanted = [place for place in wanted if place.line == selection.source[1]] or wanted
            self.tree.mark(wanted[0] if wanted else None)
        else:
            lines = [place for place in places if place.line == selection.line and place.file < 0]
            self.tree.mark(lines[-1] if selection.line is not None and lines else None)

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        place = self.tree.rows.node(index)
        go = self._toggle_folder if _is_folder(place) else lambda _: self._go(place)
        copy = ("Copy path", lambda: copy_text(place.tip or place.name))
        menu = self.tree.menu(("Go there", lambda: go(index)), copy)
        self.add_copy(menu)
        menu.popup(at)

    def first_focus(self) -> QWidget:
        return self.tree

    def focus_search(self) -> bool:
        self.field.setFocus()
        self.field.selectAll()
        return True

    def command_line(self) -> command_text.CommandWords | None:
        how = command_text.charge(self.ui)
        return command_text.rcv(self.session, "hotspot", "--by=tree", *how, "--top=0")

    def sheet(self) -> Sheet | None:
        root = self.tree.rows.tree.root
        whole, places = max(1, root.cost), (place for place in root.walk() if place is not root)
        rows = ((place.name, place.tip, place.cost, place.cost / whole) for place in places)
        heads = ("name", "path", unit_of(self.session.trace.value), "share")
        return Sheet("Files", heads, rows) if root.children else None


def _is_folder(place: CostNode) -> bool:
    return place.file < 0 and place.line < 0
