"""The waves of a compute unit, instruction by instruction, with what each wave was doing below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from rcv_py.analysis.events.event_table import NOT_ON_UNITS
from rcv_py.analysis.timeline.raster import Segment
from rcv_py.analysis.timeline.wave_places import waves_of_kernels, waves_of_unit
from rcv_py.base.text import plural
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, panel
from rcv_py.ui.core.plain_text import PlainLabel, joined
from rcv_py.ui.panels.compute_unit.line_ticks import LineTicks
from rcv_py.ui.table import command_text
from rcv_py.ui.table.filter_menu import Choice, FilterButton
from rcv_py.ui.timeline.event_lines import PREFIX, event_choices, event_lines
from rcv_py.ui.timeline.overlay import Line, Marks, Place
from rcv_py.ui.timeline.rows_item import RowShape
from rcv_py.ui.timeline.timeline_plot import Timeline
from rcv_py.ui.timeline.token_rows import TokenRows
from rcv_py.ui.timeline.token_tip import gap_tip, sibling_tip, state_tip, token_at, token_tip
from rcv_py.ui.timeline.unit_markers import UnitMarkers
from rcv_py.ui.timeline.wave_rows import WaveRows, kernel_choices, wave_rows
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.legend import Legend

NO_WAVES = (
    "No instruction detail: no wave ran on the traced compute unit. "
    "Record again with a larger grid, or choose another compute unit to trace."
)
LANE_PX, MOST_PX = 7, 42  # a sub-row of tokens that overlap, and how high they may make a row
NEAR_PX = 3  # how far from an event's line the mouse may be
REBUILD_MS = 150  # while waves arrive
MARKERS, VALUES, SIBLING, KERNEL = "markers", "values", "sibling", "kernel:"  # ids in the menu
LEGEND = (
    ("matrix", TokenKind.MATRIX),
    ("vector", TokenKind.VALU),
    ("scalar", TokenKind.SALU),
    ("scalar memory", TokenKind.SMEM),
    ("buffer", TokenKind.VMEM),
    ("global", TokenKind.FLAT),
    ("LDS", TokenKind.LDS),
    ("branch", TokenKind.JUMP),
    ("wait", TokenKind.IMMED),
)


@panel(id="compute_unit", title="Compute Unit", area="top", order=20, needs=("waves",))
class ComputeUnitPanel(Panel):
    """Every instruction of the waves of a compute unit over time, and the state of each wave."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.source = TokenRows(ui.theme, RowShape(ui.settings["timeline.row_height"]))
        self.timeline = Timeline(ui, self.source, self)
        self.timeline.plot.setAccessibleName("Timeline of the waves of a compute unit")
        self._unit: tuple[int, ...] | None = None
        self._lanes = 1
        self._lines: tuple[Line, ...] = ()
        self._segments: dict[int, Segment] = {}
        self._row_of_wave: dict[int, int] = {}
        self._selected: Place | None = None
        self._hovered: Place | None = None
        self._ticks = LineTicks(self.session)
        self.markers = UnitMarkers(self.session, self.source.band)
        self.timeline.plot.menu = self._menu
        self._build()
        self._rebuild = self.coalesced(self._start, REBUILD_MS)
        self.session.trace.watch(self._trace_changed)
        self.session.loaded.watch(self._rebuild.ask)
        self.session.selection.watch(self._selection_changed)
        ui.settings.cell("timeline.row_height").watch(self._height_changed)
        ui.results.cell("markers").watch(self._show_markers)
        ui.theme.changed.connect(self._theme_changed)
        self._theme_changed()
        self._trace_changed()

    def _build(self) -> None:
        self._which = QComboBox()
        self._which.addItems(["Unit of the selected wave", "All traced units"])
        self._which.setAccessibleName("Which compute units are shown")
        self._which.setToolTip("Which compute units are shown")
        self._which.currentIndexChanged.connect(self._which_changed)
        self.filter = FilterButton("the timeline of the compute unit", (PREFIX, MARKERS, VALUES, SIBLING))
        self.filter.changed.connect(self._filter_changed)
        self._legend = Legend()
        self._progress = PlainLabel()
        self._progress.setObjectName("muted")
        head = QHBoxLayout()
        head.setContentsMargins(8, 2, 8, 2)
        head.setSpacing(8)
        for widget in (self._which, self.filter, self._legend, self._progress):
            head.addWidget(widget, int(widget is self._legend))
        self._page = page(self, head, (self.timeline, 1))

    # -- rows -------------------------------------------------------------------------------------------

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self._segments, self._row_of_wave, self._unit = {}, {}, None
        self._selected = self._hovered = None
        self._offer_choices()
        self._show(WaveRows((), (), (), {}))
        empty = trace is None or not len(trace.waves)
        self._page.say(self.reason(NO_WAVES) if empty else "")
        if trace is not None and not empty:
            self._rebuild.ask()
            if trace.shader_data:
                self.want_result("markers")

    def _which_changed(self) -> None:
        self._unit = None
        self._rebuild.now()

    def _start(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None or not len(trace.waves):
            return
        wave = self.session.selection.value.wave
        row = None if wave is None or self._which.currentIndex() else trace.waves.row(wave)
        self._unit = self._unit_of(row)
        chosen, known = waves_of_unit(trace, row), dict(self._segments)
        hidden = self.filter.hidden
        names = {id.removeprefix(KERNEL) for id in hidden if id.startswith(KERNEL)}
        chosen, has_sibling = waves_of_kernels(trace, chosen, names), SIBLING not in hidden
        self.run_job(lambda: wave_rows(trace, store, chosen, known, has_sibling), self._show)

    def _unit_of(self, row: int | None) -> tuple[int, ...]:
        trace = self.session.trace.value
        if trace is None or row is None:
            return ()
        return tuple(int(column[row]) for column in (trace.waves.se, trace.waves.sa, trace.waves.cu))

    def _show(self, made: WaveRows) -> None:
        self._segments.update({part.key: part for row in made.rows for part in row.segments if part.key >= 0})
        self._row_of_wave = dict(made.row_of_wave)
        trace = self.session.trace.value
        self._lanes = max((part.lanes for row in made.rows for part in row.segments), default=1)
        self.source.texts = () if trace is None else trace.code.text
        self.source.set_rows(made.rows, made.names, made.pending)
        count = len(made.row_of_wave)
        read = count - len(made.pending)
        self._progress.setText(
            f"reading waves {read:,} of {count:,}" if made.pending else plural(count, "wave")
        )
        self._show_markers()

    def _show_markers(self) -> None:
        self.markers.show(self.ui.results.cell("markers").value, self._row_of_wave)
        self.source.shape = self._shape()
        self.source.version += 1
        self._find_selected()
        self.timeline.plot.rows_changed()

    # -- what is shown ----------------------------------------------------------------------------------

    def _offer_choices(self) -> None:
        trace = self.session.trace.value
        self.filter.forget(KERNEL)
        surfaces = []
        if trace is not None and trace.shader_data:
            surfaces += [Choice(MARKERS, "Markers", tip="Scopes of instrumented kernels, below each wave.")]
            surfaces += [Choice(VALUES, "Shader data", tip="A tick for every value the kernel wrote.")]
        if trace is not None and trace.other_simd:
            surfaces.append(Choice(SIBLING, "Sibling SIMD", tip="Memory instructions of the other SIMD."))
        self.filter.set_section("Rows and marks", surfaces)
        self.filter.set_section("Events", event_choices(trace, NOT_ON_UNITS))
        self.filter.set_section("Kernels", kernel_choices(trace, KERNEL))
        self._find_lines()

    def _find_lines(self) -> None:
        trace, hidden = self.session.trace.value, self.filter.hidden
        self._lines = () if trace is None else event_lines(trace, hidden, NOT_ON_UNITS)
        self.markers.has_spans, self.markers.has_values = MARKERS not in hidden, VALUES not in hidden

    def _filter_changed(self) -> None:
        self._find_lines()
        self._show_markers()
        self._rebuild.now()

    def save_state(self) -> dict[str, Any]:
        """What is shown, apart from kernels: those are of one capture."""
        return {"filter": self.filter.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.filter.load_state(state.get("filter"))

    def _selection_changed(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        row = None if trace is None or wave is None else trace.waves.row(wave)
        if self._unit is not None and not self._which.currentIndex() and self._unit != self._unit_of(row):
            self._rebuild.now()
        self._find_selected()
        self.timeline.plot.reveal_row(self.source.selected_row)
        self.timeline.plot.rows_changed()

    def _find_selected(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        index_row = None if trace is None or wave is None else trace.waves.row(wave)
        self.source.selected_row = -1 if index_row is None else self._row_of_wave.get(index_row, -1)
        token = self.session.token()
        self._selected = None
        if token is not None and self.source.selected_row >= 0:
            self._selected = Place(self.source.selected_row, token[0].tokens.span(token[1]))

    # -- looks ------------------------------------------------------------------------------------------

    def _height_changed(self) -> None:
        self.source.shape = self._shape()
        self.timeline.plot.rows_changed()

    def _shape(self) -> RowShape:
        """Rows are higher where tokens overlap, so that each sub-row can be seen."""
        room = min(self._lanes * LANE_PX, MOST_PX) if self._lanes > 1 else 0
        height = max(self.ui.settings["timeline.row_height"], room)
        return RowShape(height, band=self.source.band.height)

    def _theme_changed(self) -> None:
        self._legend.set_items([(self.ui.theme.kind(kind), name, KIND_TEXT[kind]) for name, kind in LEGEND])

    def command_line(self) -> command_text.Words | None:
        """The waves that are shown, with what they did in the view."""
        unit = command_text.wave(self.session, "unit-of") if self._which.currentIndex() == 0 else ()
        kernels = sorted(id.removeprefix(KERNEL) for id in self.filter.hidden if id.startswith(KERNEL))
        hidden = command_text.each("without-kernel", kernels)
        return command_text.rcv(self.session, "waves", *unit, *hidden, *command_text.within(self.session))

    def canvas(self) -> QWidget:
        """The widget a picture of this panel shows."""
        return self.timeline.plot

    # -- guide ------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """Selection, hover, ticks of the selected line, shader data, events, bookmarks."""
        plot = self.timeline.plot.rows
        first, stop = plot.rows_in_view(self.timeline.plot.box.height())
        ticks = self._ticks.of(self.source.rows, first, stop, plot.shown, self.source.version)
        data = self.markers.values(plot.shown, first, stop)
        selected = self.markers.place(self.markers.chosen, self.source.shape) or self._selected
        hovered = self.markers.place(self.markers.hovered, self.source.shape) or self._hovered
        return Marks(selected, hovered, ticks, data, self._lines, self._bookmarks())

    def _bookmarks(self) -> tuple[int, ...]:
        return tuple(
            time for mark in self.session.bookmarks.value if (time := self._ticks.time_of(mark)) is not None
        )

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        """Rich text about what is there, behind the events whose lines are near."""
        near = pixel.width * NEAR_PX
        events = [line.text for line in self._lines if abs(line.time - time) <= near][:4]
        is_low = is_strip or self.timeline.plot.band_y >= 0
        values = self.markers.value_tip(row, time, pixel) if is_low else ""
        text = self._place_tip(row, time, pixel, is_strip)
        return joined("<br>", (part for part in (values, *events, text) if part))

    def _place_tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace, segment = self.session.trace.value, self._segment(row, time, pixel)
        if trace is None:
            return ""
        if self.timeline.plot.band_y >= 0:
            return self.markers.tip(trace, span) if (span := self._span_at(row, time)) >= 0 else ""
        if segment is None:
            return self._pending_tip(row, time)
        wave = self._wave(segment)
        if is_strip and wave is not None:
            return state_tip(trace, wave, time)
        token = token_at(segment, time, pixel, self.timeline.plot.depth)
        if token < 0:
            return gap_tip(trace, wave, segment, time)
        text = token_tip(trace, wave, segment, token, pixel)
        return sibling_tip(text, self.source.group(row)) if wave is None else text

    def hovered(self, row: int, time: int) -> None:
        """Outline the token and tell the others."""
        pixel = self.timeline.plot.pixel_at(time)
        self.markers.hovered = self._span_at(row, time)
        if self.timeline.plot.band_y >= 0 and row >= 0:
            self._hovered = None
            self.session.hover.set(Hover(time=time))
            return
        segment = self._segment(row, time, pixel) if row >= 0 else None
        token = -1 if segment is None else token_at(segment, time, pixel, self.timeline.plot.depth)
        wave = None if segment is None else self._wave(segment)
        if segment is None or token < 0:
            self._hovered = None
            self.session.hover.set(Hover(wave.id if wave else None, time=time) if row >= 0 else None)
            return
        self._hovered = Place(row, segment.tokens.span(token))
        line = int(segment.tokens.line[token])
        self.session.hover.set(Hover(wave.id if wave else None, line if line >= 0 else None, time))

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select the token or the wave; a double click fits it."""
        trace, pixel = self.session.trace.value, self.timeline.plot.pixel_at(time)
        if (span := self._span_at(row, time)) >= 0:
            self.markers.choose(span, is_double)
            return
        self.markers.chosen = -1
        segment = self._segment(row, time, pixel)
        wave = None if segment is None else self._wave(segment)
        if trace is None:
            return
        if segment is None or wave is None:
            waiting = self._pending_at(row, time)
            if waiting is not None:
                self.session.select_wave(trace.waves.id(waiting))
            return
        token = token_at(segment, time, pixel, self.timeline.plot.depth)
        if token >= 0:
            self.session.select_token(wave.id, token)
        else:
            self.session.select_wave(wave.id)
        if is_double:
            self.session.fit_selection()

    def measured(self, window: TimeWindow, row: int) -> str:
        """How many tokens the row measured in has there."""
        if not 0 <= row < len(self.source.rows):
            return ""
        parts = self.source.rows[row].visible(window)
        count = sum((rows := part.rows_in(window)).stop - rows.start for part in parts)
        return f"{plural(count, 'token')} in {self.source.label(row)}"

    # -- asking -----------------------------------------------------------------------------------------

    def _span_at(self, row: int, time: int) -> int:
        plot = self.timeline.plot
        return self.markers.at(row, plot.band_y, time, plot.pixel_at(time))

    def _menu(self, row: int, time: int) -> list[tuple[str, Callable[[], None]]]:
        return [*self.markers.actions(self._span_at(row, time)), self.copy_action]

    def _segment(self, row: int, time: int, pixel: TimeWindow) -> Segment | None:
        if not 0 <= row < len(self.source.rows):
            return None
        found = self.source.rows[row].visible(pixel)
        return next((one for one in found if one.begin <= time < one.end), found[0] if found else None)

    def _wave(self, segment: Segment) -> Wave | None:
        return None if self.session.store is None else self.session.store.wave(segment.key)

    def _pending_at(self, row: int, time: int) -> int | None:
        return next(
            (one.key for one in self.source.pending if one.row == row and one.span.contains(time)), None
        )

    def _pending_tip(self, row: int, time: int) -> str:
        waiting, store = self._pending_at(row, time), self.session.store
        if waiting is None or store is None:
            return ""
        return store.missing.get(waiting, "The instructions of this wave are still being read.")
