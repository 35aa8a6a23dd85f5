"""The source text next to the instructions: the cost of each line, and the inline chain."""

from typing import Self

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QMenu

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.cost.source_costs import SourceCosts, source_costs
from rcv_py.base.text import Message, percent, short_paths, translated
from rcv_py.features.source.highlight import Span, expanded, headings, spans
from rcv_py.features.source.view import SourceRows, SourceView, source_rows
from rcv_py.model.code import SourceFile
from rcv_py.model.modes import SourceCost
from rcv_py.state.commands import Command, always, commands
from rcv_py.state.selection import Hover, SearchQuery
from rcv_py.ui.core.costs import charged_job
from rcv_py.ui.core.layout import BAR, column, row
from rcv_py.ui.core.panel import LazyPanel, Sheet, UiContext
from rcv_py.ui.core.plain_text import RichLabel, joined, named, push_button, rich, tooltip, with_tip
from rcv_py.ui.table import command_text
from rcv_py.ui.table.code_panel import CodePanel, HeatStrip, next_hottest
from rcv_py.ui.table.find_bar import FindBar, matches_of, next_place
from rcv_py.ui.widgets.empty_state import page

NO_SOURCE = (
    "No instruction of this capture has a source place. Build the kernel with debug information (-g), "
    "record again, and keep the source files where they were built."
)
SORTED = {"cost": "cost", "bar": "cost", "line": "place", "text": "text", "share": "share_of_total"}
Text = tuple[tuple[str, ...] | None, tuple[tuple[Span, ...], ...], np.ndarray]  # lines, colours, headings


