"""Busy time of the units of a compute unit: one row per unit, blank while idle."""

import numpy as np
from PySide6.QtWidgets import QSizePolicy

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.occupancy import waves_of_unit
from rcv_py.analysis.device.utilization import Track, unit_title, utilization
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow
from rcv_py.base.record import Value
from rcv_py.base.text import Message, percent, plural
from rcv_py.model.ids import place_name
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import READING, Sheet, UiContext
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, rich, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table import command_text
from rcv_py.ui.timeline.rows_item import RowName, RowShape
from rcv_py.ui.timeline.timeline_plot import TimelinePanel, unit_of
from rcv_py.ui.timeline.token_rows import TokenRows, span_segment
from rcv_py.ui.timeline.token_tip import Action, token_actions, token_at, token_tip
from rcv_py.ui.widgets.empty_state import page

REBUILD_MS = 400  # ms while waves arrive: every rebuild sorts all their tokens
NOTES = {
    True: "Bars are issue time; of the matrix pipe, passes.",
    False: "Bars are execution time; of the matrix pipe, passes.",
}
TIPS = {
    True: "On gfx9 a unit may work on after its bar ends. The matrix pipe works for the passes of each "
    "instruction, as in Findings.",
    False: "The matrix pipe works for the passes of each instruction, as in Findings.",
}
ROW_PX = 16


class Unit(Value):
    """A track with its drawing data."""

    title: str
    track: Track
    segment: RowSegment
    covered: IntervalSet


class UnitTracks(Value):
    """The tracks of a compute unit."""

    units: tuple[Unit, ...] = ()
    place: str = ""
    read: int = 0  # waves
    waves: int = 0


def units_of(trace: Trace, store: WaveStore, chosen: np.ndarray, place: str) -> UnitTracks:
    """Return the units' tracks from the loaded waves among the chosen waves."""
    waves = [wave for row in chosen.tolist() if (wave := store.wave(row)) is not None]
    units, slack = [], trace.architecture.issue_overlap
    for track in utilization(waves, trace) if waves else ():
        segment = span_segment(track.start, track.end, track.kind, slack=slack)
        covered = IntervalSet.of(track.start, track.end)
        _ = covered.offset  # made here, in a thread: it answers for any share of the view
        units.append(Unit(unit_title(track.name, trace.architecture.layout), track, segment, covered))
    return UnitTracks(tuple(units), place, len(waves), len(chosen))


