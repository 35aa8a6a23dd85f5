"""The tree of waiting, grouped by cause, by wait, or by cycles in which a SIMD did not issue."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QModelIndex, QPoint
from PySide6.QtWidgets import QWidget

from rcv_py.base.text import Message, translated
from rcv_py.features.why.grouping import WIDTHS, YIELDS, ByCause, ByNoIssue, ByWait, Grouping, WhyNode
from rcv_py.state.selection import Hover
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, boxed, column, row
from rcv_py.ui.core.panel import PART, PanelInfo, Sheet, UiContext, discover
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, ElidedLabel, PlainLabel, copy_text, tooltip
from rcv_py.ui.table import command_text
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.table.tree_table import Tree, TreeColumn, TreeTable
from rcv_py.ui.widgets.choice import Switch
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

GROUPINGS: MappingProxyType[str, type[Grouping[Any]]] = MappingProxyType(
    {kind.id: kind for kind in (ByCause, ByWait, ByNoIssue)}
)


class WhyPanel(TablePanel[Any]):
    """Why waves stalled and idled: by cause, by wait, by cycles without issue.

    A request for a grouping by its name returns the panel, which then uses that grouping.
    """

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._groupings = {name: kind(ui) for name, kind in GROUPINGS.items()}
        texts = {name: kind.text for name, kind in GROUPINGS.items()}
        self.choice = Switch("How stalled and idle cycles are grouped", texts)
        for name, button in self.choice.buttons.items():
            button.setToolTip(tooltip(GROUPINGS[name].tip))
            button.setAccessibleDescription(translated(GROUPINGS[name].tip))
        self.grouping = self._groupings[self.choice.value]
        self.tree: TreeTable[WhyNode] = TreeTable(self._tree(WhyNode()), ui, sort="bar", yields=YIELDS)
        self.legend, self.assumption = Legend(), PlainLabel(role="muted", wordWrap=True)
        self.note = ElidedLabel(role="muted")
        self.note.setAlignment(MIDDLE_RIGHT)
        self.remembered = {PART: self.choice, "tree": self.tree}
        self.empty = WithEmptyState(self.tree)
        above = bar((self.legend, 1), margins=BAR_ABOVE)
        self.bar = boxed(column(above, row(self.assumption, margins=BAR_BELOW)))
        column(bar(self.choice, (self.note, 1), margins=BAR_ABOVE), self.bar, (self.empty, 1), of=self)
        self._name_all()
        self.choice.currentIndexChanged.connect(self._group)
        self.tree.chosen.connect(self._go)
        self.tree.hovered.connect(self._point)
        self.tree.menu_asked.connect(self._open_menu)
        ui.theme.changed.connect(self._show_legend)
        self._start()

    @property
    def declared(self) -> PanelInfo:
        return discover()[self.grouping.id]

    @property
    def chosen_part(self) -> str:
        return self.grouping.id

    def part(self, name: str) -> WhyPanel:
        """Group by a name and return the panel; KeyError if there is no such grouping."""
        self.choice.choose(self._groupings[name].id)
        return self

    def made_part(self, name: str) -> WhyPanel:
        return self

    def show_part(self, name: str) -> None:
        self.choice.choose(name)

    def _group(self) -> None:
        self.ui.results.let_go(self.grouping.result_name, self.visibility)
        self.grouping = self._groupings[self.choice.value]
        self._name_all()
        self.result = None
        self.tree.show_tree(self._tree(WhyNode()))
        super()._open()

    def _name_all(self) -> None:
        self.result_name, self.topic = self.grouping.result_name, self.grouping.topic
        self.tree.setAccessibleName(translated(self.grouping.accessible))

    def _open(self) -> None:
        self.result = None
        self.tree.forget()
        super()._open()

    def result_names(self) -> tuple[str, ...]:
        return tuple(grouping.result_name for grouping in self._groupings.values())

    def _refresh(self) -> None:
        self.result = self.ui.results.cell(self.grouping.result_name).value
        self._show()

    def _tree(self, root: WhyNode) -> Tree[WhyNode]:
        grouping = self.grouping
        own = {one.id: one for one in grouping.columns()}
        blank: dict[str, TreeColumn[WhyNode]] = {
            name: TreeColumn(name, "", width=px, is_there=False) for name, px in WIDTHS.items()
        }
        return Tree(
            root,
            tuple((blank | own).values()),
            grouping.tip_of,
            grouping.spoken,
            lambda node: (grouping.id, node.depth, node.cause, node.line),
            grouping.starts_open,
        )

    def _show(self) -> None:
        grouping, result, sentence = self.grouping, self.result, self._why_empty()
        has_rows = result is not None and grouping.has_rows(result)
        self.bar.setVisible(has_rows)
        if not has_rows:
            self.note.setText("")
        is_blank = result is not None and not self.tree.rows.tree.root.children
        waiting = Message("Computing {0} …", self.declared.title.lower()) if is_blank else ""
        self.empty.say(sentence or waiting)
        if result is None or sentence:
            return

        def take(root: WhyNode) -> None:
            if self.result is result:
                self.empty.say("")
                self.tree.show_tree(self._tree(root))
                assumption, text = grouping.assumption(result), grouping.note(result)
                self.note.setText(text)
                self.note.setToolTip(tooltip(grouping.note_tip(result) or text))
                self.assumption.setText(assumption)
                self.assumption.setVisible(bool(assumption))
                self._show_legend()
                self._mark()

        self.run_job(lambda: grouping.nodes(result), take, "nodes")

    def _why_empty(self) -> str:
        sentence = self.why_no_waves(self.result)
        if sentence or self.result is None or self.grouping.has_rows(self.result):
            return sentence
        return self.reason(self.grouping.nothing)

    def _show_legend(self) -> None:
        self.legend.set_items(self.grouping.legend(self.tree.rows.tree.root))

    def first_focus(self) -> QWidget:
        """Return the tree, also while it is computed: the switch above it is there at once."""
        return self.tree

    def _follow(self) -> None:
        if self.result is not None:
            self._mark()

    def _mark(self) -> None:
        """Make a row of the selected instruction current; keep a current row that is already about it."""
        here, line = self.tree.currentIndex(), self.session.selection.value.line
        if not here.isValid() or self.tree.rows.node(here).line != line:
            self.tree.mark(self._row_of(line))

    def _row_of(self, line: int | None) -> WhyNode | None:
        def shown(node: WhyNode) -> Any:
            for child in node.children:
                yield child
                if self.tree.isExpanded(self.tree.rows.index_of(child)):
                    yield from shown(child)

        return next((node for node in shown(self.tree.rows.tree.root) if node.line == line), None)

    def place_of(self, row: Any) -> Hover | None:
        return None if row is None or row.line < 0 else Hover(line=row.line)

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        node = self.tree.rows.node(index)
        tip = self.grouping.tip_of(node)
        actions = [("Copy", lambda: copy_text(tip))]
        if self.grouping.id == ByWait.id:
            wait = node if node.depth == 1 or node.parent is None else node.parent
            actions.insert(0, ("Show only the arrows of this wait", lambda: self._isolate(wait)))
        if node.line >= 0:
            actions.insert(0, ("Go there", lambda: self._go(node)))
        menu = self.tree.menu(*actions)
        self.add_copy(menu)
        menu.popup(at)

    def _isolate(self, wait: WhyNode) -> None:
        self._go(wait)
        self.session.isolated_wait.set(wait.line)

    def caption(self) -> str:
        note = "" if self.result is None else self.note.text()
        return ", ".join(filter(None, (self.grouping.text.lower(), note)))

    def command_line(self) -> command_text.CommandWords | None:
        is_empty = bool(self._why_empty())  # the present rows belong to another grouping or capture
        order = () if is_empty else command_text.sorting(self.tree.rows)
        return command_text.rcv(self.session, self.grouping.id, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        trace, result, root = self.session.trace.value, self.result, self.tree.rows.tree.root
        if trace is None or result is None or not root.children:
            return None
        return self.grouping.sheet(trace, result, root)