class SourcePanel(CodePanel):
    """Source lines with their costs."""

    view: SourceView
    stream_ms = 500

    def __init__(self, ui: UiContext) -> None:
        view = SourceView(ui.theme, ui.settings)
        super().__init__(ui, view, HeatStrip(view), (8, 0, 8, 4))
        self._costs: SourceCosts | None = None
        self._file = -1
        self._followed: tuple[int, int] | None = None  # last shown place of the session
        self._opened_at: int | None = None  # line of a followed link, in a file that is not selected
        self._texts: dict[int, Text] = {}  # by file, of the open trace
        self.matches = np.empty(0, dtype=np.int64)
        files = named(QComboBox(minimumContentsLength=10), "Source file")
        self.files = with_tip(files, "Source file, the most expensive first.")
        self.files.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        tip = "Charge the innermost place only, or every place of the inline chain."
        self.how = with_tip(named(QComboBox(), "How costs are charged"), tip)
        self.how.addItem(translated("Self"), SourceCost.SELF)
        self.how.addItem(translated("Inclusive"), SourceCost.INCLUSIVE)
        self.chain = RichLabel(visible=False)
        self.chain.setProperty("role", "muted")
        self.chain.setMinimumWidth(1)
        self.chain.setContentsMargins(8, 0, 8, 4)
        head = row((self.files, 1), self.how, margins=BAR, spacing=4)
        rows = row((column((view, 1), view.across), 1), self.strip)
        tip = "Say where this source file lies on this machine."
        self.locate = push_button("Locate …", tip, self.show_locate)
        self.locate.hide()
        note = row((self.note, 1), self.locate, spacing=8)
        self.empty = page(self, head, self.search, self.chain, note, (rows, 1))
        self._colored = self.request(lambda: None, visibility=self.late)  # text of a file
        self._connect()
        self._how_changed()
        self.follow_session()

    def _connect(self) -> None:
        session = self.session
        self.files.activated.connect(lambda: self.show_file(self.files.currentData()))
        self.how.activated.connect(lambda: session.source_cost.set(self.how.currentData()))
        self.view.chosen.connect(self._choose)
        self.view.hovered.connect(lambda row: session.hover.set(self._hover_of(row)))
        self.strip.clicked.connect(self._choose)
        self.chain.linkActivated.connect(lambda link: self.show_file(*map(int, link.split(":"))))
        self.ui.theme.changed.connect(self._show_chain)
        session.source_cost.watch(self._how_changed)
        session.notes.shown.watch(self._show_notes)
        self.view.offer_menu(self._fill_menu)

    def _make_find_bar(self) -> FindBar:
        bar = FindBar(self.ui.theme, "Find in this file", has_filter=False)
        bar.edited.connect(self._search)
        bar.stepped.connect(self.step_match)
        return bar

    def _open(self) -> None:
        trace = self.session.trace.value
        self._costs, self._file, self._texts = None, -1, {}
        self._followed, self._opened_at = None, None
        missing = trace is None or not len(trace.code.chain_file)
        self.empty.say(self.reason(NO_SOURCE) if missing else "")
        self.files.clear()
        if not missing:
            self._compute()

    def _compute(self) -> None:
        trace, cost = self.session.trace.value, charged_job(self.ui)
        if trace is None or cost is None or self.empty.is_empty:
            return
        how = self.session.source_cost.value
        self._updates.run(lambda: source_costs(trace.code, cost(), how, len(trace.sources)), self._take_costs)

    def _how_changed(self) -> None:
        self.how.setCurrentIndex(self.how.findData(self.session.source_cost.value))
        self._updates.ask()

    def _take_costs(self, costs: SourceCosts) -> None:
        trace, self._costs = self.session.trace.value, costs
        assert trace is not None
        paths = [source.path for source in trace.sources]
        names, used = short_paths(paths), set(costs.file.tolist())
        self.files.clear()
        for file in np.argsort(-costs.file_cost, kind="stable").tolist():
            if file < len(paths) and (file in used or trace.sources[file].lines is not None):
                share = percent(int(costs.file_cost[file]), costs.total)
                self.files.addItem(f"{names[paths[file]]}   {share}", file)
                at = self.files.count() - 1
                self.files.setItemData(at, tooltip(paths[file]), Qt.ItemDataRole.ToolTipRole)
        self._point_at_file()
        if self._file < 0:
            source = self.session.selection.value.source
            self.show_file(source[0] if source is not None else int(np.argmax(costs.file_cost)))
        else:
            self._show()

    def _point_at_file(self) -> None:
        self.files.setCurrentIndex(self.files.findData(self._file))
        if (source := self.shown_file) is not None:
            self.files.setToolTip(tooltip(source.path))

    @property
    def shown_file(self) -> SourceFile | None:
        """The file that is shown; None until it is known which of a new capture that is."""
        trace = self.session.trace.value
        is_known = trace is not None and 0 <= self._file < len(trace.sources)
        return trace.sources[self._file] if trace is not None and is_known else None

    @property
    def lines(self) -> SourceRows | None:
        """The rows of that file; those of another capture may still be painted."""
        return None if self.shown_file is None else self.view.lines

    def show_file(self, file: int, line: int | None = None) -> None:
        """Show a file of the trace, and mark a line; the first time, a thread colours the text."""
        trace = self.session.trace.value
        if trace is None or not 0 <= file < len(trace.sources):
            return
        self._file, self._opened_at = file, line
        self._point_at_file()
        if file in self._texts:
            self._show()
            return

        def job() -> Text:
            source = trace.sources[file]
            lines = None if source.lines is None else tuple(map(expanded, source.lines))
            return lines, spans(source.path, lines or ()), headings(lines or ())

        def take(text: Text) -> None:
            self._texts[file] = text
            if file == self._file:
                self._show()

        self._colored.run(job, take)

    def _show(self) -> None:
        trace, source, text = self.session.trace.value, self.shown_file, self._texts.get(self._file)
        if trace is None or source is None or text is None or self._costs is None:
            return
        lines, self.view.spans, self.view.headings = text
        rows = source_rows(trace, self._costs, self._file, lines)
        self.view.show_lines(rows)
        self._show_notes()
        self.strip.set_cost(rows.cost)
        why = source.note or "The capture has no copy of this file."
        self.show_note("" if rows.is_copy else Message("{0} Lines that instructions came from:", why))
        self.locate.setVisible(not rows.is_copy)
        if self.has_searched:
            self._search(self.find_bar.query)
        self._follow()
        self.view.show_hottest((trace, self._file))

    def show_locate(self) -> None:
        """Ask for the location of a file that is shown without its text."""
        trace, source = self.session.trace.value, self.shown_file
        if trace is None or source is None:
            return
        from rcv_py.features.source.locate import LocateDialog  # noqa: PLC0415 - rarely used

        LocateDialog(source.path, trace.sources, self.ui.settings, self).open()

    def _follow(self) -> None:
        trace, source = self.session.trace.value, self.session.selection.value.source
        if trace is None or self._costs is None:
            return
        self._show_chain()
        is_new, self._followed = source != self._followed, source
        if source is not None and source[0] != self._file and is_new:
            self.show_file(source[0])
            return
        lines = self.lines
        if lines is None:
            return
        # A file that the user opened stays open until another place is selected.
        line = source[1] if source is not None and source[0] == self._file else self._opened_at
        row = -1 if line is None else lines.row_of(line)
        self.view.chain = self._rows_of(self._chain())
        self.view.set_current(row, reveal=row != self.view.current)
        self.strip.update()

    def _chain(self) -> list[tuple[int, int]]:
        trace, line = self.session.trace.value, self.session.line
        return [] if trace is None or line is None else trace.code.chain(line)

    def _rows_of(self, places: list[tuple[int, int]]) -> frozenset[int]:
        lines = self.lines
        if lines is None:
            return frozenset()
        return frozenset(lines.row_of(line) for file, line in places if file == self._file)

    def _show_chain(self) -> None:
        trace, chain = self.session.trace.value, self._chain()
        self.chain.setVisible(len(chain) > 1 and trace is not None)
        if trace is None or len(chain) < 2:
            return
        link, color = '<a style="color:{}" href="{}:{}">{}</a>', self.ui.theme.role("accent").name()
        places = chain[::-1]  # the outermost first
        links = [rich(link, color, *place, place_text(trace.sources, *place)) for place in places]
        self.chain.setText(rich("Inlined: {}", joined(" › ", links)))
        paths = (place_text(trace.sources, *place, full=True) for place in places)
        self.chain.setToolTip(tooltip("\n".join(paths)))

    def _show_hover(self) -> None:
        trace, hover = self.session.trace.value, self.session.hover.value
        line = None if hover is None else hover.line
        tinted: frozenset[int] = frozenset()
        if trace is not None and line is not None and line < len(trace.code):
            tinted = self._rows_of(trace.code.chain(line))
        if tinted != self.view.tinted:
            self.view.tinted = tinted
            self.view.viewport().update()

    def _hover_of(self, row: int) -> Hover | None:
        place = self._place_of(row)
        return None if place is None else Hover(source=place)

    def _choose(self, row: int) -> None:
        place = self._place_of(row)
        if place is not None and place != self.session.selection.value.source:
            self.session.select_source(*place)

    def _place_of(self, row: int) -> tuple[int, int] | None:
        """Return file and line of a row that has code."""
        lines = self.lines
        has_code = lines is not None and 0 <= row < len(lines.number) and bool(lines.has_code[row])
        return (self._file, int(lines.number[row])) if lines is not None and has_code else None

    def _show_notes(self) -> None:
        trace, lines, notes = self.session.trace.value, self.lines, self.session.notes.shown.value
        if trace is None or lines is None or not notes:
            self.view.set_notes({})
            return
        from rcv_py.ui.table.note_marks import by_line  # noqa: PLC0415 - most captures have no notes

        noted = by_line(trace, notes, self._file)
        self.view.set_notes({lines.row_of(line): notes for line, notes in noted.items()})

    def _fill_menu(self, menu: QMenu, row: int) -> None:
        from rcv_py.model.notes import Anchor  # noqa: PLC0415 - rarely used
        from rcv_py.ui.table.note_marks import add_note_actions  # noqa: PLC0415 - as above

        source, lines = self.shown_file, self.lines
        if source is not None and lines is not None and row >= 0:
            about = Anchor(source=(source.path, int(lines.number[row])))
            menu.addAction(translated("Copy rows"), self.view.copy_rows)
            add_note_actions(menu, self.session, about, self.view.notes_of(row))
        self.add_copy(menu)

    def step_hottest(self, direction: int) -> None:
        """Select the line of this file with the next lower (+1) or next higher (-1) cost."""
        if self.lines is not None:
            self._choose(next_hottest(self.lines.cost, self.view.current, direction))

    def open_in_editor(self) -> None:
        """Open the shown file in the user's editor at the selected line; report a failure."""
        source = self.shown_file
        if source is None:
            return
        from rcv_py.features.source.locate import edit  # noqa: PLC0415 - rarely used

        lines, row = self.lines, self.view.current
        line = int(lines.number[row]) if lines is not None and 0 <= row < len(lines.number) else 1
        if why := edit(source.path, line, self.ui.settings):
            self.show_note(why)

    def _search(self, query: SearchQuery) -> None:
        self.matches, problem = matches_of(() if self.lines is None else self.lines.text, query)
        self.view.set_matches(self.matches)
        self.strip.set_marks(self.matches)
        count = len(self.matches)
        self.find_bar.say(Message("{0:,} found", count) if query.text else "", count, problem)

    def step_match(self, direction: int) -> None:
        """Go to the next (+1) or previous (-1) match."""
        if len(self.matches):
            at = next_place(self.matches, self.view.current, direction)
            self.view.set_current(int(self.matches[at % len(self.matches)]))

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        cell = ui.session.source_cost
        other = {SourceCost.SELF: SourceCost.INCLUSIVE, SourceCost.INCLUSIVE: SourceCost.SELF}
        rows = (
            ("source.next_hottest", "Next hottest source line", "Alt+M",
             lazy.with_panel(lambda panel: panel.step_hottest(+1))),
            ("source.previous_hottest", "Previous hottest source line", "Alt+Shift+M",
             lazy.with_panel(lambda panel: panel.step_hottest(-1))),
            ("source.toggle_inclusive", "Self or inclusive source costs", "Alt+I",
             lambda: cell.set(other[cell.value])),
            ("source.edit", "Open the source line in an editor", "Ctrl+Alt+G",
             lazy.with_panel(lambda panel: panel.open_in_editor())),
        )  # fmt: skip
        return commands("Go/Code", ((*row, Message("{0}.", row[1]), always) for row in rows))

    def command_line(self) -> command_text.CommandWords | None:
        source = self.shown_file
        if source is None or self.lines is None:
            return None
        how, of = command_text.charge(self.ui), f"--file={source.path}"
        order = command_text.sorting(self.view.table, SORTED)
        return command_text.rcv(self.session, "hotspot", "--by=source", *how, of, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        table, title = self.view.table, Message("Source {0}", self.files.currentText())
        return None if self.lines is None else Sheet(title, table.headers, table.table())

    def caption(self) -> str:
        return Message("{0}, {1} cost", self.files.toolTip(), self.session.source_cost.value.value)
