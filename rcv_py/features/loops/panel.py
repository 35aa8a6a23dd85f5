"""Loops with their iterations, and segments between barriers: duration, kinds, outliers."""

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStackedWidget

from rcv_py.analysis.iterations.loop_summary import PHASES, LoopIterations, LoopSummary
from rcv_py.analysis.iterations.segments import OUTSIDE, Segments
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.analysis.whatif.block_schedule import block_schedules
from rcv_py.base.text import Message, count, join_texts, known_percent, percent, plural, translated
from rcv_py.features.loops.result import SEGMENTS as RESULT
from rcv_py.features.loops.result import iteration_table, iterations_of, loop_table, segment_table
from rcv_py.features.loops.static_result import loop_table as static_table
from rcv_py.features.whatif.schedule_result import schedule_table
from rcv_py.model.kinds import KIND_COUNT, KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.results.table import ResultTable
from rcv_py.state.selection import Selection
from rcv_py.ui.core.layout import BAR_ABOVE, bar, boxed, column, split
from rcv_py.ui.core.panel import Sheet, UiContext
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, ElidedLabel, named, tooltip
from rcv_py.ui.core.shared_results import of_waves
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.bar_chart import BarChart
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.result_columns import result_columns, with_bar
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.choice import Switch
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

NO_LOOP = "No wave that counts jumped back to an instruction it had run: no loop, or one iteration of each."
LOOPS, SEGMENTS = "loops", "segments"
TABLES = {LOOPS: "Loops", SEGMENTS: "Between barriers"}
_SEGMENT_TIP = "Cycles of all executions: before the barrier at the end, then in the barrier."
MAX_COLUMN_PX = 28  # px of a column


def color_of(theme: Theme, kind: int) -> QColor:
    """Return the colour of a kind; idle time (NONE) is paler than the greys of waits."""
    return theme.role("line") if kind == TokenKind.NONE else theme.kind(kind)


def stack_of(loops: LoopIterations, rows: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return cycles by kind of iterations, idle as NONE, int64 [n, kinds], and kinds, the largest first."""
    part = loops.iterations.at(rows)
    cycles = part.kinds.copy().reshape(-1, KIND_COUNT)
    cycles[:, TokenKind.NONE] += part.idle
    total = cycles.sum(axis=0)
    return cycles, tuple(kind for kind in np.argsort(-total, kind="stable").tolist() if total[kind])


class IterationStrip(BarChart):
    """Iterations side by side: one column each, its height the duration, stacked by kind of instruction."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Iterations of the loop, a column each", bottom=18, widest=MAX_COLUMN_PX)
        self.kinds: tuple[int, ...] = ()
        self._outliers = np.zeros(0, dtype=np.int64)
        self._name: Callable[[int], str] = str

    def show_stacks(
        self, cycles: np.ndarray, kinds: tuple[int, ...], outliers: np.ndarray, name: Callable[[int], str]
    ) -> None:
        """Show iterations: cycles by kind [n, kinds], kinds from the bottom up, outliers, their names."""
        self.kinds, self._outliers, self._name = kinds, outliers, name
        self.show_parts(cycles[:, list(kinds)], [partial(color_of, kind=kind) for kind in kinds])
        self.select(-1)

    def select(self, first: int, stop: int = -1) -> None:
        super().select(first, stop)
        iterations, most = plural(len(self), "iteration"), count(int(self.totals.max(initial=0)))
        text = Message("{0}, up to {1} cycles", iterations, most)
        chosen = "Nothing is selected." if first < 0 else Message("Selected: {0}", self.tip(first))
        self.setAccessibleDescription(translated(join_texts(". ", (text, chosen)) if len(self) else ""))

    def paint_over(self, painter: QPainter) -> None:
        self.paint_axis(painter, (), Message("{0}, cycles each", plural(len(self), "iteration")))
        for row in self._outliers.tolist():
            box = self.bar_rect(row)
            box.setRect(box.left(), box.top() - 3, max(2.0, box.width()), 2)
            painter.fillRect(box, self._theme.role("stall"))

    def tip(self, bar: int) -> str:
        if not 0 <= bar < len(self):
            return ""
        total = int(self.totals[bar])
        lines: list[str] = [Message("{0}: {1} cycles", self._name(bar), count(total))]
        for kind, cycles in zip(self.kinds, self.parts[bar].tolist(), strict=True):
            if cycles:
                name = "idle or unknown" if kind == TokenKind.NONE else KIND_NAME[TokenKind(kind)]
                lines.append(Message("{0}: {1}  ({2:.0f} %)", name, count(cycles), 100 * cycles / total))
        return join_texts("\n", lines)


