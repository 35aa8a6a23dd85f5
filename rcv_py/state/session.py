"""The central mutable state: the open capture, the selection and the view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.waves.populations import (
    WORKING,
    Populations,
    WaveChoice,
    by_typicality,
    chosen_or_working,
)
from rcv_py.base.problems import Problem
from rcv_py.base.progress import Stage
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending
from rcv_py.model.ids import WaveId
from rcv_py.model.modes import LatencyMode, SourceCost, Which
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.cell import Cell
from rcv_py.state.executions import ALL, CountedExecutions, ExecutionQuery, ExecutionSearch
from rcv_py.state.notes import SessionNotes
from rcv_py.state.selection import History, Hover, MeasuredPair, SearchQuery, Selection, Visit, moved
from rcv_py.state.wave_store import Snapshot, WaveStore

if TYPE_CHECKING:  # they import analyses that most sessions do not need
    from rcv_py.analysis.compare.costs import CaptureCosts
    from rcv_py.analysis.device.wave_states import StateStrip
    from rcv_py.analysis.whatif.asked import ChangeRequest

MIN_WINDOW = 16  # cycles
MAX_TRIED = 64  # typical waves, of which one should have run an instruction
MIN_VISIBLE_PX = 24  # a narrower selected token is hard to see among others
REVEAL_PX = 40  # its width after zooming in


class Baseline(Record):
    """A capture with the costs of all its waves; its tokens are not kept."""

    trace: Trace
    costs: CaptureCosts
    strip: StateStrip | None = None  # waves by state over time
    replicate: Baseline | None = None  # another capture of the same build: their differences are noise

    @property
    def name(self) -> str:
        """The name of the capture's folder."""
        return self.trace.name


