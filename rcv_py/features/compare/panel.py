"""The open capture against a baseline: the verdict for the whole launch, and the changed places."""

from collections.abc import Callable
from functools import partial

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QCheckBox, QStackedWidget

from rcv_py.analysis.compare.changes import numbers
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs_from
from rcv_py.analysis.compare.programs import ProgramChange, program_change
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.device.wave_states import STATES, STRIP, StateStrip
from rcv_py.base.errors import TraceError
from rcv_py.base.text import Message, plural, translated
from rcv_py.features.compare.program_result import TABLES as PROGRAM_TABLES
from rcv_py.features.compare.program_result import verdict
from rcv_py.features.compare.result import change_table, listing_table
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.activity import STATE_ORDER
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import STATE_TEXT
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Baseline
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, boxed, column, row
from rcv_py.ui.core.panel import NO_TRACE, Sheet, UiContext
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, allow, named, push_button, tooltip, with_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.curve_panel import CurvePlot
from rcv_py.ui.plot.curves import CurveSet, state_areas
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.rows_view import RowStyle, RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import NO_LINES, TablePanel
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import WithEmptyState, page

NO_BASELINE = (
    "There is no baseline. Choose the capture from before the change with File › Compare with … (Ctrl+Alt+D)."
)
READING = "Reading the waves of the open capture …"
ALL_WITHIN = "No row is beyond noise. Clear “Only beyond noise” to see all."
NOISE_TIP = (
    "A difference up to this may be by chance: it is what groups of waves or engines differ by. "
    "Unknown: there are too few groups to measure it."
)
STREAM_MS = 800
NO_COSTS = "Builds have no such rows. Choose instructions, blocks or classes."
SIDE_BY_SIDE, TIME = "listing", "time"
MODES = {
    "instruction": "Instructions",
    "source": "Source lines",
    "block": "Blocks",
    "class": "Classes",
    SIDE_BY_SIDE: "Side by side",
    TIME: "Over time",
}
_ROLES = {
    Verdict.MORE: "stall",
    Verdict.FEWER: "accent",
    Verdict.SAME: "text",
    Verdict.NOT_COMPARABLE: "warning",
}
SAME = "same"  # status of most rows: not worth a word in each
CHANGES = ("delta", "ratio")  # columns coloured by the verdict
TEXT_PX = 420
BAND_SOFT = 0.8  # share of the canvas in the band of a row that only one build has, or that moved
BANDS = {"inserted": "good", "removed": "stall", "moved": "measure"}  # row colours by change


class CompareRows(ColumnTable):
    """The columns of a table, and the data for clicks and colours of each row."""

    line: np.ndarray  # int64, code row of the open capture, -1 if it has none
    is_real: np.ndarray  # bool, beyond noise
    delta: np.ndarray  # float64, cycles a wave
    fate: tuple[str, ...]
    columns: tuple[Column, ...]


Shown = CompareRows | tuple[CurveSet, CurveSet] | None


def compare_rows(trace: Trace, comparison: Comparison, by: str) -> CompareRows:
    """Return the table of a mode: line, source, block, class, or both programs side by side."""
    table = listing_table(comparison) if by == SIDE_BY_SIDE else change_table(comparison, by)
    columns = result_columns(table, trace)
    if by != SIDE_BY_SIDE:
        is_known, noise = (np.asarray(table.columns[name]) for name in ("is_noise_known", "noise"))
        columns = tuple(_shown(column, np.where(is_known, noise, np.inf)) for column in columns)
    names = ("instruction_b", "is_beyond_noise", "delta")
    line, is_real, delta = (np.asarray(table.columns[name]) for name in names)
    return CompareRows(line, is_real, delta, tuple(table.plain("status")), columns)


def _change(a: Trace, b: Trace) -> ProgramChange | str:
    """Return what differs of two builds, or the reason for knowing nothing; for a thread."""
    try:
        return program_change(a, b, (facts_about(a), facts_about(b)))
    except TraceError as error:
        return str(error)


def _shown(column: Column, noise: np.ndarray) -> Column:
    """Return the column, sorted by noise with unknown noise as the largest; no change is left empty."""

    def noise_text(value: float) -> str:
        return f"{value:,.1f}" if np.isfinite(value) else "unknown"

    if column.id == "noise":
        return replace(column, title="noise ±", values=noise, text=noise_text, tip=NOISE_TIP)
    if column.id in CHANGES:
        return replace(column, text=lambda value: column.text(value) if value else "")
    if column.id == "status":
        return replace(column, text=lambda value: "" if value == SAME else str(value))
    return replace(column, width=TEXT_PX) if column.id == "text" else column


