"""The instructions: what each costs, what it waits for, where it comes from."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.base.text import Message, plural, translated, uncapitalized
from rcv_py.features.isa.arrows import LEGEND, GutterArrows, gutter_arrows
from rcv_py.features.isa.arrows import MODES as ARROWS
from rcv_py.features.isa.program import FOLD_BY, IsaFacts
from rcv_py.features.isa.register_cursor import OperandPosition
from rcv_py.features.isa.result import MODES
from rcv_py.features.isa.rows import IsaRows, csv_sheet, isa_rows, rows_at_leaf, rows_of_place
from rcv_py.features.isa.view import IsaView
from rcv_py.features.isa.walk import NO_ROWS, WALKS, IsaWalk
from rcv_py.model.modes import LatencyMode
from rcv_py.state.commands import Command, commands
from rcv_py.state.selection import Hover, SearchQuery, Selection
from rcv_py.ui.core.costs import OF_ALL_WAVES, cost_job
from rcv_py.ui.core.layout import BAR, row
from rcv_py.ui.core.panel import LazyPanel, Sheet, UiContext
from rcv_py.ui.core.plain_text import add_action, allow, copy_text
from rcv_py.ui.table import command_text
from rcv_py.ui.table.code_panel import CodePanel, HeatStrip, next_hottest
from rcv_py.ui.table.find_bar import FindBar, matches_of, next_place
from rcv_py.ui.widgets.empty_state import page

NO_COST = "No instruction has a cost."
WAIT_MS = 20  # between two looks whether the first rows can be made
COLUMNS = (  # that the menu shows and hides: id, title, key, tip
    ("address", "Column of addresses", "Ctrl+Alt+Shift+V", "Show the address of each instruction."),
    ("source", "Column of source places", "Ctrl+Alt+Shift+X", "Show the source line of each instruction."),
)
SWITCHES = (  # settings that are on or off
    ("isa.whole_text", "Scroll sideways for long lines", "Ctrl+Alt+H",
     "Show instructions and source lines whole, and scroll to what has no room."),
    ("isa.registers", "Registers that are held", "Ctrl+Alt+V",
     "Show how many vector registers are live at each instruction."),
    ("look.dense_rows", "Rows of 14 pixels", "Ctrl+Alt+Shift+H",
     "Show more rows of code and tables, with smaller letters."),
)  # fmt: skip
FOLDS = ("isa.fold_all", "isa.unfold_all", "isa.fold_cold")  # commands
MODE_TIPS = {
    LatencyMode.SUM_ALL: "Cycles of all executions in all waves.",
    LatencyMode.MEAN_ALL: "Mean cycles of an execution in all waves.",
    LatencyMode.ITERATION: "Cycles of the selected execution of the selected wave.",
    LatencyMode.SUM_WAVE: "Cycles of all executions in the selected wave.",
    LatencyMode.MEAN_WAVE: "Mean cycles of an execution in the selected wave.",
    LatencyMode.MAX_WAVE: "Cycles of the longest execution in the selected wave.",
}
ARROW_TIPS = {
    "waits": "From instructions that the selected wave waited for to the waits.",
    "branches": "From branches to where they jumped, in all waves.",
    "both": "Waits of the selected wave, and branches.",
    "none": "Leave the gutter empty.",
}


class IsaPanel(CodePanel):
    """Instructions with their costs and waits."""

    view: IsaView

    def __init__(self, ui: UiContext) -> None:
        view = IsaView(ui.theme, ui.settings)
        super().__init__(ui, view, HeatStrip(view, view.places), BAR)
        self._rows: IsaRows | None = None
        self._cost_key: tuple[Any, ...] = ()
        self._arrow_key: tuple[Any, ...] = ()
        self.matches = np.empty(0, dtype=np.int64)  # instructions that a search matched, ascending
        self._problem = ""  # error of the search
        self._followed: int | None = None  # the last instruction brought into view
        self.facts = IsaFacts(ui, self, self._updates.ask)
        self.walk = IsaWalk(ui.session, view, self.go)
        self.empty = page(self, self.search, self.note, (row((view, 1), self.strip), 1))
        self._connect()
        ui.session.latency_mode.watch(self._updates.ask)
        ui.session.isolated_wait.watch(self._show_isolated)
        ui.session.notes.shown.watch(self._show_notes)
        ui.settings.cell("isa.registers").watch(self._updates.ask)
        for name in ("isa.whole_text", "timeline.units"):
            ui.settings.cell(name).watch(self._show)
        ui.theme.changed.connect(self._show)  # colours, and a font of another width
        self._updates.ask()
        self._show_notes()
        self.follow_session()

    def _connect(self) -> None:
        session, view = self.session, self.view
        view.chosen.connect(self._choose)
        view.hovered.connect(lambda row: session.hover.set(Hover(line=row) if row >= 0 else None))
        view.jumped.connect(self.go)
        view.isolated.connect(self._isolate)
        view.released.connect(lambda: session.isolated_wait.set(None))
        view.refolded.connect(self._show_strip)
        view.pointed.connect(session.invalidate_command_states)
        view.hits_of = self._hits_of
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        self.strip.clicked.connect(self.go)
        session.query.watch(self._search)
        session.loaded.watch(self._more_waves)
        view.header.menus = {
            "gutter": self.fill_arrows,
            "fold": self.fill_folds,
            "text": self.fill_text,
            "latency": self.fill_latency,
            "cost": self.fill_bars,
        }
        view.header.extend_menu = self.fill_all

    def _make_find_bar(self) -> FindBar:
        bar = FindBar(self.ui.theme, "Find instructions")
        bar.show_query(self.session.query.value)
        bar.edited.connect(self.session.query.set)
        bar.filtered.connect(self._filter)
        bar.stepped.connect(self.step_match)
        bar.left.connect(self._leave_search)
        return bar

    def fill_latency(self, menu: QMenu) -> None:
        """Add the numbers that the columns can show."""
        cell = self.session.latency_mode
        for mode in LatencyMode:
            is_on = cell.value is mode
            add_action(menu, mode.value, partial(cell.set, mode), tip=MODE_TIPS[mode], is_on=is_on)

    def fill_arrows(self, menu: QMenu) -> None:
        """Add the arrows that the gutter can show."""
        for mode, title in ARROWS.items():
            tip = f"{ARROW_TIPS[mode]}\n{LEGEND}"
            is_on = self.view.arrow_mode == mode
            add_action(menu, title, partial(self.set_arrows, mode), tip=tip, is_on=is_on)

    def fill_bars(self, menu: QMenu) -> None:
        """Add the contents of bars."""
        rows = self._rows
        why = {} if rows is None else self.facts.objections(rows.trace, rows.costs)
        for mode in Annotation:
            call, is_on = partial(self.set_annotation, mode), self.facts.mode is mode
            allow(add_action(menu, mode.value, call, is_on=is_on), why.get(mode, ""))
        menu.addSeparator()
        self._add_switch(menu, "isa.show_idle", "Count idle time")

    def fill_folds(self, menu: QMenu) -> None:
        """Add actions that fold several blocks at once, and what is folded."""
        for one in self.commands(self.ui, LazyPanel.of(self)):
            if one.id in FOLDS:
                menu.addAction(translated(f"{one.title}\t{''.join(one.shortcuts[:1])}"), one.run)
        menu.addSeparator()
        for name, title in FOLD_BY.items():
            text, call = Message("By {0}", uncapitalized(title)), partial(self.view.set_fold_by, name)
            add_action(menu, text, call, is_on=self.view.fold_by == name)

    def fill_text(self, menu: QMenu) -> None:
        """Add search, and how instructions are drawn."""
        menu.addAction(translated("Find instructions …\tCtrl+F"), self.focus_search)
        for name, title, _, _ in SWITCHES:
            self._add_switch(menu, name, title)

    def _add_switch(self, menu: QMenu, name: str, title: str) -> None:
        settings, is_on = self.ui.settings, bool(self.ui.settings[name])
        add_action(menu, title, partial(settings.__setitem__, name, not is_on), is_on=is_on)

    def fill_all(self, menu: QMenu) -> None:
        """Add all of them, for the keyboard and for narrow headers."""
        menu.addSeparator()
        fills = (self.fill_latency, self.fill_arrows, self.fill_bars, self.fill_folds, self.fill_text)
        titles = ("Latency mode", "Arrows", "Bars", "Fold", "Instructions")
        for title, fill in zip(titles, fills, strict=True):
            part = menu.addMenu(translated(title))
            part.setToolTipsVisible(True)
            fill(part)

    def _open(self) -> None:
        trace = self.session.trace.value
        self._rows = None
        self._cost_key = self._arrow_key = ()
        self._followed = None
        missing = self.why_missing("code")
        self.empty.say(missing)
        self.facts.open()
        if trace is None or missing:
            return
        modes = (Annotation.REASONS, Annotation.TOTAL)  # columns that only one kind of capture has
        unfit, fit = modes[::-1] if trace.has_pc_samples and not trace.has_thread_trace else modes
        if self.facts.mode is unfit:
            self.set_annotation(fit)
        self._updates.ask()  # in a moment all waves may be there
        self._search()

    def _compute(self) -> None:
        trace, job = self.session.trace.value, cost_job(self.session)
        if trace is None or job is None or self.empty.is_empty:
            return
        if self._rows is None and self.facts.is_due:
            self._updates.ask(WAIT_MS)  # or sooner: the answer asks, too
            return
        self._cost_key = self._key()
        idle, mode = self.ui.settings["isa.show_idle"], self.facts.mode
        structure, ingredients = self.facts.structure(trace), self.facts.ingredients()
        shows_registers = self.ui.settings["isa.registers"] or trace.is_static

        def rows() -> IsaRows:
            live = None
            if shows_registers and not trace.code.is_unreadable.any():
                from rcv_py.analysis.program import live_registers  # noqa: PLC0415 - rarely used

                live = live_registers.live_registers(trace.code)
            return isa_rows(trace, ingredients(trace.code, job(), idle), structure(), mode, live)

        self._updates.run(rows, self._take_rows)

    def _key(self) -> tuple[Any, ...]:
        """Return the inputs of the costs besides trace, clock range and number of loaded waves."""
        mode = self.session.latency_mode.value
        if mode in OF_ALL_WAVES:
            return (mode,)
        hit = self.session.selection.value.hit if mode is LatencyMode.ITERATION else None
        return (mode, self.session.wave(), hit)

    def _take_rows(self, rows: IsaRows) -> None:
        is_first = self._rows is None
        self._rows = rows
        self.facts.program = rows.program
        self._show()
        self._show_strip()
        self._show_note()
        self._refresh_arrows()
        if is_first:
            self._show_match()
            self._begin()
        self._follow()

    def _begin(self) -> None:
        """Bring the selected row into view, else the hottest, and select that once there is a picture."""
        rows, line = self._rows, self.session.selection.value.line
        if rows is None:
            return
        if line is not None:  # of the last visit
            self.view.show_at_third(line)
            return
        if not rows.total:
            self.view.verticalScrollBar().setValue(0)
            return
        hottest = int(np.argmax(rows.code_cost))
        self.view.show_at_third(hottest)

        def select() -> None:
            if self._rows is not None and self._rows.trace is rows.trace:
                self.session.begin_at(hottest)

        self.ui.scheduler.importer.first_picture.after(select)

    def _show(self) -> None:
        if self._rows is not None:
            self.view.mode = self.session.latency_mode.value
            self.view.show_rows(self._rows)

    def _show_strip(self) -> None:
        if self._rows is not None:
            self.strip.set_cost(self.view.shown_cost(self._rows.code_cost))

    def _show_note(self) -> None:
        needs_wave = self.session.latency_mode.value not in OF_ALL_WAVES
        note = ""
        if needs_wave and self.session.wave() is None:
            wave = self.session.selection.value.wave
            waiting = Message("Wave {0} is not read yet; its numbers follow.", wave)
            note = waiting if wave else "No wave is selected."
        elif self._rows is not None and self._rows.bars.mode is not self.facts.mode:
            why = self.facts.why_not(self.facts.mode, self._rows.trace, self._rows.costs)
            note = Message("{0} The bars show the total latency.", why)
        self.show_note(note)

    def set_annotation(self, mode: Annotation) -> None:
        """Choose the content of the bars."""
        self.facts.set_mode(mode)
        self._updates.ask()

    def _more_waves(self) -> None:
        """Update what depends on the selected wave and hit."""
        if self._key() != self._cost_key:
            self._updates.ask()
        self._refresh_arrows()

    def _follow(self) -> None:
        trace, selection = self.session.trace.value, self.session.selection.value
        self._more_waves()
        if trace is None or self._rows is None:
            return
        line = -1 if self.session.line is None else self.session.line
        self.view.same_source = rows_at_leaf(trace.code, selection.source)
        self.view.marked = selection.lines
        if line >= 0 and line != self._followed:
            self.view.unfold_row(line)
        self._followed = line
        line = self.view.stands_for(line)
        if selection.lines is not None and line != self.view.current:
            rows = self.view.places()[slice(*selection.lines)]
            if len(rows := rows[rows >= 0]):
                self.view.reveal(int(rows.max()))
                self.view.reveal(int(rows.min()))
        self.view.set_current(line, reveal=line != self.view.current)
        self.strip.update()
        self._say_matches()

    def _show_hover(self) -> None:
        trace, hover = self.session.trace.value, self.session.hover.value
        if trace is None or self._rows is None:
            return
        line = -1 if hover is None or hover.line is None else hover.line
        tint = rows_of_place(trace.code, None if hover is None else hover.source)
        if line != self.view.hover or not np.array_equal(tint, self.view.hovered_source):
            self.view.hover, self.view.hovered_source = line, tint
            self.view.viewport().update()

    def _hits_of(self, row: int) -> str:
        """Return how often the selected wave ran a row, and which of these executions is selected."""
        wave, selection = self.session.wave(), self.session.selection.value
        if wave is None:
            return ""
        total = len(wave.executions(row))
        if selection.line == row and selection.hit is not None and selection.hit < total:
            return Message("hit {0:,} of {1:,} in {2}", selection.hit + 1, total, wave.id)
        return Message("{0} in {1}", plural(total, "hit"), wave.id)

    def _refresh_arrows(self) -> None:
        trace, wave, mode = self.session.trace.value, self.session.wave(), self.view.arrow_mode
        structure = None if self._rows is None else self._rows.program
        if trace is None or structure is None or (trace, wave, mode, structure) == self._arrow_key:
            return
        self._arrow_key = (trace, wave, mode, structure)
        self.view.shows_branches = mode in ("branches", "both")
        self.view.refresh()
        self.run_job(lambda: gutter_arrows(mode, wave, structure), self._take_arrows, "arrows")

    def _take_arrows(self, arrows: GutterArrows) -> None:
        self.walk.arrows = arrows
        self.session.invalidate_command_states()
        self.view.set_arrows(arrows)

    def set_arrows(self, mode: str) -> None:
        """Choose the arrows in the gutter: a key of `ARROWS`."""
        self.view.arrow_mode = mode
        self._show()
        self._refresh_arrows()

    def _isolate(self, row: int) -> None:
        self.session.isolated_wait.set(None if self.session.isolated_wait.value == row else row)

    def _show_notes(self) -> None:
        trace, notes = self.session.trace.value, self.session.notes.shown.value
        if trace is None or not notes:
            self.view.set_notes({})
            return
        from rcv_py.ui.table.note_marks import by_instruction  # noqa: PLC0415 - most captures have no notes

        self.view.set_notes(by_instruction(trace, notes))

    def _show_isolated(self) -> None:
        self.view.isolated_row = self.session.isolated_wait.value
        self.view.viewport().update()

    def _choose(self, row: int) -> None:
        self._followed = row  # a clicked fold stays folded
        if row != self.session.selection.value.line or self.session.selection.value.lines is not None:
            self.go(row)

    def go(self, row: int) -> None:
        """Select an instruction; the time views move to the execution selected with it."""
        self.session.select_line(row)

    def step_hottest(self, direction: int) -> None:
        """Select the row with the next lower (+1) or next higher (-1) cost than the selected row."""
        if self._rows is not None:
            at = next_hottest(self._rows.code_cost, self.session.selection.value.line, direction)
            if at >= 0:
                self.go(at)

    def _search(self) -> None:
        trace, query = self.session.trace.value, self.session.query.value
        if query.text:
            self.search.show()
        if query.text or self.has_searched:
            self.find_bar.show_query(query)
        if trace is not None:
            texts = trace.code.text
            self.run_job(lambda: matches_of(texts, query), self._take_matches, "search")

    def _take_matches(self, answer: tuple[np.ndarray, str]) -> None:
        self.matches, self._problem = answer
        self._show_match()

    def _show_match(self) -> None:
        shown = len(self.view.table.view_rows)
        if self.view.rows is not None and not (self.matches >= shown).any():  # they are of this program
            self.view.set_matches(self.matches, self.session.query.value)
            self.strip.set_marks(self.matches)
            self._filter()
            self._say_matches()

    def _leave_search(self) -> None:
        """Give the room of an empty search field to instructions."""
        self.search.hide()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _filter(self) -> None:
        """Hide rows that do not match, if the user chose that."""
        is_wanted = bool(self.session.query.value.text) and self.find_bar.filter.isChecked()
        is_on = is_wanted and not self._problem
        self.view.set_only(self.matches if is_on else None)

    def _say_matches(self) -> None:
        if not self.has_searched:
            return
        total = len(self.matches)
        at = np.flatnonzero(self.matches == self.session.selection.value.line)
        text = Message("{0:,} of {1:,}", int(at[0]) + 1, total) if len(at) else Message("{0:,} found", total)
        self.find_bar.say(text if self.session.query.value.text else "", total, self._problem)

    def filter_to(self, mnemonic: str) -> None:
        """Show only instructions that contain a text."""
        self.find_bar.filter.setChecked(True)
        self.session.query.set(SearchQuery(mnemonic))

    def step_match(self, direction: int) -> None:
        """Select the next (+1) or previous (-1) match in the shown order, wrapping around the end."""
        shown = self.view.table.view_rows
        if not len(self.matches) or len(shown) <= self.matches[-1]:
            return
        if self.view.is_folding:  # in program order, including folded rows
            shown = np.arange(len(shown))
        places = np.sort(shown[self.matches][shown[self.matches] >= 0])
        line = self.session.selection.value.line
        at = next_place(places, int(shown[line]) if line is not None and line < len(shown) else -1, direction)
        if len(places):
            place = int(places[at % len(places)])
            self.go(place if self.view.is_folding else self.view.table.data_row(place))

    def _open_menu(self, position: QPoint) -> None:
        view, above = self.view, self.view.heading_at(position)
        row = view.row_at(position.y()) if above is None else above.row
        if row >= 0:
            menu = row_menu(self, row, view.register_at(position) if above is None else None)
            self.add_copy(menu)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(view.viewport().mapToGlobal(position))

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        settings = ui.settings

        def no_cost() -> str:
            rows = None if lazy.existing is None else lazy.existing._rows
            return NO_COST if rows is None or not rows.total else ""

        def no_rows() -> str:
            return NO_ROWS if lazy.existing is None or lazy.existing._rows is None else ""

        def walk(action: Callable[[IsaWalk], object], panel: Self) -> None:
            action(panel.walk)

        def no_walk(why_not: Callable[[IsaWalk], str]) -> str:
            return NO_ROWS if lazy.existing is None else why_not(lazy.existing.walk)

        def other_folds(panel: Self) -> None:
            panel.view.set_fold_by("label" if panel.view.fold_by == "block" else "block")

        def toggle(name: str, panel: Self) -> None:
            panel.view.header.toggle(name)

        def is_shown(name: str) -> bool:
            return lazy.existing is not None and lazy.existing.view.header.is_shown(name)

        def switch(name: str) -> None:
            settings[name] = not settings[name]

        return (
            *commands("Go/Code", (
                ("isa.next_hottest", "Next hottest instruction", "M",
                 lazy.with_panel(lambda panel: panel.step_hottest(+1)),
                 "Select the instruction that costs most after the selected one.", no_cost),
                ("isa.previous_hottest", "Previous hottest instruction", "Shift+M",
                 lazy.with_panel(lambda panel: panel.step_hottest(-1)),
                 "Select the instruction that costs most before the selected one.", no_cost),
            )),
            *commands("Go/Waits and registers", (
                (*head, lazy.with_panel(partial(walk, action)), tip, partial(no_walk, why_not))
                for *head, tip, action, why_not in WALKS
            )),
            *commands("Analyze/Listing", (
                ("isa.columns", "Columns and choices of the listing …", "Ctrl+Alt+O",
                 lazy.with_panel(lambda panel: panel.view.header.popup(panel.view.header.menu())),
                 "Show the menu of the header: columns, latency mode, arrows, bars, folds.", no_rows),
                ("isa.fold_all", "Fold all blocks", "Ctrl+Alt+-",
                 lazy.with_panel(lambda panel: panel.view.fold_all()),
                 "Show each block as one row.", no_rows),
                ("isa.unfold_all", "Unfold all blocks", "Ctrl+Alt+=",
                 lazy.with_panel(lambda panel: panel.view.fold_all(False)),
                 "Show every instruction.", no_rows),
                ("isa.fold_cold", "Fold cold blocks", "Ctrl+Alt+F",
                 lazy.with_panel(lambda panel: panel.view.fold_cold(settings["isa.cold_permille"] / 1000)),
                 "Fold what never ran or costs next to nothing, and unfold the rest.", no_rows),
                ("isa.fold_by", "Fold by blocks or by labels", "Ctrl+Alt+B", lazy.with_panel(other_folds),
                 "Change what is folded: basic blocks, or everything from a label to the next.", no_rows),
            )),
            *(Command(id=f"isa.{name.rpartition('.')[2]}", title=title, menu="Analyze/Listing",
                      run=partial(switch, name), shortcuts=(key,), tip=tip,
                      is_checked=partial(settings.__getitem__, name))
              for name, title, key, tip in SWITCHES),
            *(Command(id=f"isa.{name}", title=title, menu="Analyze/Listing",
                      run=lazy.with_panel(partial(toggle, name)), shortcuts=(key,), tip=tip, why_not=no_rows,
                      is_checked=partial(is_shown, name))
              for name, title, key, tip in COLUMNS),
        )  # fmt: skip

    def command_line(self) -> command_text.CommandWords | None:
        if self._rows is None:
            return None
        session, mode, bars = self.session, self.session.latency_mode.value, self._rows.bars.mode
        word = f"--mode={next(name for name, known in MODES.items() if known is mode)}"
        words: list[str] = []
        if mode in OF_ALL_WAVES:
            words = [word, *command_text.clock(session)]
        elif selected := command_text.wave(session, "wave"):
            hit = f"--hit={(session.selection.value.hit or 0) + 1}"
            words = [word, *selected, *((hit,) if mode is LatencyMode.ITERATION else ())]
        words += [] if bars is Annotation.TOTAL else [f"--bars={bars.name.lower()}"]
        words += command_text.idle(self.ui)
        words += command_text.matching(session.query.value) if self.view.table.is_filtered else ()
        return command_text.rcv(session, "isa", *words, *command_text.sorting(self.view.table))

    def sheet(self) -> Sheet | None:
        """Return the table as shown: filtered and sorted; folded rows are written out."""
        rows = self._rows
        every = range(len(rows.text)) if rows is not None and self.view.is_folding else None
        return None if rows is None else csv_sheet(rows, self.view.table, every)

    def caption(self) -> str:
        return "" if self._rows is None or self._rows.trace.is_static else self._rows.costs.label

    def save_state(self) -> dict[str, Any]:
        own = {"gutter": self.view.arrow_mode, "bars": self.facts.mode.name, "fold_by": self.view.fold_by}
        return super().save_state() | own

    def load_state(self, state: dict[str, Any]) -> None:
        super().load_state(state)
        bars, fold_by, gutter = (str(state.get(name)) for name in ("bars", "fold_by", "gutter"))
        if bars in Annotation.__members__:
            self.set_annotation(Annotation[bars])
        if fold_by in FOLD_BY:
            self.view.set_fold_by(fold_by)
        if gutter in ARROWS:
            self.set_arrows(gutter)


def row_menu(panel: IsaPanel, row: int, at: OperandPosition | None = None) -> QMenu:
    """Return the menu of a row, and of a register in it."""
    from rcv_py.features.isa.menus import add_trials  # noqa: PLC0415 - as above
    from rcv_py.model.notes import Anchor  # noqa: PLC0415 - not needed at a start
    from rcv_py.ui.table.note_marks import add_note_actions  # noqa: PLC0415 - as above

    view, session = panel.view, panel.session
    menu, trace, selection = QMenu(view), session.trace.value, session.selection.value
    assert trace is not None
    code = trace.code
    text, is_label = code.text[row], bool(code.is_label[row])
    place = selection if selection.line == row else Selection(selection.wave, row)

    def add(title: str, call: Callable[[], object], why_not: str = "") -> None:
        allow(add_action(menu, title, call), why_not)

    def add_there(title: str, action: Callable[[], object], why_not: str = "") -> None:
        """Add an action on the instruction, which it selects first."""

        def run() -> None:
            panel.go(row)
            action()

        add(title, run, why_not)

    menu.setToolTipsVisible(True)
    ran = "" if code.hits[row] and not is_label else "It was never executed."
    add("Copy instruction", lambda: copy_text(text))
    add("Copy rows", view.copy_rows)
    add("Copy address", lambda: copy_text(f"{int(code.address[row]):#x}"))
    add("Copy place in trace", lambda: copy_text(str(place)))
    menu.addSeparator()
    walk = panel.walk
    for title, is_producer in (("What this waits for", True), ("Waited for by", False)):
        found, why_not = walk.linked(is_producer, row)
        add(title, partial(panel.go, found), why_not)
    if at is not None:
        view.place_cursor(at)
        name = text[at.operand.start : at.operand.stop]
        written, read = Message("Where {0} is written", name), Message("Where {0} is read next", name)
        add(written, partial(walk.go_register, True), walk.register_target(True)[1])
        add(read, partial(walk.go_register, False), walk.register_target(False)[1])
    chain = "" if code.chain(row) else "The capture does not say which source line it came from."
    add_there("Go to source", lambda: panel.wants.emit("source"), chain)
    add_there("Zoom to this execution", session.fit_selection, ran)
    add_there("All executions, by duration", lambda: panel.wants.emit("distribution"), ran)
    menu.addSeparator()
    add_trials(menu, session, row, panel.wants.emit)
    add("Filter to this instruction", lambda: panel.filter_to(text.split(" ")[0]))
    section = view.folds.section(row)
    if view.is_folding and section >= 0 and view.folds.foldable[section]:
        fold = "Unfold this block" if view.folds.folded[section] else "Fold this block"
        add(fold, lambda: view.toggle(section))
    menu.addSeparator()
    add_there("Bookmark", session.toggle_bookmark)
    chosen = view.selected_rows()
    about = Anchor(instructions=tuple(chosen if row in chosen else (row,)))
    add_note_actions(menu, session, about, view.notes_of(row))
    return menu