def program_tables(trace: Trace) -> tuple[ResultTable, ResultTable]:
    """Return the loops of a program that has not run, and its blocks with the best order found."""
    found = block_schedules(trace, trace.code, WaitLatency.empty())
    return static_table(trace), schedule_table(trace, found, 0)


class LoopsPanel(TablePanel[LoopSummary]):
    """Iterations of loops, and segments between barriers: how long each took, and what on."""

    result_name = LOOPS

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._loop = -1
        self.rows = np.zeros(0, dtype=np.int64)  # the shown iterations
        rows = partial(RowsView, ui.theme, ui.settings)
        self.loops = named(rows(), "Loops, most often continued first")
        self.view = self.rows_view("Iterations of the chosen loop")
        self.strip = IterationStrip(ui.theme)
        self.shown_segments: Segments | None = None  # the shown segments
        self.segments = named(rows(), "Segments between barriers, most cycles first")
        self.segments.widths.elastic = Elastic("meanwhile", "source", 120, 300)
        self.segments.cell_painters["bar"] = self._paint_segment
        self.program = named(rows(), "Loops of a program that has not run")
        self.blocks = named(rows(), "Its blocks, as ordered and in the best order")
        for view in (self.program, self.blocks):
            view.widths.elastic = Elastic("source", "source", 120, 300)
        self.listed = Switch("What is listed", TABLES)
        self.remembered = {"table": self.view, "loops": self.loops, "segments": self.segments}
        self.remembered |= {"listed": self.listed}
        self.legend, self.note, self.phases = Legend(), ElidedLabel(role="muted"), ElidedLabel(role="muted")
        self.note.setAlignment(MIDDLE_RIGHT)
        self.phases.setContentsMargins(8, 2, 8, 4)
        right = split(self.strip, self.view, sizes=(150, 130), is_column=True)
        choices = bar(self.listed, (self.legend, 1), (self.note, 1), margins=BAR_ABOVE)
        self.both = QStackedWidget()
        self.both.addWidget(split(self.loops, right, sizes=(440, 720)))
        self.both.addWidget(self.segments)
        self.both.addWidget(split(self.program, self.blocks, sizes=(150, 150), is_column=True))
        self.empty = WithEmptyState(boxed(column((self.both, 1), self.phases)))
        column(choices, (self.empty, 1), of=self)
        ui.theme.changed.connect(self._show_legend)
        self.listed.currentIndexChanged.connect(self._choose_table)
        self.segments.chosen.connect(self._go_to_segment)
        self.loops.chosen.connect(self._choose_loop)
        self.program.chosen.connect(partial(self._go_to_first, self.program, "head"))
        self.blocks.chosen.connect(partial(self._go_to_first, self.blocks, "first_instruction"))
        self.strip.chosen.connect(self._go)
        self._start()

    def _open(self) -> None:
        self._loop = -1
        super()._open()

    def result_names(self) -> tuple[str, ...]:
        return LOOPS, SEGMENTS

    def _choose_table(self) -> None:
        self.ui.results.let_go(self.result_name, self.visibility)
        self.result_name = self.listed.value
        super()._open()

    @property
    def is_loops(self) -> bool:
        """Return whether loops, not segments, are listed."""
        return self.listed.value == LOOPS

    def _refresh(self) -> None:
        self.legend.set_items([])
        self.both.setCurrentIndex(0 if self.is_loops else 1)
        trace = self.session.trace.value
        is_static = trace is not None and trace.is_static
        self.phases.setVisible(self.is_loops)
        self.listed.setHidden(is_static)
        self.note.clear()
        self.shown_segments = None
        if trace is not None and is_static:
            self.both.setCurrentIndex(2)
            take = partial(self._take_program, trace)
            self.run_job(lambda: program_tables(trace), take, "loops of the program")
        elif self.is_loops:
            self._refresh_loops()
        else:
            self._refresh_segments()

    def _take_program(self, trace: Trace, tables: tuple[ResultTable, ResultTable]) -> None:
        self.computing.stop()
        loops, blocks = tables
        self.empty.say("" if len(loops) or len(blocks) else loops.spec.nothing)
        for view, table in ((self.program, loops), (self.blocks, blocks)):
            view.show_columns(result_columns(table, trace))
        self._say_phases(loops.spec.note)

    def _go_to_first(self, view: RowsView, name: str, row: int) -> None:
        """Select the first instruction of a loop or block of a program that has not run."""
        self.session.select_line(int(view.table.columns[view.table.column_of(name)].values[row]))

    def _refresh_segments(self) -> None:
        trace, found = self.session.trace.value, self.ui.results.cell(SEGMENTS).value
        self.result = None
        self.computing.stop()
        sentence = self.why_no_waves(None) if found is None else "" if len(found) else RESULT.nothing
        self.empty.say(sentence)
        if trace is None or found is None or sentence:
            return
        self.shown_segments = found
        columns = result_columns(segment_table(trace, found), trace)
        self.segments.show_columns(with_bar(columns, "cycles", "cycles", tip=_SEGMENT_TIP))
        self.note.setText(of_waves(self.session, plural(len(found), "segment")))
        self.note.setToolTip(tooltip(f"{self.note.text()}.\n{RESULT.note}"))
        self._show_legend()
        self._mark_segment()

    def _paint_segment(self, painter: QPainter, cell: QRect, row: int) -> None:
        found, role = self.shown_segments, self.ui.theme.role
        if found is not None and row < len(found):
            waiting, cycles = int(found.waiting[row]), int(found.cycles[row])
            parts = [(cycles - waiting, role("accent")), (waiting, role("stall"))]
            box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
            draw_bar(painter, box, parts, int(found.cycles.max(initial=0)))

    def _refresh_loops(self) -> None:
        trace, summary = self.session.trace.value, self.ui.results.cell("loops").value
        sentence = self.why_no_waves(summary) or ("" if len(summary.loops.iterations) else NO_LOOP)
        chosen = self._pair()
        self.result = None if sentence else summary
        self.empty.say(sentence)
        if trace is None or self.result is None:
            return
        table = self.result.loops.table
        self.loops.show_columns(result_columns(loop_table(trace, table), trace))
        same = [i for i in range(len(table)) if (int(table.head[i]), int(table.branch[i])) == chosen]
        self._loop = same[0] if same else max(0, table.dominant)
        self.loops.set_current(self._loop)
        self._say_phases(self._phases_text(self.result))
        self._list()

    def _say_phases(self, text: str) -> None:
        self.phases.setText(text)
        self.phases.setToolTip(tooltip(text))

    def _pair(self) -> tuple[int, int] | None:
        """Return head and branch of the chosen loop: its row may change when more waves are read."""
        if self.result is None or self._loop < 0:
            return None
        table = self.result.loops.table
        return int(table.head[self._loop]), int(table.branch[self._loop])

    def _phases_text(self, summary: LoopSummary) -> str:
        loops = summary.phases
        if not len(loops):
            return ""
        shares = zip(PHASES, loops.shares, loops.stall_shares, strict=True)
        parts = [
            Message("{0} {1} ({2} stalled)", name, percent(share, 1), known_percent(stall))
            for name, share, stall in shares
        ]
        table, waves = summary.loops.table, plural(len(loops), "wave")
        loop = f"{table.head[loops.loop]} – {table.branch[loops.loop]}"
        without = ""
        if loops.without:
            without = Message("; {0} did not run it twice", plural(loops.without, "wave"))
        return Message("Time of {0} around loop {1}: {2}{3}", waves, loop, join_texts(", ", parts), without)

    def _list(self) -> None:
        trace, summary = self.session.trace.value, self.result
        if trace is None or summary is None:
            return
        loops = summary.loops
        self.rows = iterations_of(loops, self._loop, None)
        self.view.show_columns(result_columns(iteration_table(trace, loops, self.rows, has_note=True), trace))
        part = loops.iterations.at(self.rows)

        def name(bar: int) -> str:
            return Message("{0}, iteration {1}", trace.waves.id(int(part.wave[bar])), part.number[bar])

        cycles, order = stack_of(loops, self.rows)
        self.strip.show_stacks(cycles, order, np.flatnonzero(np.isin(self.rows, loops.outliers)), name)
        many = int(np.count_nonzero(loops.iterations.loop[loops.outliers] == self._loop))
        said = Message("{0}, {1} in the loop", plural(len(self.rows), "iteration"), plural(many, "outlier"))
        text = of_waves(self.session, said)
        self.note.setText(text)
        tip = Message(
            "{0}.\nAn outlier took much longer than others: beyond the third quartile by 1.5 "
            "times the distance of the quartiles. Entry and last iteration are not counted.",
            text,
        )
        self.note.setToolTip(tooltip(tip))
        self._show_legend()
        self._mark()

    def _show_legend(self) -> None:
        theme = self.ui.theme
        if self.shown_segments is not None:
            parts = {"accent": "before the barrier", "stall": "in the barrier"}
            self.legend.set_items([(theme.role(role), text, _SEGMENT_TIP) for role, text in parts.items()])
        if self.result is None:
            return
        names = {
            kind: "idle" if kind == TokenKind.NONE else KIND_NAME[TokenKind(kind)]
            for kind in self.strip.kinds
        }
        items = [(color_of(theme, kind), name, KIND_TEXT[TokenKind(kind)]) for kind, name in names.items()]
        self.legend.set_items(items)

    def _choose_loop(self, row: int) -> None:
        summary = self.result
        if summary is None or not 0 <= row < len(summary.loops.table) or row == self._loop:
            return
        self._loop = row
        self._list()
        self.session.select_line(int(summary.loops.table.head[row]))

    def _go_to_segment(self, row: int) -> None:
        """Select the barrier at the end of a segment; for the last segment, the barrier at its begin."""
        found = self.shown_segments
        if found is not None and 0 <= row < len(found):
            ends = (int(found.last[row]), int(found.first[row]))
            self.session.select_line(next(end for end in ends if end != OUTSIDE))

    def _mark_segment(self) -> None:
        """Mark a segment that ends in the selected barrier, or begins after it."""
        line, found = self.session.selection.value.line, self.shown_segments
        if found is None or line is None:
            return
        rows = [row for ends in (found.last, found.first) for row in np.flatnonzero(ends == line).tolist()]
        if self.segments.current not in rows:
            row = rows[0] if rows else -1
            self.segments.set_current(row, reveal=row != self.segments.current)

    def _follow(self) -> None:
        self._mark_segment()
        if self.result is not None:
            self._mark()

    def _mark(self) -> None:
        token, at = self.session.token(), np.zeros(0, dtype=np.int64)
        if token is not None and self.result is not None:
            part = self.result.loops.iterations.at(self.rows)
            holds = (part.first <= token[1]) & (token[1] < part.stop)
            at = np.flatnonzero((part.wave == token[0].row) & holds)
        row = int(at[0]) if len(at) else -1
        self.view.set_current(row, reveal=row != self.view.current)
        self.strip.select(row)

    def _go(self, at: int) -> None:
        trace, summary = self.session.trace.value, self.result
        if trace is None or summary is None or not 0 <= at < len(self.rows):
            return
        iterations, i = summary.loops.iterations, int(self.rows[at])
        wave, store = trace.waves.id(int(iterations.wave[i])), self.session.store
        if store is not None and store.wave_by_id(wave) is not None:
            self.session.select_token(wave, int(iterations.first[i]))
        else:
            self.session.select(Selection(wave=wave))
        self.session.set_view(TimeWindow(int(iterations.begin[i]), int(iterations.end[i])))

    def caption(self) -> str:
        if not self.is_loops:
            return TABLES[SEGMENTS].lower()
        pair = self._pair()
        return "" if pair is None else Message("loop {0} to {1}", *pair)

    def command_line(self) -> command_text.CommandWords | None:
        if not self.is_loops:
            order = command_text.sorting(self.segments.table)
            return command_text.rcv(self.session, "loops", "--by=segments", *order, "--top=0")
        pair = self._pair()
        if pair is None:
            return command_text.rcv(self.session, "loops", "--top=0")
        which = ("--by=iterations", f"--loop={pair[0]}:{pair[1]}")
        order = command_text.sorting(self.view.table)
        return command_text.rcv(self.session, "loops", *which, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        shown = self.segments.table
        is_shown = self.shown_segments is not None
        return Sheet(TABLES[SEGMENTS], shown.headers, shown.table()) if is_shown else super().sheet()