class UtilizationPanel(TimelinePanel):
    """When each unit of the compute unit was busy, and for what share of the view."""

    def __init__(self, ui: UiContext) -> None:
        self.source = TokenRows(ui.theme, RowShape(grown(ROW_PX), strip=0, gap=4))
        super().__init__(ui, self.source, "Timeline of the units of a compute unit")
        self.units = UnitTracks()
        self._unit: tuple[int, ...] | None = None
        ui.settings.cell("look.text_size").watch(self._text_changed)
        self._note, self._progress = ElidedLabel(role="muted"), PlainLabel(role="muted")
        self.captioned = self._note
        # The note has its room before the legend, which names in its tooltip what does not fit.
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._page = page(self, bar((self.legend, 1), self._note, self._progress), (self.timeline, 1))
        self._rebuild = self.request(self._start, REBUILD_MS)
        self.session.trace.watch(self._trace_changed)
        self.session.loaded.watch(self._rebuild.update)
        self.session.selection.watch(self._selection_changed)
        self.session.window.watch(self._window_changed)
        self._trace_changed()

    def _text_changed(self) -> None:
        self.source.shape = RowShape(grown(ROW_PX), strip=0, gap=4)
        self.timeline.plot.rows_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self._unit = self.hovered_place = None
        self._show(UnitTracks())
        empty = self.why_missing("waves")
        self._page.say(empty or READING)
        if trace is not None:
            self._note.setText(NOTES[trace.architecture.busy_is_issue])
            self._note.setToolTip(tooltip(TIPS[trace.architecture.busy_is_issue]))
        if not empty:
            self._rebuild.ask()

    def _start(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        row = self.session.wave_row
        if trace is None or store is None or row is None:
            return
        self._unit = unit_of(trace, row)
        chosen, place = waves_of_unit(trace, row), place_name(*self._unit, unit=trace.architecture.unit_name)
        self._rebuild.run(lambda: units_of(trace, store, chosen, place), self._show)

    def _selection_changed(self) -> None:
        trace, row = self.session.trace.value, self.session.wave_row
        if row is not None and self._unit is not None and unit_of(trace, row) != self._unit:
            self._rebuild.now()

    def _show(self, units: UnitTracks) -> None:
        self.units = units
        names = [RowName(unit.title) for unit in units.units]
        self.source.set_rows([TokenRow((unit.segment,)) for unit in units.units], names)
        store = self.session.store
        lost = units.waves - units.read if store is not None and store.is_complete else 0
        text = Message("{0} · {1}", units.place, plural(units.read, "wave"))
        if units.read + lost < units.waves:
            text = Message("reading waves {0:,} of {1:,}", units.read, units.waves)
        if lost:
            text = Message("{0} · {1} cannot be read", text, plural(lost, "wave"))
        self._progress.setText(text)
        if units.units or self.why_unread():
            self._page.say(self.why_unread())
        self._window_changed()

    def _recorded(self, window: TimeWindow) -> TimeWindow:
        """Return the cycles of a range that the capture covers: beside it nothing is known, and not idle."""
        trace = self.session.trace.value
        return (trace and trace.within((window.begin, window.end))) or window

    def _window_changed(self) -> None:
        window = self._recorded(self.session.window.value)
        busy = (unit.covered.inside(window) for unit in self.units.units)
        self.source.values = tuple(percent(cycles, window.width) for cycles in busy)
        self.timeline.plot.rows_changed()

    def command_line(self) -> command_text.CommandWords | None:
        where = (*command_text.wave(self.session, "of"), *command_text.within(self.session))
        return command_text.rcv(self.session, "units", *where) if self.units.units else None

    def sheet(self) -> Sheet:
        window = self._recorded(self.session.window.value)
        busy = ((unit.title, unit.covered.inside(window)) for unit in self.units.units)
        rows = [(title, cycles, window.width, round(cycles / window.width, 6)) for title, cycles in busy]
        return Sheet("Utilization", ("unit", "busy cycles", "cycles in view", "share"), rows)

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace, place = self.session.trace.value, self._bar_at(row, time)
        if trace is None or not 0 <= row < len(self.units.units):
            return ""
        name, busy = self.source.names[row].label, self.source.values[row]
        head = rich("<b>{}</b> busy for {} of the view<br>", name, busy)
        if place is None:
            return rich("<qt>{}idle here</qt>", head)
        store, wave_row, token = self.session.store, *place
        wave = None if store is None else store.wave(wave_row)
        if wave is None or store is None:
            return rich("<qt>{}an instruction of the sibling SIMD</qt>", head)
        span = TimeWindow(wave.begin, wave.end)
        segment = RowSegment.of(wave.tokens, wave.states, store.lod(wave_row), span, wave_row)
        return head + token_tip(trace, self.times, wave, segment, token, pixel=TimeWindow(time, time + 1))

    def hovered(self, row: int, time: int) -> None:
        trace, store, place = self.session.trace.value, self.session.store, self._bar_at(row, time)
        if place is None or trace is None or store is None:
            self.point_at(row, time)
            return
        segment = self.units.units[row].segment
        at = token_at(segment, time, self.timeline.plot.pixel_at(time))
        wave = store.wave(place[0])
        line = -1 if wave is None else int(wave.tokens.line[place[1]])
        self.point_at(row, time, segment.tokens.span(at), wave, line)

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select the instruction that kept the unit busy; a double click fits it."""
        trace, place = self.session.trace.value, self._bar_at(row, time)
        if trace is not None and place is not None and place[0] >= 0:
            self.session.select_token(trace.waves.id(place[0]), place[1], stays=True)
            if is_double:
                self.session.fit_selection()

    def actions_at(self, row: int, time: int) -> list[Action]:
        trace, store, place = self.session.trace.value, self.session.store, self._bar_at(row, time)
        wave = None if store is None or place is None else store.wave(place[0])
        if trace is None or wave is None or place is None:
            return [self.copy_action]
        return [*token_actions(self.session, trace, wave, place[1], self.wants.emit), self.copy_action]

    def measured(self, window: TimeWindow, row: int) -> str:
        if not 0 <= row < len(self.units.units):
            return ""
        window = self._recorded(window)
        busy = self.units.units[row].covered.inside(window)
        return Message("{0} busy for {1}", self.source.names[row].label, percent(busy, window.width))

    def _bar_at(self, row: int, time: int) -> tuple[int, int] | None:
        """Return (row of the wave index, token row) of the bar at a time."""
        if not 0 <= row < len(self.units.units):
            return None
        unit = self.units.units[row]
        at = token_at(unit.segment, time, self.timeline.plot.pixel_at(time))
        return None if at < 0 else (int(unit.track.wave[at]), int(unit.track.token[at]))
