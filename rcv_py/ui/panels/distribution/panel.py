"""All hits of the selected instruction: how long they took, which were the slowest, and where those are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QComboBox, QSplitter, QToolButton, QVBoxLayout, QWidget

from rcv_py.analysis.cost.distribution import MEASURE_TEXT, MEASURES, LineHits, line_hits
from rcv_py.analysis.cost.distribution_view import GROUPS, LISTED, DistributionView, Wanted, distribution_view
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.findings.engine_choice import only
from rcv_py.base.text import count, plural
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import tooltip, with_tip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.panels.distribution.hit_table import hit_columns
from rcv_py.ui.panels.distribution.spread_colors import bar_colors
from rcv_py.ui.panels.distribution.spread_plot import SpreadPlot
from rcv_py.ui.table import command_text
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import page, reason

NO_LINE = "Select an instruction to see how long each of its hits took, and which were the slowest."
NO_HIT = "No wave that has been read ran this instruction."
NO_WAVES = "This capture has no traced waves, so no hit of an instruction has a time."
ONLY_ONCE = "No wave ran this instruction twice, so there is no time since the hit before."
STREAM_MS = 800
MEASURE_NAMES = {
    "latency": "Latency",
    "stall": "Stall",
    "idle": "Idle before",
    "since": "Since the hit before",
}
GROUP_NAMES = {"none": "All hits", "engine": "By shader engine", "wave": "Selected wave"}


@panel(
    id="distribution",
    title="Distribution",
    area="bottom",
    order=50,
    tip="The times of all hits of the selected instruction.",
)
class DistributionPanel(Panel):
    """A histogram, and a table of the slowest hits or of those of a bar; a row goes to its token."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view: DistributionView | None = None
        self._hits: _Known | None = None
        self._bin = -1  # whose hits are listed, -1: the slowest
        self.shown = np.zeros(0, dtype=np.int64)  # rows of the hits in the table
        self.plot = SpreadPlot(ui.theme)
        self.table = RowsView(ui.theme, ui.settings)
        self.table.setAccessibleName("Hits of the selected instruction, the slowest first")
        self.title, self.note, self.listed = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self.measure = _choice("What is measured of every hit", MEASURE_NAMES)
        self.scale = _choice("Scale of the times", {"linear": "Linear", "log": "Logarithmic"})
        self.group = _choice("What splits the bars", GROUP_NAMES)
        self.faster, self.slower = QToolButton(), QToolButton()
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self._lay_out()
        self._connect()
        self._open()

    def _lay_out(self) -> None:
        for label in (self.note, self.listed):
            label.setProperty("role", "muted")
        self.title.setFont(self.ui.theme.mono)
        picks = (self.measure, self.scale, self.group, self.faster, self.slower)
        choices = bar((self.title, 1), (self.note, 1), *picks)
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.listed.setContentsMargins(8, 2, 8, 0)
        column.addWidget(self.listed)
        column.addWidget(self.table, 1)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.plot)
        self.split.addWidget(right)
        self.split.setSizes([620, 520])
        self.split.setChildrenCollapsible(False)
        self.empty = page(self, choices, (self.split, 1))

    def _connect(self) -> None:
        session = self.session
        for box in (self.measure, self.scale, self.group):
            box.activated.connect(self._choices_changed)
        for button, command in zip((self.faster, self.slower), self.commands(), strict=True):
            button.setToolTip(tooltip(f"{command.title}  ({command.shortcuts[0]})"))
            button.setAccessibleName(command.title)
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(lambda _=False, command=command: command.run())
        self.plot.chosen.connect(self._list_bin)
        self.plot.bars_changed.connect(lambda _: self._wanted.ask())
        self.table.chosen.connect(self._go)
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.loaded.watch(self._more_waves)
        session.waves.watch(self._more_waves)
        self.ui.theme.changed.connect(self._restyle)
        self._restyle()

    def commands(self) -> tuple[Command, ...]:
        """Steps in the order of times."""

        def why_not() -> str:
            return "" if self.view is not None else "Select an instruction that was executed first."

        return (
            Command(
                "go.faster_hit",
                "Next faster hit of this line",
                "Go",
                lambda: self._step(-1),
                ("Alt+[",),
                "Select the hit of this instruction that took next less time, in any wave.",
                why_not,
            ),
            Command(
                "go.slower_hit",
                "Next slower hit of this line",
                "Go",
                lambda: self._step(1),
                ("Alt+]",),
                "Select the hit of this instruction that took next more time, in any wave.",
                why_not,
            ),
        )

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._hits = None
        self._stream.reset()
        self._show(None)
        self._wanted.ask()

    def _line(self) -> int | None:
        trace, line = self.session.trace.value, self.session.selection.value.line
        return line if trace is not None and line is not None and 0 <= line < len(trace.code) else None

    def _key(self) -> tuple[int | None, tuple[WaveBatch, ...]]:
        store = self.session.store
        return self._line(), () if store is None else store.batches

    def _want(self) -> Wanted:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        row = trace.waves.row(wave) if trace is not None and wave is not None else None
        group = GROUPS[self.group.currentIndex()]
        return Wanted(
            MEASURES[self.measure.currentIndex()],
            self.plot.bars_wanted,
            self.scale.currentIndex() == 1,
            group,
            row if row is not None and group == "wave" else -1,
        )

    def _more_waves(self) -> None:
        store = self.session.store
        if self._line() is not None and store is not None:
            (self._wanted if store.is_complete else self._stream).ask()

    def _compute(self) -> None:
        trace = self.session.trace.value
        (line, batches), wanted = self._key(), self._want()
        if trace is None or line is None or not batches:
            self._show(None)
            return
        known, step = self._hits, trace.base_clock
        name, ways = self.session.waves.value, self.ui.results.ways
        if known is not None and (known.line, known.batches, known.waves) != (line, batches, name):
            known = None
        self._stream.started()

        def job() -> tuple[_Known, DistributionView]:
            rows = ways.choice(trace, batches, name).rows
            own = batches if rows is None else only(batches, rows)
            found = known or _Known(line, batches, line_hits(own, line), name)
            return found, distribution_view(found.hits, wanted, step)

        self.run_job(job, only_for(self.session, self._take))

    def _take(self, answer: tuple[_Known, DistributionView]) -> None:
        self._stream.finished()
        known, view = answer
        if known.line != self._line():
            return
        is_same = self._hits is not None and self._hits.line == known.line
        if self.view is None or not is_same or self.view.wanted.shape != view.wanted.shape:
            self._bin = -1
        self._hits = known
        self._show(view)

    # -- showing ------------------------------------------------------------------------------------

    def _show(self, view: DistributionView | None) -> None:
        has = view is not None and view.spread is not None
        self.view = view if has else None
        self.empty.say("" if has else self._why_empty(view))
        self.plot.show_view(self.view, () if view is None else bar_colors(view))
        self.plot.select(self._bin)
        self._say()
        self._list()
        self._mark()

    def _why_empty(self, view: DistributionView | None) -> str:
        trace = self.session.trace.value
        if trace is None:
            return reason(None, "distribution", NO_LINE)
        if not len(trace.waves):
            return reason(trace, "distribution", NO_WAVES)
        if self._line() is None:
            return NO_LINE
        if view is not None and len(view.hits):
            return ONLY_ONCE
        store = self.session.store
        return "Waves are being read." if store is not None and not store.batches else NO_HIT

    def _say(self) -> None:
        trace, store, line = self.session.trace.value, self.session.store, self._line()
        text = (
            "" if trace is None or line is None else f"{line}  {trace.code.text[line]}{beside(trace, line)}"
        )
        self.title.setText(text)
        self.title.setToolTip(tooltip(text))
        note = ""
        if self.view is not None and trace is not None and store is not None:
            found = self.view.spread
            assert found is not None
            note = f"{plural(found.count, 'hit')}, mean {found.mean:,.1f}, sum {count(found.total)} cycles"
            note = " · ".join(filter(None, (waves_note(self.session), note)))
        self.note.setText(note)
        self.note.setToolTip(tooltip(note))

    def _list(self) -> None:
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            self.shown = np.zeros(0, dtype=np.int64)
            return
        if self._bin >= 0:
            rows = view.in_bin(self._bin)
            what = f"{plural(len(rows), 'hit')} of {self.plot.range_text(self._bin)}"
        else:
            rows, what = view.slowest(), "The slowest hits"
        self.shown = rows[:LISTED]
        more = f", {LISTED} of them listed" if len(rows) > LISTED else ""
        self.listed.setText(f"{what}{more}, largest {MEASURE_NAMES[view.wanted.measure].lower()} first")
        self.table.show_columns(hit_columns(trace.waves, view.hits, self.shown, view.wanted.measure))

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        known = self._hits.line if self._hits is not None else None
        is_other_wave = self.view is not None and self.view.wanted != self._want()
        is_back = self.view is None and self._line() is not None
        if self._line() != known or is_other_wave or is_back:
            if self._line() != known:
                self._bin = -1
            self._wanted.ask()
        else:
            self._mark()

    def _selected_row(self) -> int:
        token, view = self.session.token(), self.view
        return -1 if token is None or view is None else view.hits.row_of(token[0].row, token[1])

    def _mark(self) -> None:
        """Point at the selected hit, in the plot and in the table."""
        row, view = self._selected_row(), self.view
        value = None if row < 0 or view is None else int(view.values[row])
        self.plot.mark_token(value if value is not None and value >= 0 else None)
        at = np.flatnonzero(self.shown == row) if row >= 0 else np.zeros(0, dtype=np.int64)
        self.table.set_current(int(at[0]) if len(at) else -1)

    def _list_bin(self, bar: int) -> None:
        self._bin = bar
        self._list()
        self._mark()

    def _go(self, at: int) -> None:
        if 0 <= at < len(self.shown):
            self._select(int(self.shown[at]))

    def _step(self, direction: int) -> None:
        if self.view is None:
            return
        row = self.view.step(self._selected_row(), direction)
        if row >= 0:
            self._select(row)

    def _select(self, row: int) -> None:
        trace, view = self.session.trace.value, self.view
        if trace is not None and view is not None:
            self.session.select_token(trace.waves.id(int(view.hits.wave[row])), int(view.hits.token[row]))

    def _choices_changed(self) -> None:
        self.measure.setToolTip(tooltip(MEASURE_TEXT[MEASURES[self.measure.currentIndex()]]))
        self._bin = -1
        self._wanted.ask()

    def _restyle(self) -> None:
        self.faster.setIcon(icon(self.ui.theme, "back"))
        self.slower.setIcon(icon(self.ui.theme, "forward"))
        self.title.setFont(self.ui.theme.mono)

    # -- what the shell asks ------------------------------------------------------------------------

    def canvas(self) -> QWidget:
        """Bar, plot and table."""
        return self.empty

    def caption(self) -> str:
        """Line, measure and number of hits."""
        if self.view is None:
            return ""
        return f"line {self._line()}, {MEASURE_NAMES[self.view.wanted.measure].lower()}, {self.note.text()}"

    def command_line(self) -> command_text.Words | None:
        """The bars, and the hits that are listed."""
        line, view = self._line(), self.view
        if line is None or view is None:
            return None
        shape = (
            f"--by={view.wanted.measure}",
            f"--bars={view.wanted.bins}",
            *(("--log",) if view.wanted.is_log else ()),
        )
        listed = (f"--bar={self._bin}",) if self._bin >= 0 else ()
        return command_text.rcv(self.session, "line", str(line), *shape, *listed, f"--top={LISTED}")

    def sheet(self) -> Sheet | None:
        """All hits, the slowest first."""
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            return None
        columns = hit_columns(trace.waves, view.hits, view.ranked, view.wanted.measure)
        rows = zip(*(np.asarray(column.values).tolist() for column in columns), strict=True)
        return Sheet("Distribution", tuple(column.title for column in columns), rows)

    def save_state(self) -> dict[str, Any]:
        """Measure, scale and split."""
        return {
            "measure": self.measure.currentIndex(),
            "scale": self.scale.currentIndex(),
            "group": self.group.currentIndex(),
            "table": self.table.save_state(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        for name, box in (("measure", self.measure), ("scale", self.scale), ("group", self.group)):
            at = state.get(name)
            if isinstance(at, int) and 0 <= at < box.count():
                box.setCurrentIndex(at)
        self.table.load_state(state.get("table") or {})
        self._choices_changed()


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Hits that were looked up already: of which line, in which batches."""

    line: int
    batches: tuple[WaveBatch, ...]
    hits: LineHits
    waves: str  # of which waves, by name


def _choice(name: str, entries: dict[str, str]) -> QComboBox:
    box = with_tip(QComboBox(), f"{name}.")
    box.setAccessibleName(name)
    box.addItems(list(entries.values()))
    box.setMinimumContentsLength(6)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box
