"""The waves of a compute unit, instruction by instruction, with the state of each wave below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox

from rcv_py.analysis.core.occupancy import waves_of_kernels, waves_of_unit
from rcv_py.analysis.events.event_table import NOT_ON_UNITS
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow
from rcv_py.base.settings import OPTIONS
from rcv_py.base.text import Message, join_texts, plural, translated
from rcv_py.model.notes import Anchor
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import PlainLabel, joined, named, with_tip
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table import command_text
from rcv_py.ui.table.filter_menu import FilterItem
from rcv_py.ui.timeline import time_overlay
from rcv_py.ui.timeline.rows_item import RowShape, RowsItem
from rcv_py.ui.timeline.time_overlay import PREFIX, Line, Marks, RowPart
from rcv_py.ui.timeline.timeline_plot import TimelinePanel, near_lines, unit_of
from rcv_py.ui.timeline.token_rows import Pending, TokenRows, WaveRows, kernel_choices, wave_rows
from rcv_py.ui.timeline.token_tip import gap_tip, marker_tip, sibling_tip, state_tip, token_at, token_tip
from rcv_py.ui.timeline.unit_markers import UnitMarkers
from rcv_py.ui.widgets.empty_state import page

if TYPE_CHECKING:
    from rcv_py.ui.timeline.critical_path import CriticalPath

MAX_TOKENS = 300_000  # maximum tokens compared for one picture
Ticks = tuple[tuple[int, np.ndarray], ...]


def _ticks(rows: Sequence[TokenRow], first: int, stop: int, window: TimeWindow, line: int) -> Ticks:
    """Times of the tokens of an instruction by row; nothing if too many tokens are in view."""
    parts = [
        (row, segment.tokens, segment.rows_in(window))
        for row in range(first, min(stop, len(rows)))
        for segment in rows[row].visible(window)
    ]
    if sum(part.stop - part.start for _, _, part in parts) > MAX_TOKENS:
        return ()
    times = (
        (row, tokens.offset[part][tokens.line[part] == line].astype(np.int64) + tokens.base)
        for row, tokens, part in parts
    )
    return tuple((row, at) for row, at in times if len(at))


USUAL_PX = next(option.default for option in OPTIONS if option.name == "timeline.row_height")
LEAST_PX, LOW_STRIP_PX, LOW_GAP_PX = 9, 3, 2  # of reduced rows: names have room
LANE_PX, MAX_PX = 7, 42  # a sub-row of overlapping tokens, and the maximum height of its row
REBUILD_MS = 150  # while waves arrive
MARKERS, VALUES, SIBLING, PATH, KERNEL = "markers", "values", "sibling", "path", "kernel:"  # ids in the menu
PATH_TIP = (
    "The chain of events, each waiting for the previous event, that makes up the span of the "
    "compute unit. It is computed by replaying the recording when this is switched on."
)
WHICH = ("Unit of the selected wave", "All traced units")
STILL = "The instructions of this wave are still being read."
GONE = "The instructions of this wave are not in memory; a click reads them."


class ComputeUnitPanel(TimelinePanel):
    """Every instruction of the waves of a compute unit over time, and the state of each wave."""

    reports_all = True  # it is the first visible panel

    def __init__(self, ui: UiContext) -> None:
        self.source = TokenRows(ui.theme, RowShape(grown(ui.settings["timeline.row_height"])))
        name = "Timeline of the waves of a compute unit"
        remembered = (PREFIX, MARKERS, VALUES, SIBLING)
        super().__init__(ui, self.source, name, "the timeline of the compute unit", remembered)
        self._unit: tuple[int, ...] | None = None
        self._has_to_reveal = False  # the row of the selected wave, once it exists
        self._lanes = 1
        self._read = ""  # how many waves are shown
        self._lines: tuple[Line, ...] = ()
        self._segments: dict[int, RowSegment] = {}
        self._row_of_wave: dict[int, int] = {}
        self._ticks: Ticks = ()
        self._ticks_of: tuple[object, ...] = ()  # what they depend on: the overlay asks at every mouse move
        self.markers = UnitMarkers(self.session, self.source.band)
        self.path: CriticalPath | None = None  # computed once it is shown
        name = "Which compute units are shown"
        self._which = with_tip(named(QComboBox(), name), name)
        self._which.addItems(list(map(translated, WHICH)))
        self._which.currentIndexChanged.connect(self._which_changed)
        self.filter.changed.connect(self._filter_changed)
        self._progress = PlainLabel(role="muted")
        head = bar(self._which, self.filter, (self.legend, 1), self._progress, margins=(8, 2, 8, 2))
        self._page = page(self, head, (self.timeline, 1))
        self._rebuild = self.request(self._start, REBUILD_MS)
        self.session.trace.watch(self._trace_changed)
        self.session.loaded.watch(self._rebuild.update)
        self.session.selection.watch(self._selection_changed)
        self._sight = self.request(self._look_at)
        for cell in (self.session.window, self.session.busy):
            cell.watch(self._sight.ask)
        self.session.busy.watch(self._find_path_again)
        self.timeline.plot.scrolled.connect(self._sight.ask)
        self.timeline.plot.scrolled.connect(self._fit_rows)
        for option in ("timeline.row_height", "look.text_size"):
            ui.settings.cell(option).watch(self._fit_rows)
        ui.results.cell("markers").watch(self._show_markers)
        self._trace_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self._segments, self._row_of_wave, self._unit = {}, {}, None
        self.selected = self.hovered_place = None
        self._has_to_reveal = True
        self._offer_choices()
        self._show(WaveRows((), (), Pending.empty(), {}))
        empty = self.why_missing("waves")
        self._page.say(empty)
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
        row = None if self._which.currentIndex() else self.session.wave_row
        self._unit = unit_of(trace, row)
        self._segments = {row: part for row, part in self._segments.items() if store.is_settled(row)}
        known, has_sibling = dict(self._segments), SIBLING not in self.filter.hidden
        chosen = waves_of_kernels(trace, waves_of_unit(trace, row), set(self.hidden(KERNEL)))
        before = self.source.rows

        def job() -> WaveRows:
            return wave_rows(trace, store, chosen, known, has_sibling, before=before)

        self._rebuild.run(job, self._show)

    def _show(self, made: WaveRows) -> None:
        self._segments.update({part.key: part for row in made.rows for part in row.segments if part.key >= 0})
        self._row_of_wave = dict(made.row_of_wave)
        trace = self.session.trace.value
        self._lanes = max((part.lanes for row in made.rows for part in row.segments), default=1)
        self.source.texts = () if trace is None else trace.code.text
        self.source.set_rows(made.rows, made.names, made.pending)
        store, count = self.session.store, len(made.row_of_wave)
        lost = 0 if store is None else len(store.missing.keys() & made.row_of_wave.keys())
        read = count - len(made.pending)
        text = plural(read, "wave")
        if len(made.pending) > lost:
            is_full = store is not None and store.is_complete
            doing = "{} of {} waves in memory" if is_full else "reading waves {} of {}"
            text = Message(doing, f"{read:,}", f"{count - lost:,}")
        text = Message("{0} · {1} cannot be read", text, plural(lost, "wave")) if lost else text
        self._read = text if count else ""  # rows do not exist yet
        self._find_path()
        self._show_markers()

    def _show_markers(self) -> None:
        self.markers.show(self.ui.results.cell("markers").value, self._row_of_wave)
        self.source.shape = self._shape()
        self.source.version += 1
        self._find_selected()
        self.timeline.plot.rows_changed()
        if self._has_to_reveal and self.source.selected_row >= 0:
            self._has_to_reveal = False
            self.timeline.plot.reveal_row(self.source.selected_row)

    def _look_at(self) -> None:
        """Reload visible waves that left memory, from the middle outwards."""
        store, plot, view = self.session.store, self.timeline.plot, self.session.window.value
        if store is None or not len(self.source.pending) or self.session.is_streaming:
            return
        first, stop = plot.rows.rows_in_view(plot.box.height())
        visible = (row for row, at in self._row_of_wave.items() if first <= at < stop)
        spans = {row: store.trace.waves.span(row) for row in visible}
        inside = [row for row, span in spans.items() if span.begin < view.end and span.end > view.begin]
        inside.sort(key=lambda row: abs(spans[row].middle - view.middle))
        self.session.looked_at.set(store.that_fit(inside))

    def _offer_choices(self) -> None:
        trace, choices = self.session.trace.value, list[FilterItem]()
        self.filter.forget(KERNEL)
        if trace is not None and trace.shader_data:
            tip = "Scopes of instrumented kernels, below each wave."
            choices.append(FilterItem(MARKERS, "Markers", tip=tip))
            choices.append(FilterItem(VALUES, "Shader data", tip="A tick for every value the kernel wrote."))
        if trace is not None and trace.other_simd:
            choices.append(FilterItem(SIBLING, "Sibling SIMD", tip="Memory instructions of the other SIMD."))
        if trace is not None and trace.has_thread_trace and len(trace.waves):
            choices.append(FilterItem(PATH, "Critical path", is_on=False, tip=PATH_TIP))
        self.filter.set_section("Rows and marks", choices)
        self.filter.set_section("Events", time_overlay.event_choices(trace, NOT_ON_UNITS))
        self.filter.set_section("Kernels", kernel_choices(trace, KERNEL))
        self._find_lines()

    def _find_lines(self) -> None:
        trace, hidden = self.session.trace.value, self.filter.hidden
        self._lines = () if trace is None else time_overlay.event_lines(trace, hidden, NOT_ON_UNITS)
        self.markers.has_spans, self.markers.has_values = MARKERS not in hidden, VALUES not in hidden

    def _filter_changed(self) -> None:
        self._find_lines()
        self._find_path()
        self._show_markers()
        self._rebuild.now()

    def _selection_changed(self) -> None:
        unit = unit_of(self.session.trace.value, self.session.wave_row)
        is_elsewhere = self._unit is not None and not self._which.currentIndex() and self._unit != unit
        if is_elsewhere:
            self._rebuild.now()
        elif self._which.currentIndex():
            self._find_path()
        self._find_selected()
        self._has_to_reveal = is_elsewhere or self.source.selected_row < 0  # its row does not exist yet
        self.timeline.plot.reveal_row(self.source.selected_row)
        self.timeline.plot.rows_changed()

    def _find_selected(self) -> None:
        index_row, token = self.session.wave_row, self.session.token()
        self.source.selected_row = -1 if index_row is None else self._row_of_wave.get(index_row, -1)
        self.selected = None
        if token is not None and self.source.selected_row >= 0:
            self.selected = RowPart(self.source.selected_row, token[0].tokens.span(token[1]))

    def _find_path(self) -> None:
        """Compute the critical path of the selected wave's compute unit, if it is to be shown."""
        trace, row = self.session.trace.value, self.session.wave_row
        is_offered = any(one.id == PATH for one in self.filter.choices)
        unit: Sequence[int] = ()
        if is_offered and PATH not in self.filter.hidden and trace is not None and row is not None:
            unit = waves_of_unit(trace, row).tolist()
        if self.path is None and unit:
            from rcv_py.ui.timeline.critical_path import CriticalPath  # noqa: PLC0415 - rarely used

            self.path = CriticalPath(self, self._path_changed)
            self.timeline.plot.overlay.below = self._paint_path
        if self.path is not None:
            self.path.want(unit, self._row_of_wave)
        self._path_changed()

    def _find_path_again(self) -> None:
        """Find the path that waited for waves."""
        if self.path is not None and not self.session.is_streaming:
            self._find_path()

    def _path_changed(self) -> None:
        said = "" if self.path is None else self.path.said
        self._progress.setText(join_texts(" · ", filter(None, (self._read, said))))
        if self.path is not None:
            self.timeline.plot.overlay.update()
            self._show_legend_soon()

    def _paint_path(self, painter: QPainter, rows: RowsItem, window: TimeWindow) -> None:
        if self.path is not None:
            width = self.timeline.plot.box.width()
            self.path.paint(painter, window, width, shape=self.source.shape, scroll=rows.scroll_px)

    def swatches_of(self, seen: np.ndarray) -> Iterable[Swatch]:
        own = () if self.path is None else self.path.swatches(self.ui.theme)
        return (*own, *super().swatches_of(seen))

    def _shape(self) -> RowShape:
        """Make rows higher where tokens overlap, so that each sub-row is visible."""
        room = min(self._lanes * LANE_PX, MAX_PX) if self._lanes > 1 else 0
        setting = self.ui.settings["timeline.row_height"]
        shape = RowShape(max(grown(setting), room), band=self.source.band.height)
        rows, height = len(self.source), self.timeline.plot.box.height()
        if room or setting != USUAL_PX or not rows or shape.pitch * rows <= height:
            return shape
        low = replace(shape, spans=grown(LEAST_PX), strip=LOW_STRIP_PX, gap=LOW_GAP_PX)
        spare = int(height / rows) - low.pitch  # the height at which all rows fit
        return shape if spare < 0 else replace(low, spans=grown(LEAST_PX) + spare)

    def _fit_rows(self) -> None:
        """Give rows the wanted height; make them lower if all then fit, unless the user chose a height."""
        if (shape := self._shape()) != self.source.shape:
            self.source.shape = shape
            self.timeline.plot.rows_changed()

    def command_line(self) -> command_text.CommandWords | None:
        unit = command_text.wave(self.session, "unit-of") if self._which.currentIndex() == 0 else ()
        hidden = command_text.each("without-kernel", self.hidden(KERNEL))
        return command_text.rcv(self.session, "waves", *unit, *hidden, *command_text.within(self.session))

    def marks(self) -> Marks:
        plot, hover = self.timeline.plot.rows, self.session.hover.value
        line = self.session.selection.value.line
        if hover is not None and hover.wave is None and hover.line is not None:  # in another view
            line = hover.line
        first, stop = plot.rows_in_view(self.timeline.plot.box.height())
        if (key := (line, first, stop, plot.shown, self.source.version)) != self._ticks_of:
            self._ticks_of = key
            self._ticks = () if line is None else _ticks(self.source.rows, first, stop, plot.shown, line)
        data = self.markers.values(plot.shown, first, stop)
        selected = self.markers.place(self.markers.chosen, self.source.shape) or self.selected
        hovered = self.markers.place(self.markers.hovered, self.source.shape) or self.hovered_place
        times = (time_overlay.bookmark_time(self.session, mark) for mark in self.session.bookmarks.value)
        bookmarks = tuple(time for time in times if time is not None)
        return Marks(selected, hovered, self._ticks, data, self._lines, bookmarks)

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace = self.session.trace.value
        events = [] if trace is None else near_lines(self._lines, time, pixel, self.times)
        is_low = is_strip or self.timeline.plot.band_y >= 0
        values = self.markers.value_tip(self.times, row, time, pixel) if trace and is_low else ""
        text = self._place_tip(row, time, pixel, is_strip)
        return joined("<br>", (part for part in (values, *events, text) if part))

    def _place_tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None:
            return ""
        if self.timeline.plot.band_y >= 0:
            spans, span = self.markers.spans, self._span_at(row, time)
            return "" if span < 0 or spans is None else marker_tip(trace, self.times, spans, span)
        segment, wave, token = self._token_at(row, time, pixel)
        if segment is None:
            waiting = self.source.pending.key_at(row, time)
            return "" if waiting is None else store.missing.get(waiting, GONE if store.is_complete else STILL)
        if is_strip and wave is not None:
            return state_tip(self.times, wave, time)
        if token < 0:
            return gap_tip(self.times, wave, segment, time)
        text = token_tip(trace, self.times, wave, segment, token, pixel=pixel)
        if wave is not None and self.path is not None and (along := self.path.tip(wave.row, time)):
            text = joined("<br>", (text, along))
        return sibling_tip(text, self.source.names[row].group) if wave is None else text

    def hovered(self, row: int, time: int) -> None:
        self.markers.hovered = self._span_at(row, time)
        if self.timeline.plot.band_y >= 0:
            self.point_at(row, time)
            return
        segment, wave, token = self._token_at(row, time, self.timeline.plot.pixel_at(time))
        if segment is None or token < 0:
            self.point_at(row, time, wave=wave)
        else:
            self.point_at(row, time, segment.tokens.span(token), wave, int(segment.tokens.line[token]))

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select the token or the wave; a double click fits it."""
        trace = self.session.trace.value
        if (span := self._span_at(row, time)) >= 0:
            self.markers.choose(span, is_double)
            return
        self.markers.chosen = -1
        _, wave, token = self._token_at(row, time, self.timeline.plot.pixel_at(time))
        if trace is None:
            return
        if wave is None:
            if (waiting := self.source.pending.key_at(row, time)) is not None:
                self.session.select_wave(trace.waves.id(waiting))
            return
        if token >= 0:
            self.session.select_token(wave.id, token, stays=True)
        else:
            self.session.select_wave(wave.id)
        if is_double:
            self.session.fit_selection()

    def measured(self, window: TimeWindow, row: int) -> str:
        if not 0 <= row < len(self.source.rows):
            return ""
        parts, name = self.source.rows[row].visible(window), self.source.names[row]
        count = sum((rows := part.rows_in(window)).stop - rows.start for part in parts)
        return Message("{0} in {1}", plural(count, "token"), name.place or name.label)

    def _span_at(self, row: int, time: int) -> int:
        plot = self.timeline.plot
        return self.markers.at(row, plot.band_y, time, plot.pixel_at(time))

    def actions_at(self, row: int, time: int) -> list[tuple[str, Callable[[], None]]]:
        trace, plot = self.session.trace.value, self.timeline.plot
        of_span = self.markers.actions(self._span_at(row, time))
        if of_span or trace is None or plot.band_y >= 0:
            return [*of_span, self.copy_action]
        _, wave, token = self._token_at(row, time, plot.pixel_at(time))
        if wave is None or token < 0:
            return [self.copy_action]
        from rcv_py.ui.timeline.token_tip import token_actions  # noqa: PLC0415 - rarely used

        return [*token_actions(self.session, trace, wave, token, self.wants.emit), self.copy_action]

    def anchor_at(self, row: int, time: int) -> Anchor:
        plot = self.timeline.plot
        _, wave, token = self._token_at(row, time, plot.pixel_at(time))
        if wave is None:
            return super().anchor_at(row, time)
        line = -1 if token < 0 or plot.band_y >= 0 else int(wave.tokens.line[token])
        return replace(super().anchor_at(row, time), wave=wave.id, instructions=(line,) if line >= 0 else ())

    def _token_at(
        self, row: int, time: int, pixel: TimeWindow
    ) -> tuple[RowSegment | None, TracedWave | None, int]:
        """Return the segment of a row at a time, its wave if it belongs to a wave, and its token or -1."""
        found = self.source.rows[row].visible(pixel) if 0 <= row < len(self.source.rows) else ()
        if not found:
            return None, None, -1
        segment = next((part for part in found if part.begin <= time < part.end), found[0])
        wave = None if self.session.store is None else self.session.store.wave(segment.key)
        return segment, wave, token_at(segment, time, pixel, self.timeline.plot.row_depth)