class Session:
    """Cells, and the verbs that are the only way to change them.

    A watcher must not compute: it schedules (`update()`, `tasks.run`).  A verb that changes two cells sets
    both before any watcher could paint.
    """

    def __init__(self) -> None:
        self.trace: Cell[Trace | None] = Cell(None)
        self.loaded = Cell(0)  # incremented with every batch of waves
        self.selection = Cell(Selection())
        self.executions = ExecutionSearch(self)
        self.view = Cell(TimeWindow(0, 1))  # live during a gesture, for drawing
        self.window = Cell(TimeWindow(0, 1))  # committed, for computing
        self.clock_range: Cell[TimeWindow | None] = Cell(None)  # overlapping waves count; None: the default
        self.hover: Cell[Hover | None] = Cell(None)
        self.measure: Cell[TimeWindow | None] = Cell(None)  # stays until dismissed
        self.between: Cell[MeasuredPair | None] = Cell(None)  # as long
        self.plot_px = 1000  # width of the time view that was resized last
        self.bookmarks: Cell[tuple[Selection, ...]] = Cell(())
        self.looked_at: Cell[tuple[int, ...]] = Cell(())  # rows of visible waves, to be read again if needed
        self.query = Cell(SearchQuery())
        self.latency_mode = Cell(LatencyMode.SUM_ALL)
        self.source_cost = Cell(SourceCost.SELF)
        self.isolated_wait: Cell[int | None] = Cell(None)  # only the arrows of this code row are shown
        self.problems: Cell[tuple[Problem, ...]] = Cell(())
        self.busy: Cell[tuple[Stage, ...]] = Cell(())
        self.visited = Cell(0)  # incremented when the history changes
        self.reasons = Cell(0)  # incremented when reasons why panel commands cannot run may have changed
        self.baseline: Cell[Baseline | None] = Cell(None)  # capture to compare the open capture with
        self.experiments: Cell[tuple[ChangeRequest, ...]] = Cell(())  # of the user, the newest first
        self.remedy = Cell("")  # title of the finding whose remedy What if shows
        self.notes = SessionNotes()
        self.waves = Cell(WORKING)  # whose costs are explained: working, all, or the id of a population
        self.populations: Cell[Populations | None] = Cell(None)  # of the waves that were read, once known
        self.run_files: tuple[Path, ...] = ()  # tables of the run; none: those near each capture
        self.store: WaveStore | None = None
        self.history = History()
        self._stages: dict[str, Stage] = {}  # by the work that reached it
        self._reported: dict[str, tuple[Problem, ...]] = {}
        self._first: Selection | None = None  # selection on opening, until the user selects something
        self._first_line: int | None = None  # its instruction, once known

    def open(self, trace: Trace) -> None:
        """Show a trace: a typical wave selected (one that works, once that is known), all in view."""
        if self.store is not None:
            self.store.end_answers()
        self.store = WaveStore(trace)
        self.history = History()
        typical = by_typicality(trace, range(len(trace.waves)))
        self._first_line = None
        marks: tuple[Cell[Any], ...] = (self.hover, self.measure, self.between, self.isolated_wait)
        for cell in (*marks, self.clock_range):
            cell.set(None)
        lists: tuple[Cell[Any], ...] = (self.bookmarks, self.looked_at, self.experiments)
        for cell in lists:
            cell.set(())
        self.remedy.set("")
        self.notes.forget()
        self.trace.value = None  # the cells below are about the new trace: none may use the old
        self.waves.value, self.populations.value = WORKING, None
        self._first = self.selection.value = Selection(trace.waves.id(typical[0]) if typical else None)
        self.view.value = self.window.value = self.outer(trace)
        self._reported = {}
        self.executions.forget()
        self.problems.set(trace.problems)
        self.loaded.value = 0
        self.trace.set(trace)
        for cell in (self.selection, self.view, self.window, self.loaded, self.waves, self.populations):
            cell.notify()
        self._remember()

    def complete(self, trace: Trace) -> None:
        """Show the whole capture after its beginning; keep the user's selection and view."""
        part, here, first = self.trace.value, self.selection.value, self._first
        marks, counted, view = self.bookmarks.value, self.clock_range.value, self.view.value
        assert part is not None
        self.open(trace)
        self.bookmarks.set(tuple(moved(mark, part, trace) for mark in marks))
        self.clock_range.set(counted)
        if here != first:
            self.select(moved(here, part, trace), stays=True)
        if view != self.outer(part):
            self.set_view(view)

    def close(self) -> None:
        """Close the capture; then nothing is shown."""
        if self.store is not None:
            self.store.end_answers()
        self.store = None
        self.populations.set(None)
        self.executions.sought.set(None)
        self.selection.set(Selection())
        self.problems.set(())
        self.notes.forget()
        self.trace.set(None)

    def add_experiment(self, asked: ChangeRequest) -> None:
        """Add an experiment as the newest; move an existing one to the front."""
        self.experiments.set((asked, *(one for one in self.experiments.value if one != asked)))

    def drop_experiment(self, asked: ChangeRequest) -> None:
        """Remove an experiment."""
        self.experiments.set(tuple(one for one in self.experiments.value if one != asked))

    @property
    def is_streaming(self) -> bool:
        """Whether more waves may arrive."""
        return bool(self.busy.value) and self.store is not None and not self.store.is_complete

    def snapshot(self) -> Snapshot:
        """Return the waves that were read, for a job; a capture must be open."""
        assert self.store is not None
        return self.store.snapshot(self.is_streaming)

    def show_stage(self, work: str, stage: Stage | None) -> None:
        """Show how far some work is, after all other work; None: it has ended."""
        self._stages.pop(work, None)
        if stage is not None:
            self._stages[work] = stage
        self.busy.set(tuple(self._stages.values()))

    def wave_loaded(self) -> None:
        """Notify watchers that the store has more waves."""
        self._select_first()
        self.loaded.set(self.loaded.value + 1)

    def invalidate_command_states(self) -> None:
        """Notify watchers that reasons why commands cannot run may have changed, though no other cell did."""
        self.reasons.set(self.reasons.value + 1)

    def report(self, analysis: str = "", problems: tuple[Problem, ...] = ()) -> None:
        """Replace the problems of an analysis; they are listed after the problems of trace and waves."""
        if self.trace.value is None or self.store is None:
            return
        if analysis:
            if not problems and analysis not in self._reported:
                return
            self._reported[analysis] = problems
        found = (problem for part in self._reported.values() for problem in part)
        self.problems.set((*self.trace.value.problems, *self.store.problems, *found))

    def take_populations(self, found: Populations) -> None:
        """Set the populations of waves; select a working wave unless the user has selected something."""
        self.populations.set(found)
        self.executions.find_again()
        self._select_first()

    def begin_at(self, line: int) -> None:
        """Select an instruction in a typical wave that ran it, unless the user has selected something."""
        self._first_line = line
        self._select_first()

    def _select_first(self) -> None:
        """Select the first place anew with what is known now; the view stays as it is."""
        trace, store, found = self.trace.value, self.store, self.populations.value
        if trace is None or store is None or self._first is None or self.selection.value != self._first:
            return
        line, every = self._first_line, frozenset(range(len(trace.waves))) - store.missing.keys()
        rows = every if found is None else found.working if line is None else found.reaching(trace.code, line)
        waves = by_typicality(trace, rows or every)
        place = Selection(self._first.wave, line)
        if waves:
            row = next((row for row in waves[:MAX_TRIED] if store.may_run(row, line)), waves[0])
            place = replace(place, wave=trace.waves.id(row), hit=store.usual_hit(row, line))
        place = self.with_source(place)
        if place != self._first:
            self._first = place
            self.selection.set(place)
            self.history = History()
            self._remember()

    @property
    def choice(self) -> WaveChoice | None:
        """The waves whose costs are explained, None until the populations are known."""
        found = self.populations.value
        return None if found is None else chosen_or_working(found, self.waves.value)

    def wave(self) -> TracedWave | None:
        """The selected wave, None while it is not loaded."""
        return None if self.store is None else self.store.wave_by_id(self.selection.value.wave)

    @property
    def wave_row(self) -> int | None:
        """Row of the selected wave in the wave index, None if there is none."""
        trace, wave = self.trace.value, self.selection.value.wave
        return None if trace is None or wave is None else trace.waves.row(wave)

    @property
    def line(self) -> int | None:
        """Row of the selected instruction in the code, None if there is none."""
        trace, line = self.trace.value, self.selection.value.line
        return line if trace is not None and line is not None and 0 <= line < len(trace.code) else None

    def token(self) -> tuple[TracedWave, int] | None:
        """The selected token as (wave, row), if a line and a hit are selected and the wave is loaded."""
        wave, selection = self.wave(), self.selection.value
        if wave is None or selection.line is None:
            return None
        row = wave.executions(selection.line).token(selection.hit)
        return None if row is None else (wave, row)

    def hits(self) -> int:
        """Number of executions of the selected line in the selected wave."""
        wave, line = self.wave(), self.selection.value.line
        return 0 if wave is None or line is None else len(wave.executions(line))

    @staticmethod
    def outer(trace: Trace) -> TimeWindow:
        """The widest window that makes sense for a trace: its span with a little room."""
        return trace.span.padded(0.01)

    @staticmethod
    def fitted(window: TimeWindow, outer: TimeWindow) -> TimeWindow:
        """Return a window inside of an outer window, and not too narrow to be drawn."""
        if window.width < MIN_WINDOW:
            begin = window.middle - MIN_WINDOW // 2
            window = TimeWindow(begin, begin + MIN_WINDOW)
        return window.clamped(outer)

    def select(self, selection: Selection, *, stays: bool = False) -> None:
        """Go to a place, remember it, and bring it into view.

        An execution that is hard to see is shown REVEAL_PX wide; with `stays` the zoom stays as it is.
        """
        self._first = None
        self.executions.sought.set(None)
        self.selection.set(self.with_source(selection))
        self._measure_to()
        self.reveal(0 if stays else MIN_VISIBLE_PX)
        self._remember()

    def select_wave(self, wave: WaveId) -> None:
        """Select a wave; the line stays selected, its first hit in the new wave with it."""
        old = self.selection.value
        if wave == old.wave:
            return
        hit = None if old.line is None else 0
        self.select(replace(old, wave=wave, hit=hit), stays=True)

    def show_token(self, wave: WaveId, row: int) -> None:
        """Select the token at `row` of a loaded wave, and show it REVEAL_PX wide or wider."""
        self.select_token(wave, row)
        self.reveal(REVEAL_PX)

    def select_token(self, wave: WaveId, row: int, *, stays: bool = False) -> None:
        """Select the token at `row` of a loaded wave; `stays` is as in `select`."""
        found = None if self.store is None else self.store.wave_by_id(wave)
        if found is None or not 0 <= row < len(found.tokens):
            return
        line = int(found.tokens.line[row])
        hit = None if line < 0 else found.executions(line).before(row)
        self.select(Selection(wave, None if hit is None else line, hit), stays=stays)

    def select_line(self, line: int) -> None:
        """Select a row of the code table, its source place, and the median of all its executions."""
        place = Selection(self.selection.value.wave, line, source=self._leaf(line))
        self.executions.find(ExecutionQuery(place))

    def select_hit(self, hit: int) -> None:
        """Select the n-th time, from 0, that the selected wave ran the selected line."""
        if 0 <= hit < self.hits():
            self.select(replace(self.selection.value, hit=hit))

    def select_execution(self, which: Which) -> None:
        """Select another execution of the selected line: the fastest, median or slowest, or the next one."""
        if self.selection.value.line is not None:
            self.executions.find(ExecutionQuery(self.selection.value, which))

    def select_lines(
        self, first: int, stop: int, cost: np.ndarray | None = None, among: CountedExecutions = ALL
    ) -> None:
        """Select a range of code rows and, in it, the most expensive one: the median of its executions.

        `cost` is int64 [stop - first], the cycles that a view counts in each row, by default of the code
        table.  The execution is searched `among` the counted ones.
        """
        trace = self.trace.value
        if trace is None or stop <= first:
            return
        if cost is None:
            cost = trace.code.latency[first:stop] + trace.code.idle[first:stop]
        line = first + int(np.argmax(cost))
        place = Selection(self.selection.value.wave, line, source=self._leaf(line), lines=(first, stop))
        self.executions.find(ExecutionQuery(place, among=among))

    def select_source(self, file: int, line: int) -> None:
        """Select a source line and the most expensive code line from it: the median of its executions."""
        trace, wave = self.trace.value, self.selection.value.wave
        if trace is None:
            return
        code = trace.code
        places = np.flatnonzero((code.chain_file == file) & (code.chain_line == line))
        rows = ascending(np.searchsorted(code.chain_first, places, side="right") - 1)
        if not len(rows):
            self.select(Selection(wave, source=(file, line)))
            return
        best = int(rows[np.argmax(code.latency[rows] + code.idle[rows])])
        self.executions.find(ExecutionQuery(Selection(wave, best, source=(file, line))))

    def step_token(self, direction: int) -> None:
        """Select the next (+1) or previous (-1) token of the selected wave."""
        token, wave = self.token(), self.wave()
        if wave is None or not len(wave.tokens):
            return
        row = max(0, wave.tokens.at(self.view.value.middle)) if token is None else token[1] + direction
        self.select_token(wave.id, min(max(row, 0), len(wave.tokens) - 1), stays=True)

    def step_hit(self, direction: int) -> None:
        """Select the next (+1) or previous (-1) time the wave ran the selected line."""
        selection, hits = self.selection.value, self.hits()
        if selection.line is None or not hits:
            return
        hit = 0 if selection.hit is None else min(max(selection.hit + direction, 0), hits - 1)
        self.select(replace(selection, hit=hit), stays=True)

    def toggle_bookmark(self) -> None:
        """Toggle the bookmark of the current place."""
        here, marks = self.selection.value, self.bookmarks.value
        kept = tuple(mark for mark in marks if mark != here)
        self.bookmarks.set(kept if len(kept) < len(marks) else (*marks, here))

    def back(self) -> None:
        """Go to the previous place."""
        self.go_to_visit(self.history.position - 1)

    def forward(self) -> None:
        """Undo `back`: go to the next place."""
        self.go_to_visit(self.history.position + 1)

    def go_to_visit(self, position: int) -> None:
        """Go to a place of the history, if there is one at this position."""
        visit = self.history.go(position)
        if visit is not None:
            self.executions.sought.set(None)
            self.selection.set(visit.selection)
            self.set_view(visit.window)
            self.visited.set(self.visited.value + 1)

    def set_view(self, window: TimeWindow, commit: bool = True) -> None:
        """Show a window of time; `commit`: the gesture is over."""
        trace = self.trace.value
        if trace is None:
            return
        window = self.fitted(window, self.outer(trace))
        self.view.set(window)
        if commit:
            self.window.set(window)

    def zoom(self, factor: float, at: int | None = None, commit: bool = True) -> None:
        """Make the view `factor` times as wide about a cycle (the middle by default)."""
        view = self.view.value
        self.set_view(view.zoomed(factor, view.middle if at is None else at), commit)

    def pan(self, share: float) -> None:
        """Move the view by a share of its width."""
        view = self.view.value
        self.set_view(view.moved(round(view.width * share)))

    def fit_all(self) -> None:
        """Show the whole span of time."""
        if self.trace.value is not None:
            self.set_view(self.outer(self.trace.value))

    def fit_selection(self) -> None:
        """Show the measure, the selected token with its neighbourhood, or the selected wave."""
        token, trace, wave = self.token(), self.trace.value, self.selection.value.wave
        if self.measure.value is not None:
            self.set_view(self.measure.value.padded(0.05))
        elif token is not None:
            span = token[0].tokens.span(token[1])
            # Some hundred cycles around it, but a short one is a fifteenth of the view: 40 px and more.
            self.set_view(span.padded(max(2.0, min(7.0, 100 / span.width))))
        elif trace is not None and wave is not None:
            self.fit_wave(wave)

    def fit_wave(self, wave: WaveId) -> None:
        """Show the whole life of a wave."""
        trace = self.trace.value
        row = None if trace is None else trace.waves.row(wave)
        if trace is not None and row is not None:
            self.set_view(trace.waves.span(row).padded(0.02))

    def with_source(self, selection: Selection) -> Selection:
        """Return a selection with the source place of its code line, if it has none; links have none."""
        if selection.source is not None or selection.line is None:
            return selection
        return replace(selection, source=self._leaf(selection.line))

    def _leaf(self, line: int) -> tuple[int, int] | None:
        trace = self.trace.value
        chain = [] if trace is None else trace.code.chain(line)
        return chain[0] if chain else None

    def measure_from(self) -> None:
        """Begin to measure at the selected instruction: the next selected instruction ends it."""
        line, token = self.selection.value.line, self.token()
        if line is not None:
            begin = None if token is None else token[0].tokens.span(token[1]).begin
            self.measure.set(None)
            self.between.set(MeasuredPair(line, begin=begin))

    def _measure_to(self) -> None:
        """End the measurement at the selected instruction, and measure the time between the executions."""
        asked, line, token = self.between.value, self.selection.value.line, self.token()
        if asked is None or asked.last is not None or line is None:
            return
        end = None if token is None else token[0].tokens.span(token[1]).end
        if asked.begin is not None and end is not None and end > asked.begin:
            self.measure.set(TimeWindow(asked.begin, end))
        self.between.set(replace(asked, last=line))

    def reveal(self, least_px: float = MIN_VISIBLE_PX) -> None:
        """Bring the selected token into view; if it is not `least_px` wide there, REVEAL_PX wide."""
        token, view = self.token(), self.view.value
        if token is None:
            return
        span = token[0].tokens.span(token[1])
        if span.width * self.plot_px < least_px * view.width:
            width = max(MIN_WINDOW, int(span.width * self.plot_px / REVEAL_PX))
            self.set_view(TimeWindow(span.middle - width // 2, span.middle - width // 2 + width))
            return
        if view.contains(span.begin) and (view.contains(span.end) or span.width > view.width):
            return
        if span.width < view.width // 2:
            self.set_view(view.moved(span.middle - view.middle))
        else:
            self.set_view(span.padded(0.2))

    def _remember(self) -> None:
        self.history.push(Visit(self.selection.value, self.view.value))
        self.visited.set(self.visited.value + 1)