def strip_areas(strip: StateStrip, begin: int) -> CurveSet:
    """Return the waves in each state over time as areas that begin at a cycle."""
    time = begin + (np.arange(len(strip) + 1) << strip.shift)
    waves = np.pad(strip.cycles / (1 << strip.shift), ((0, 1), (0, 0)))
    return state_areas({state: (time, waves[:, STATES.index(state)]) for state in STATE_ORDER}, STATE_TEXT)


class CompareView(RowsView):
    """Rows within noise are grey, inserted, removed and moved ones have a band."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.rows: CompareRows | None = None
        self.cell_painters |= {name: partial(self._paint_change, name) for name in CHANGES}

    def show_rows(self, rows: CompareRows, only_real: bool) -> None:
        """Show a table, whole or only the rows beyond noise."""
        self.rows = rows
        self.show_columns(rows.columns)
        self.table.set_filter(np.flatnonzero(rows.is_real) if only_real else None)

    def row_style(self, row: int) -> RowStyle:
        rows = self.rows
        if rows is None or row >= len(rows):
            return RowStyle(self.theme.role("text"))
        band = BANDS.get(rows.fate[row])
        ink = self.theme.role("text" if rows.is_real[row] or band else "muted")
        return RowStyle(ink, self.theme.soft(self.theme.role(band), BAND_SOFT) if band else None)

    def _paint_change(self, name: str, painter: QPainter, cell: QRect, row: int) -> None:
        rows, at = self.rows, self.table.column_of(name)
        if rows is not None and row < len(rows):
            if rows.is_real[row]:
                painter.setPen(self.theme.role("stall" if rows.delta[row] > 0 else "accent"))
            self.draw_text(painter, cell, self.table.shown_text(row, at), self.table.columns[at])
            painter.setPen(self.row_style(row).ink)


def _costs(capture: Baseline | None) -> CaptureCosts | None:
    return None if capture is None else capture.costs


class ComparePanel(TablePanel[Comparison]):
    """The open capture against a baseline, beyond noise."""

    view: CompareView

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._shown_by = ""
        self.change: ProgramChange | None = None  # of two programs, one of which has not run
        self.verdict = named(PlainLabel(wordWrap=True), "Verdict")
        self.notes, self.detail = ElidedLabel(role="muted"), ElidedLabel(role="muted")
        self.mode = ChoiceBox("What is compared", MODES, tip="What a row is, or how the difference is drawn.")
        tip = "Noise from another capture of the baseline's build."
        self.replicate = push_button("Replicate …", tip, lambda: ui.commands.run("file.twin"))
        self.only = with_tip(QCheckBox(translated("Only beyond noise")), "Hide what may be by chance.")
        self.view = named(CompareView(ui.theme, ui.settings), "Differences")
        self.program = named(RowsView(ui.theme, ui.settings), "Differences of two builds")
        self.program.widths.elastic = Elastic("text_b", "text_a", 200, 600)
        sides = {"A": "Waves of the baseline over time", "B": "Waves of the open capture over time"}
        self.plots = {side: CurvePlot(ui, name, is_overview=True) for side, name in sides.items()}
        above, below = self.plots.values()
        below.legend.hide()
        above.canvas.beside, below.canvas.beside = below.canvas, above.canvas
        self.remembered = {"by": self.mode, "only": self.only, "table": self.view}
        self._request = self.request(self._compute, STREAM_MS)
        self.ways = QStackedWidget()
        self.ways.addWidget(self.view)
        both = boxed(column((above, 1), (below, 1)))
        both.setMinimumSize(1, 1)  # else no table could be lower than two plots
        self.ways.addWidget(both)
        self.ways.addWidget(self.program)
        self.inner = WithEmptyState(self.ways)
        choices = bar((self.verdict, 1), self.replicate, self.only, self.mode, margins=BAR_ABOVE)
        notes = row((self.notes, 3), self.detail, margins=BAR_BELOW, spacing=6)
        self.empty = page(self, choices, notes, (self.inner, 1))
        tip = "Choose the folder of the capture from before the change."
        self.choose = push_button("Compare with …", tip, lambda: ui.commands.run("file.compare"))
        tip = "List the captures of a folder, and select two of them."
        self.list_all = push_button("Choose two of a folder …", tip, lambda: ui.commands.run("file.open"))
        self.empty.offer(self.choose, self.list_all)
        session, view = self.session, self.view
        session.baseline.watch(self._open)
        self._request.follow_doublings()
        self.ui.theme.changed.connect(self._show_verdict)
        self.mode.currentIndexChanged.connect(self._show_mode)
        self.only.toggled.connect(self._filter)
        view.chosen.connect(self._go)
        view.hovered.connect(self._point)
        self.program.chosen.connect(self._go_to_change)
        self._start()

    def _open(self) -> None:
        self.result = self.change = None
        self.view.rows = None
        trace, baseline = self.session.trace.value, self.session.baseline.value
        if trace is None or baseline is None:
            self.empty.say(NO_TRACE if trace is None else NO_BASELINE, is_offering=trace is not None)
            return
        self.empty.say(READING)
        is_static = trace.is_static or baseline.trace.is_static
        for one in (self.replicate, self.only):
            one.setHidden(is_static)
        if is_static:
            a, b = (baseline.trace, trace) if trace.is_static else (trace, baseline.trace)
            self.run_job(partial(_change, a, b), partial(self._take_builds, baseline), "builds")
        else:
            self._request.ask()

    def _compute(self) -> bool:
        trace, store, baseline = self.session.trace.value, self.session.store, self.session.baseline.value
        if trace is None or store is None or baseline is None:
            return False
        if trace.is_static or baseline.trace.is_static:
            return True
        if not store.batches and len(trace.waves) > len(store.missing):
            return False
        read, costs = self.session.snapshot(), baseline.costs
        flag = self._request.new_flag()
        replicate = _costs(baseline.replicate)
        show = self._job(self.by)

        def job() -> tuple[Comparison, Shown]:
            comparison = compare(costs, read.answer(explained_costs_from, flag), replicate=replicate)
            return comparison, show(comparison)

        by = self.by
        self._request.run(job, lambda answer: self._take(by, *answer))
        return True

    def _job(self, by: str) -> Callable[[Comparison], Shown]:
        """Return a function that makes the rows or the areas of a mode."""
        trace, baseline = self.session.trace.value, self.session.baseline.value
        assert trace is not None
        strip = None if baseline is None else baseline.strip
        if by == TIME and strip is not None:
            ask, begin = self.incremental("overview", STRIP), trace.span.begin
            # Both begin where the open capture does, whatever their clocks said.
            return lambda _: (strip_areas(strip, begin), strip_areas(ask(None), begin))

        def rows(comparison: Comparison) -> CompareRows | None:
            has_rows = comparison.kernel is not None or by == SIDE_BY_SIDE
            return compare_rows(trace, comparison, by) if has_rows else None

        return rows

    def _take_builds(self, baseline: Baseline, change: ProgramChange | str) -> None:
        """Show two programs, one of which has not run: A is the open capture if that has run."""
        if self.session.baseline.value is not baseline:
            return
        if isinstance(change, str):
            self.empty.say(change)
            return
        self.change = change
        self.empty.say("")
        self.verdict.setText(verdict(change))
        self.verdict.setStyleSheet("font-weight: 600")
        is_b = change.b is self.session.trace.value
        sides = "A is {0}, B the open capture." if is_b else "A is the open capture, B is {0}."
        self.notes.setText(Message(sides, baseline.name))
        self._show_builds()

    def _show_builds(self) -> None:
        assert self.change is not None
        if self.by not in PROGRAM_TABLES:
            self.inner.say(NO_COSTS)
            return
        table = PROGRAM_TABLES[self.by](self.change)
        self.inner.say("" if len(table) else verdict(self.change))
        self.program.show_columns(result_columns(table, self.change.b))
        self.detail.setText(plural(len(table), table.spec.noun))
        self.ways.setCurrentWidget(self.program)

    def _go_to_change(self, row: int) -> None:
        table, change = self.program.table, self.change
        if change is None or self.by != "instruction":
            return
        name = "instruction_b" if change.b is self.session.trace.value else "instruction_a"
        line = int(table.columns[table.column_of(name)].values[row])
        if line >= 0:
            self.session.select_line(line)

    @property
    def by(self) -> str:
        """Return the mode: a key of MODES."""
        return self.mode.value

    def _show_mode(self) -> None:
        comparison, by = self.result, self.by
        if self.change is not None:
            self._show_builds()
        if comparison is None:
            return
        show = self._job(by)
        self.run_job(lambda: show(comparison), lambda shown: self._take(by, comparison, shown), "mode")

    def _take(self, by: str, comparison: Comparison, shown: Shown) -> None:
        baseline = self.session.baseline.value
        if baseline is None or comparison.a is not baseline.costs:
            return
        if comparison.noise_of is not _costs(baseline.replicate):
            return
        self.result = comparison
        if by != self.by:
            self._show_mode()
            return
        self.empty.say("")
        self._show_verdict()
        allow(self.only, "" if by != TIME else "Waves over time have no noise.")
        self.detail.setText("")
        if isinstance(shown, tuple):
            self._show_areas(baseline.trace, shown)
        elif shown is not None:
            self.view.show_rows(shown, self.only.isChecked())
            if by != self._shown_by:  # other rows: the old scroll position means nothing
                self.view.scrollToTop()
            self.ways.setCurrentWidget(self.view)
            self._show_count(shown)
        self._shown_by = by
        self._say_inner(shown)
        self._follow()

    def _show_areas(self, before: Trace, areas: tuple[CurveSet, CurveSet]) -> None:
        """Show the waves of both over the same cycles, as many as the longer of them took."""
        trace = self.session.trace.value
        assert trace is not None
        begin, width = trace.span.begin, max(before.span.width, trace.span.width)
        for (side, plot), curves in zip(self.plots.items(), areas, strict=True):
            plot.show_curves(curves, Message("{0}: waves", side))
            plot.canvas.show_whole(TimeWindow(begin, begin + width).padded(0.01))
        self.ways.setCurrentIndex(1)

    def _say_inner(self, shown: Shown) -> None:
        assert self.result is not None
        is_filtered = isinstance(shown, CompareRows) and len(shown) and not self.view.table.rowCount()
        self.inner.say(self.result.judgement.sentence if shown is None else ALL_WITHIN if is_filtered else "")

    def _show_verdict(self) -> None:
        comparison, baseline = self.result, self.session.baseline.value
        if comparison is None or baseline is None:
            return
        self.verdict.setText(f"{comparison.judgement.sentence}")
        ink = self.ui.theme.role(_ROLES[comparison.verdict]).name()
        self.verdict.setStyleSheet(f"font-weight: 600; color: {ink}")
        sides: str = Message("A is {0}, B the open capture.", baseline.name)
        if baseline.replicate is not None:
            sides += Message(" Noise is what {0} differs from A by.", baseline.replicate.name)
        facts = [f"{name} {value}" for name, value in numbers(comparison)]
        self.notes.setText(" ".join((sides, *comparison.notes)))
        self.verdict.setToolTip(tooltip("\n".join(facts)))
        self.verdict.setAccessibleDescription(translated(". ".join(facts)))

    def _filter(self) -> None:
        rows = self.view.rows
        if rows is not None and self.by != TIME:
            self.view.show_rows(rows, self.only.isChecked())
            self._show_count(rows)
            self._say_inner(rows)

    def _show_count(self, rows: CompareRows) -> None:
        real = int(np.count_nonzero(rows.is_real))
        self.detail.setText(Message("{0}, {1:,} beyond noise", plural(len(rows), "row"), real))

    @property
    def lines(self) -> np.ndarray:
        return NO_LINES if self.view.rows is None else self.view.rows.line

    def _follow(self) -> None:
        selection, rows = self.session.selection.value, self.view.rows
        if rows is not None and self.by in ("instruction", SIDE_BY_SIDE) and selection.line is not None:
            super()._follow()

    def caption(self) -> str:
        if self.change is not None:
            return verdict(self.change)
        return "" if self.result is None else self.result.judgement.sentence

    def command_line(self) -> command_text.CommandWords | None:
        baseline, trace = self.session.baseline.value, self.session.trace.value
        if baseline is None or trace is None or self.by == TIME:
            return None
        of = (baseline.trace, trace) if self.change is None else (self.change.a, self.change.b)
        words = ("rcv", "compare", *map(command_text.path_word, of))
        if self.change is not None:
            by = (f"--by={self.by}",) if self.by in PROGRAM_TABLES else ()
            return (*words, *by, "--top=0")
        real = ("--beyond-noise",) if self.only.isChecked() else ()
        return (*words, f"--by={self.by}", *real, *command_text.sorting(self.view.table), "--top=0")

    def sheet(self) -> Sheet | None:
        table = self.view.table
        if self.change is not None and self.by in PROGRAM_TABLES:
            table = self.program.table
        elif self.result is None or self.view.rows is None or self.by == TIME:
            return None
        return Sheet(Message("Compare: {0}", MODES[self.by]), table.headers, table.table())
