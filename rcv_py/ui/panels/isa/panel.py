"""The instructions: what each costs, what it waits for, where it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients
from rcv_py.base.text import plural
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.state.commands import Command
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import OF_ALL_WAVES, cost_job, only_for
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.places import rows_at_leaf, rows_of_place
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.panels.isa.arrows import GutterArrows
from rcv_py.ui.panels.isa.bar import IsaBar
from rcv_py.ui.panels.isa.branch_arrows import gutter_arrows
from rcv_py.ui.panels.isa.columns import IsaRows, isa_rows
from rcv_py.ui.panels.isa.commands import isa_commands
from rcv_py.ui.panels.isa.facts import IsaFacts
from rcv_py.ui.panels.isa.menus import extend_header_menu, popup, row_menu
from rcv_py.ui.panels.isa.search import IsaSearch
from rcv_py.ui.panels.isa.view import IsaView
from rcv_py.ui.panels.isa.words import isa_words
from rcv_py.ui.table.command_text import Words
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.heat_strip import HeatStrip
from rcv_py.ui.widgets.empty_state import page

NO_CODE = "This capture has no instructions: code.json is missing or empty. Record the trace again."
STREAM_MS = 300  # while waves arrive, costs are computed at most this often


@panel(id="isa", title="ISA", area="center", order=10, needs=("code",))
class IsaPanel(Panel):
    """Instructions with their costs and waits."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._rows: IsaRows | None = None
        self._cost_key: tuple[Any, ...] = ()
        self._arrow_key: tuple[Any, ...] = ()
        self._followed: int | None = None  # the code line that was brought into view last
        self.view = IsaView(ui.theme, ui.settings)
        self.strip = HeatStrip(self.view, self.view.places)
        self.find_bar = FindBar(ui.theme, "Find instructions")
        self.bar = IsaBar(self.find_bar, ui.settings)
        self.mode, self.gutter = self.bar.mode, self.bar.gutter
        self.search = IsaSearch(ui, self.find_bar, self.view, self.strip)
        self.note = PlainLabel(visible=False)
        self._costs_wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self.facts = IsaFacts(ui, self, self._costs_wanted.ask)
        self._lay_out()
        self._connect()
        self._watch()
        self._open()

    # -- set up -------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.note.setObjectName("muted")
        self.note.setWordWrap(True)
        self.note.setContentsMargins(8, 0, 8, 4)
        rows = row((self.view, 1), self.strip)
        self.empty = page(self, self.bar, self.note, (rows, 1))

    def _connect(self) -> None:
        session, view, bar = self.session, self.view, self.bar
        view.chosen.connect(self._choose)
        view.opened.connect(lambda row: session.fit_selection())
        view.hovered.connect(lambda row: session.hover.set(Hover(line=row) if row >= 0 else None))
        view.jumped.connect(session.select_line)
        view.isolated.connect(self._isolate)
        view.released.connect(lambda: session.isolated_wait.set(None))
        view.refolded.connect(self._show_strip)
        view.hits_of = self._hits_of
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.header.extend_menu = extend_header_menu(self.ui.settings)
        self.strip.clicked.connect(session.select_line)
        bar.mode.activated.connect(lambda: session.latency_mode.set(self.mode.currentData()))
        bar.gutter.activated.connect(self._refresh_arrows)
        bar.annotated.connect(self.set_annotation)
        bar.rescaled.connect(self._show)
        folding = [one for one in self.commands() if one.id.startswith("isa.fold") or "unfold" in one.id]
        actions = tuple((one.title, one.shortcuts[0], one.run) for one in folding if one.id != "isa.fold_by")
        bar.set_fold_actions(actions, view.set_fold_by, lambda: view.fold_by)

    def _watch(self) -> None:
        session, settings = self.session, self.ui.settings
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.hover.watch(self._show_hover)
        session.loaded.watch(self._more_waves)
        session.latency_mode.watch(self._mode_changed)
        session.clock_range.watch(self._costs_wanted.ask)
        session.isolated_wait.watch(self._show_isolated)
        settings.cell("isa.show_idle").watch(self._costs_wanted.ask)
        settings.cell("isa.color_text").watch(self.view.refresh)
        self.ui.theme.changed.connect(self._show_legend)

    # -- showing ------------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self._rows = None
        self._stream.reset()
        self._cost_key = self._arrow_key = ()
        self._followed = None
        missing = trace is None or not len(trace.code)
        self.empty.say(self.reason(NO_CODE) if missing else "")
        self.facts.open()
        if trace is None or missing:
            return
        self.mode.setVisible(trace.has_thread_trace)
        self._suit_annotation(trace)
        self._compute()
        self.search.search()

    def _suit_annotation(self, trace: Trace) -> None:
        """Show what captures of the kind have: stall reasons or latency, if the other was shown."""
        other = {True: (Annotation.REASONS, Annotation.TOTAL), False: (Annotation.TOTAL, Annotation.REASONS)}
        unfit, fit = other[trace.has_thread_trace]
        if self.facts.mode is unfit:
            self.set_annotation(fit)

    def _compute(self) -> None:
        trace, job = self.session.trace.value, cost_job(self.session)
        if trace is None or job is None or self.empty.is_empty:
            return
        self._cost_key = self._key()
        self._stream.started()
        idle, mode = self.ui.settings["isa.show_idle"], self.facts.mode
        structure, known = self.facts.structure(trace), self.facts.ingredients()

        def rows() -> IsaRows:
            costs: CostColumns = job()
            return isa_rows(trace, Ingredients(trace.code, costs, idle, **known), structure(), mode)

        self.run_job(rows, only_for(self.session, self._take_rows), "costs")

    def _key(self) -> tuple[Any, ...]:
        """What the costs depend on besides the trace, the clock range and how many waves are loaded."""
        mode = self.session.latency_mode.value
        if mode in OF_ALL_WAVES:
            return (mode,)
        hit = self.session.selection.value.hit if mode is LatencyMode.ITERATION else None
        return (mode, self.session.wave(), hit)

    def _take_rows(self, rows: IsaRows) -> None:
        self._stream.finished()
        is_first = self._rows is None
        self._rows = rows
        self.facts.keep(rows.program)
        self._show()
        self._show_strip()
        self._show_note()
        self._show_legend()
        self.bar.set_objections(self.facts.objections(rows.trace, rows.costs))
        self._refresh_arrows()
        if is_first:
            self.search.show()
        self._follow()

    def _show(self) -> None:
        if self._rows is not None:
            self.view.show_rows(self._rows)

    def _show_strip(self) -> None:
        if self._rows is not None:
            cost = np.where(self._rows.trace.code.is_label, 0, self._rows.cost)
            self.strip.set_cost(self.view.shown_cost(cost))

    def _show_legend(self) -> None:
        self.bar.legend.set_items(self.view.bars.legend())

    def _show_note(self) -> None:
        needs_wave = self.session.latency_mode.value not in OF_ALL_WAVES
        note = ""
        if needs_wave and self.session.wave() is None:
            wave = self.session.selection.value.wave
            note = f"Wave {wave} is not read yet; its numbers follow." if wave else "No wave is selected."
        elif self._rows is not None and self._rows.bars.mode is not self.facts.mode:
            why = self.facts.why_not(self.facts.mode, self._rows.trace, self._rows.costs)
            note = f"{why} The bars show the total latency."
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def set_annotation(self, mode: Annotation) -> None:
        """Choose what the bars show."""
        self.facts.set_mode(mode)
        self.bar.show_annotation(mode)
        self._costs_wanted.ask()

    # -- following the session ----------------------------------------------------------------------

    def _mode_changed(self) -> None:
        self.mode.setCurrentIndex(self.mode.findData(self.session.latency_mode.value))
        self._costs_wanted.ask()

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._stream.ask()
        if self._key() != self._cost_key:
            self._costs_wanted.ask()
        self._refresh_arrows()

    def _follow(self) -> None:
        trace, selection = self.session.trace.value, self.session.selection.value
        if self._key() != self._cost_key:
            self._costs_wanted.ask()
        self._refresh_arrows()
        if trace is None or self._rows is None:
            return
        line = selection.line if selection.line is not None and selection.line < len(trace.code) else -1
        self.view.same_source = rows_at_leaf(trace.code, selection.source)
        self.view.marked = selection.lines
        if line >= 0 and line != self._followed:
            self.view.unfold_row(line)
        self._followed = line
        line = self.view.stands_for(line)
        if selection.lines is not None and line != self.view.current:
            self._reveal_range(selection)
        self.view.set_current(line, reveal=line != self.view.current)
        self.strip.update()
        self.search.say()

    def _reveal_range(self, selection: Selection) -> None:
        assert selection.lines is not None
        rows = self.view.places()[slice(*selection.lines)]
        rows = rows[rows >= 0]
        if len(rows):
            self.view.reveal(int(rows.max()))
            self.view.reveal(int(rows.min()))

    def _show_hover(self) -> None:
        trace, hover = self.session.trace.value, self.session.hover.value
        if trace is None or self._rows is None:
            return
        line = -1 if hover is None or hover.line is None else hover.line
        source = None if hover is None else hover.source
        tint = np.zeros(len(trace.code), dtype=bool)
        if source is not None:
            tint[rows_of_place(trace.code, *source)] = True
        if line != self.view.hover or not np.array_equal(tint, self.view.hovered_source):
            self.view.hover, self.view.hovered_source = line, tint
            self.view.viewport().update()

    def _hits_of(self, row: int) -> str:
        """How often the selected wave ran a row; which of these times is selected."""
        wave, selection = self.session.wave(), self.session.selection.value
        if wave is None:
            return ""
        total = int(np.count_nonzero(wave.tokens.line == row))
        if selection.line == row and selection.hit is not None and selection.hit < total:
            return f"hit {selection.hit + 1:,} of {total:,} in {wave.id}"
        return f"{plural(total, 'hit')} in {wave.id}"

    # -- arrows -------------------------------------------------------------------------------------

    def _refresh_arrows(self) -> None:
        trace, wave, mode = self.session.trace.value, self.session.wave(), self.gutter.currentData()
        structure = None if self._rows is None else self._rows.program
        if trace is None or structure is None or (trace, wave, mode, structure) == self._arrow_key:
            return
        self._arrow_key = (trace, wave, mode, structure)
        self.view.shows_branches = mode in ("branches", "both")
        self.view.refresh()
        self.run_job(
            lambda: gutter_arrows(mode, wave, structure, trace.gfxip),
            only_for(self.session, self._take_arrows),
            "arrows",
        )

    def _take_arrows(self, arrows: GutterArrows) -> None:
        self.view.set_arrows(arrows.rows, arrows.tips, arrows.note)

    def _isolate(self, row: int) -> None:
        is_on = self.session.isolated_wait.value == row
        self.session.isolated_wait.set(None if is_on else row)

    def _show_isolated(self) -> None:
        self.view.isolated_row = self.session.isolated_wait.value
        self.view.viewport().update()

    # -- selecting ----------------------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        self._followed = row  # a fold that was clicked stays a fold
        if row != self.session.selection.value.line or self.session.selection.value.lines is not None:
            self.session.select_line(row)

    def step_hottest(self, direction: int) -> None:
        """Select the row that costs next less (+1) or next more (-1) than the selected one."""
        trace = self.session.trace.value
        if trace is None or self._rows is None:
            return
        cost = np.where(trace.code.is_label, 0, self._rows.cost)
        ranked = np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))]
        if not len(ranked):
            return
        at = np.flatnonzero(ranked == self.session.selection.value.line)
        place = (int(at[0]) + direction) % len(ranked) if len(at) else 0
        self.session.select_line(int(ranked[place]))

    def focus_search(self) -> bool:
        """Put the cursor into the search field."""
        self.find_bar.focus()
        return True

    def _open_menu(self, position: QPoint) -> None:
        row = self.view.table.data_row(self.view.view_row_at(position.y()))
        if row >= 0:
            menu = row_menu(self.view, self.session, row, self.search.filter_to)
            self.add_copy(menu)
            popup(menu, self.view.viewport(), position)

    # -- what the shell asks ------------------------------------------------------------------------

    @property
    def has_costs(self) -> bool:
        """Whether any instruction has a cost."""
        return self._rows is not None and bool(self._rows.total)

    @property
    def has_rows(self) -> bool:
        """Whether there are instructions."""
        return self._rows is not None

    def commands(self) -> tuple[Command, ...]:
        """Walks through the hottest rows; bars, arrows and folds."""
        return isa_commands(self)

    def command_line(self) -> Words | None:
        """The table as it is shown."""
        return isa_words(self.ui, self.view, self._rows, self.view.table.is_filtered)

    def sheet(self) -> Sheet | None:
        """The table as it is shown: filtered and sorted; folded rows are written out."""
        if self._rows is None:
            return None
        table = self.view.table
        rows = list(range(len(self._rows.text))) if self.view.is_folding else None
        return Sheet("ISA", table.headers, table.table(rows))

    def caption(self) -> str:
        """Which numbers are shown."""
        return "" if self._rows is None else self._rows.costs.label

    def save_state(self) -> dict[str, Any]:
        """Columns, order, the kind of arrows, of bars and of folds."""
        return {
            "table": self.view.save_state(),
            "gutter": self.gutter.currentData(),
            "bars": self.facts.mode.name,
            "fold_by": self.view.fold_by,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
        if state.get("bars") in Annotation.__members__:
            self.set_annotation(Annotation[state["bars"]])
        if state.get("fold_by") in ("block", "label"):
            self.view.set_fold_by(state["fold_by"])
        at = self.gutter.findData(state.get("gutter"))
        if at >= 0:
            self.gutter.setCurrentIndex(at)
            self._refresh_arrows()
