"""What panels share that show rows about places of the code: where rows come from, and where a click goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QCheckBox

from rcv_py.base.tree import TreeNode
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR, BAR_ABOVE, BAR_BELOW, Item, bar, boxed, column, row
from rcv_py.ui.core.panel import DECLARED, Panel, Sheet
from rcv_py.ui.core.plain_text import PlainLabel, with_tip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.rows_view import CellPainter, RowsView
from rcv_py.ui.table.tree_table import Tree, TreeTable
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

NO_WAVES = (
    "This capture has no traced waves, so nothing is known about {topic}. "
    "Record a thread trace with instruction tracing to see {them}."
)
UNREAD = "No wave could be read, so nothing is known about {topic}. Problems says why."
NOT_SELECTED = "No instruction is selected. Click one, or clear “Selected instruction only”."
NO_LINES = np.empty(0, dtype=np.int64)

Found = TypeVar("Found")
N = TypeVar("N", bound=TreeNode)


class TablePanel(Panel, Generic[Found]):
    """Rows about places of the code, or a sentence that says why there are none.

    A click on a row selects its place everywhere, and a selection marks its row.  Subclasses make `view` and
    `empty`, show `result` in `_refresh`, and call `_start` when they are complete.
    """

    result_name: ClassVar[str] = ""  # the result of all waves that it shows, "" if it computes its own rows
    topic: ClassVar[str] = ""  # what nothing is known about without waves, by default the panel's title
    view: RowsView
    empty: WithEmptyState

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.result: Found | None = None  # what the rows are about, None while there is nothing
        self.computing = Computing(self, self._say_again)

    def rows_view(
        self, name: str, elastic: Elastic | None = None, own: RowsView | None = None, **painters: CellPainter
    ) -> RowsView:
        """Return the panel's table: what a screen reader calls it, and what paints columns by id.

        `own` is the table, if the panel has one of its own kind.
        """
        view = own or RowsView(self.ui.theme, self.ui.settings)
        view.setAccessibleName(name)
        view.widths.elastic = elastic
        view.cell_painters.update(painters)
        self.ui.settings.cell("isa.bar_scale").watch(view.refresh)
        view.chosen.connect(self._go)
        view.hovered.connect(self._point)
        self.remembered.setdefault("table", view)
        return view

    def _start(self) -> None:
        """Follow the session, and show what is open."""
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        if self.result_name:
            self.session.loaded.watch(self._more_waves)
            self.ui.results.cell(self.result_name).watch(self._arrived)
        self._open()

    # -- where rows come from -----------------------------------------------------------------------

    def _open(self) -> None:
        """Another capture is open, or none."""
        self._refresh()
        trace = self.session.trace.value
        if self.result_name and trace is not None and len(trace.waves) and len(trace.code):
            self.want_result(self.result_name)

    def _refresh(self) -> None:
        """Show what is known."""
        raise NotImplementedError

    def _arrived(self) -> None:
        if not self.puts_off(self._refresh):
            self._refresh()

    def _more_waves(self) -> None:
        if self.result is None:
            self._refresh()

    def _say_again(self) -> None:
        """Say how far what is shown is, while there is nothing of it."""
        self._refresh()

    def why_no_waves(self, known: Any) -> str:
        """Return why nothing is known of waves, "" if `known.waves`, how many it is of, is not 0."""
        trace, title = self.session.trace.value, DECLARED[self.panel_id].title
        self.computing.stop()
        topic = self.topic or title.lower()
        if trace is None or not len(trace.waves) or not len(trace.code):
            them = title.lower() if self.topic else "them"
            return self.reason(NO_WAVES.format(topic=topic, them=them))
        if known is None or not known.waves:
            store = self.session.store
            is_over = store is not None and len(store.missing) >= len(trace.waves)
            if is_over:
                return UNREAD.format(topic=topic)
            return self.computing.begin(title.lower(), *filter(None, (self.result_name,)))
        return ""

    def of_waves(self, text: str) -> str:
        """Return a note, after which waves count if not all of them do."""
        return " · ".join(filter(None, (waves_note(self.session), text)))

    # -- selecting ----------------------------------------------------------------------------------

    @property
    def lines(self) -> np.ndarray:
        """The code row that each row is about, -1 for none; int64.  Empty if rows are about other things."""
        return NO_LINES

    def place_of(self, row: Any) -> Hover | None:
        """Return the line or source line that a row is about, None for none; -1 or None is no row."""
        line = int(self.lines[row]) if 0 <= row < len(self.lines) else -1
        return Hover(line=line) if line >= 0 else None

    def row_of(self, selection: Selection) -> int:
        """Return the row that is about what is selected, -1 for none.

        Of several rows the current one stays, and so it does if rows are not about code.
        """
        current, line = self.view.current, selection.line
        rows = np.flatnonzero(self.lines == line) if line is not None else NO_LINES
        if not len(self.lines) or current in rows:
            return current
        return int(rows[0]) if len(rows) else -1

    def _go(self, row: Any) -> None:
        place, selection = self.place_of(row) or Hover(), self.session.selection.value
        if place.source is not None and place.source != selection.source:
            self.session.select_source(*place.source)
        elif place.line is not None and place.line != selection.line:
            self.session.select_line(place.line)

    def _point(self, row: Any) -> None:
        self.session.hover.set(self.place_of(row))

    def _follow(self) -> None:
        if self.result is not None:
            row = self.row_of(self.session.selection.value)
            self.view.set_current(row, reveal=row != self.view.current)

    # -- painting, and what the shell wants ---------------------------------------------------------

    def paint_bar(
        self, painter: QPainter, cell: QRect, parts: Sequence[tuple[float, QColor]], largest: float
    ) -> None:
        """Paint a bar of cycles and colours into a cell."""
        box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
        draw_bar(painter, box, parts, largest, self.ui.settings["isa.bar_scale"])

    def sheet(self) -> Sheet | None:
        """The rows that are shown."""
        if self.result is None:
            return None
        return Sheet(DECLARED[self.panel_id].title, self.view.table.headers, self.view.table.table())


class TreePanel(TablePanel[Found], Generic[Found, N]):
    """The same with a tree of instructions, of which a box leaves only what is about the selected one.

    What subclasses say of `result` is below.
    """

    nothing: ClassVar[str] = ""  # why a result has no rows
    _nodes: Callable[[Found, int | None], N]  # the root of all, or of those about an instruction; in a thread
    _tree: Callable[[N | None], Tree[N]]  # the tree below a root, None before there is one
    _legend: Callable[[], list[tuple[QColor, str, str]]]  # what the bars are made of
    _note: Callable[[Found], str]  # a sum
    _has_rows: Callable[[Found], bool]  # whether there is anything to show
    _nothing_about: Callable[[int], str]  # why nothing is shown of the selected instruction

    def __init__(
        self, ui: UiContext, *, name: str, only: str, sort: str, yields: Mapping[str, int], below: Item = None
    ) -> None:
        """`name` is what a screen reader calls the tree, `only` what the box does.

        `sort` and `yields` are those of a `TreeTable`; `below` stands under the legend.
        """
        super().__init__(ui)
        self.tree = TreeTable(self._tree(None), ui, sort=sort, yields=yields)
        self.legend, self.note = Legend(), PlainLabel(role="muted")
        self.only = with_tip(QCheckBox("Selected instruction only"), only)
        self.remembered = {"tree": self.tree, "selected_only": self.only}
        self.tree.setAccessibleName(name)
        self.empty = WithEmptyState(self.tree)
        choices = bar((self.legend, 1), self.note, self.only, margins=BAR_ABOVE if below else BAR)
        self.bar = boxed(column(choices, *([row(below, margins=BAR_BELOW)] if below else [])))
        column(self.bar, (self.empty, 1), of=self)
        self.only.toggled.connect(self._show)
        self.tree.chosen.connect(self._go)
        self.tree.hovered.connect(self._point)
        ui.theme.changed.connect(self._show_legend)

    # -- showing ------------------------------------------------------------------------------------

    def _open(self) -> None:
        self.tree.forget()
        super()._open()

    def _refresh(self) -> None:
        self.result = self.ui.results.cell(self.result_name).value
        self._show()

    def _show(self) -> None:
        result, line, sentence = self.result, self.only_line, self._why_empty()
        self.bar.setVisible(result is not None and self._has_rows(result))
        self.empty.say(sentence)
        if result is None or sentence:
            return

        def take(root: N) -> None:
            if self.result is result:
                self.empty.say("" if line is None or root.children else self._nothing_about(line))
                self.tree.show_tree(self._tree(root), is_all_open=line is not None)
                self.note.setText(self._note(result))
                self._show_legend()
                self._mark()

        self.run_job(lambda: self._nodes(result, line), take, "nodes")

    def _why_empty(self) -> str:
        sentence = self.why_no_waves(self.result)
        if sentence or self.result is None:
            return sentence
        if not self._has_rows(self.result):
            return self.reason(self.nothing)
        return NOT_SELECTED if self.only.isChecked() and self.only_line is None else ""

    def _show_legend(self) -> None:
        self.legend.set_items(self._legend())

    def _mark(self) -> None:
        """Point at the selected instruction."""

    def _follow(self) -> None:
        if self.result is not None and self.only.isChecked():
            self._show()

    def place_of(self, row: Any) -> Hover | None:
        """The instruction of a node, if it is about one."""
        return None if row is None or row.line < 0 else Hover(line=row.line)

    @property
    def only_line(self) -> int | None:
        """The selected instruction, if nothing else is shown."""
        return self.session.selection.value.line if self.only.isChecked() else None

    def tree_words(self, command: str, *words: str) -> command_text.Words | None:
        """The words of a command that prints the tree."""
        line = () if self.only_line is None else (f"--line={self.only_line}",)
        order = command_text.sorting(self.tree.rows)
        return command_text.rcv(self.session, command, *line, *words, *order, "--top=0")
