"""Why waves stalled and idled: causes by cycles, the late instructions, and those to blame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtWidgets import QCheckBox

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.base.text import count, known_percent
from rcv_py.results.causes import BY, TIMES
from rcv_py.results.common import IDLE, STALL
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, boxed, column, row
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.panels.causes.tree import CauseNode, CauseRows, cause_colour, cause_nodes
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.table.tree_table import TreeTable
from rcv_py.ui.widgets.empty_state import WithEmptyState

NOT_SELECTED = "No line is selected. Click an instruction, or show all lines."
SORTED = command_text.same(STALL.name, IDLE.name, TIMES.name, bar="cycles", share=STALL.name)


@panel(
    id="causes",
    title="Causes",
    area="bottom",
    order=25,
    tip="Why waves stalled and idled, and which instruction is to blame.",
)
class CausesPanel(TablePanel[Attribution]):
    """A tree of causes, late instructions and instructions to blame; a click selects the line everywhere."""

    result_name = "attribution"
    topic = "stalls"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.tree = TreeTable(
            CauseRows(ui.theme).tree(),
            lambda: ui.settings["isa.bar_scale"],
            sort="bar",
            yields=dict.fromkeys(("source", "count", "idle", "bar"), 260),
        )
        self.tree.setAccessibleName("Causes of stalled and idle cycles, with instructions to blame")
        self.legend, self.note = Legend(), PlainLabel()
        self.only = QCheckBox("Selected line only")
        self.assumption = PlainLabel()
        self._lay_out()
        self.tree.chosen.connect(self._go)
        self.tree.hovered.connect(self._point)
        ui.settings.cell("isa.bar_scale").watch(self._restyle)
        ui.theme.changed.connect(self._restyle)
        self._start()

    def _lay_out(self) -> None:
        self.note.setObjectName("muted")
        self.assumption.setObjectName("muted")
        self.assumption.setWordWrap(True)
        self.only.setToolTip("Show why the selected line was late, and what it made late.")
        self.only.setAccessibleName("Show only causes at the selected line, or by it")
        self.only.toggled.connect(self._show)
        choices = bar((self.legend, 1), self.note, self.only, margins=BAR_ABOVE)
        self.bar = boxed(column(choices, row(self.assumption, margins=BAR_BELOW)))
        self.empty = WithEmptyState(self.tree)
        column(self.bar, (self.empty, 1), of=self)

    def _open(self) -> None:
        self.tree.forget()
        super()._open()

    def _refresh(self) -> None:
        self.result = self.ui.results.cell(self.result_name).value
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, table = self.session.trace.value, self.result
        sentence = self._why_empty()
        self.bar.setVisible(table is not None and bool(len(table)))
        self.empty.say(sentence)
        if trace is None or table is None or sentence:
            return
        line = self.session.selection.value.line if self.only.isChecked() else None

        def take(root: CauseNode) -> None:
            if self.result is table:
                self._put(root, is_filtered=line is not None)

        self.run_job(lambda: cause_nodes(table, line), only_for(self.session, take))

    def _put(self, root: CauseNode, *, is_filtered: bool) -> None:
        table = self.result
        assert table is not None
        if is_filtered and not root.children:
            line = self.session.selection.value.line
            self.empty.say(f"Line {line} never stalled or idled, and made nothing else late.")
        rows = CauseRows(self.ui.theme, self.session.trace.value, table.total_stall)
        self.tree.show_tree(rows.tree(root), is_all_open=is_filtered)
        self.note.setText(self._note(table))
        self.assumption.setText(table.assumption)
        self._restyle()

    def _why_empty(self) -> str:
        sentence = self.why_no_waves(self.result)
        if sentence or self.result is None:
            return sentence
        is_unknown = self.only.isChecked() and self.session.selection.value.line is None
        return (NOT_SELECTED if is_unknown else "") if len(self.result) else BY["cause"].nothing

    def _note(self, table: Attribution) -> str:
        share = f"{known_percent(table.explained)} of {count(table.total_stall)} stalled cycles explained"
        return self.of_waves(share)

    def _restyle(self) -> None:
        causes = [node.cause for node in self.tree.rows.root.children if node.stall]
        texts = {cause: CAUSE_TEXT[Cause(cause)] for cause in causes}
        self.legend.set_items(
            [(cause_colour(self.ui.theme, one), text.name, text.sentence) for one, text in texts.items()]
        )
        self.tree.viewport().update()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self.result is not None and self.only.isChecked():
            self._show()

    def place_of(self, row: CauseNode | None) -> Hover | None:
        """The instruction of a row, if it is about one."""
        return None if row is None or row.line < 0 else Hover(line=row.line)

    # -- what the shell asks ------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The causes, with late instructions and those to blame."""
        order = command_text.sorting(self.tree.rows, SORTED)
        of = command_text.only_line(self.session, self.only.isChecked())
        return command_text.rcv(self.session, "causes", *of, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        """One row a cause, line and instruction to blame."""
        if self.result is None or not len(self.result):
            return None
        headers = (
            *("cause", "line", "instruction", "producer line", "producer", "stall", "idle", "times"),
            *("source", "producer source", "guessed"),
        )
        return Sheet("Causes", headers, self._sheet_rows(self.result))

    def _sheet_rows(self, table: Attribution) -> Iterator[tuple[Any, ...]]:
        trace, line = self.session.trace.value, self.session.selection.value.line
        assert trace is not None
        if self.only.isChecked() and line is not None:
            table = table.where((table.line == line) | (table.producer == line))
        columns = (
            table.cause,
            table.line,
            table.producer,
            table.guessed,
            table.stall,
            table.idle,
            table.count,
        )
        for cause, late, blamed, guessed, *numbers in zip(*(c.tolist() for c in columns), strict=True):
            names = [self._named(late), self._named(blamed)]
            pairs = [cell for number, text, _ in names for cell in (number, text)]
            places = (place for _, _, place in names)
            yield (CAUSE_TEXT[Cause(cause)].name, *pairs, *numbers, *places, guessed)

    def _named(self, line: int) -> tuple[int | str, str, str]:
        trace = self.session.trace.value
        if trace is None or line < 0:
            return "", "", ""
        return line, trace.code.text[line], known_place(trace, line, full=True)

    def save_state(self) -> dict[str, Any]:
        """Order and filter."""
        return {**self.tree.save_state(), "selected_only": self.only.isChecked()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.tree.load_state(state)
        self.only.setChecked(state.get("selected_only") is True)
