"""Every wave on the device: which kernel lived where, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.events.event_table import dispatch_of
from rcv_py.base.text import count, plural, short_kernel
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import Panel, panel
from rcv_py.ui.core.plain_text import lines_tip, rich, show_tip
from rcv_py.ui.panels.global_timeline.box_rows import BoxRows, no_boxes
from rcv_py.ui.panels.global_timeline.device_rows import (
    ENGINE,
    KERNEL,
    MARKERS,
    DeviceRows,
    device_rows,
    offer_device,
)
from rcv_py.ui.table import command_text
from rcv_py.ui.table.filter_menu import FilterButton
from rcv_py.ui.timeline.event_lines import PREFIX
from rcv_py.ui.timeline.marker_band import readable_on_marker
from rcv_py.ui.timeline.marker_tip import marker_tip
from rcv_py.ui.timeline.overlay import Marks, Place
from rcv_py.ui.timeline.rows_item import RowShape
from rcv_py.ui.timeline.timeline_plot import Timeline
from rcv_py.ui.timeline.token_tip import duration
from rcv_py.ui.timeline.unit_markers import go_to_wave, span_actions
from rcv_py.ui.widgets.empty_state import WithEmptyState

NO_OCCUPANCY = (
    "The capture does not say when waves began and ended: its occupancy file is missing or empty. "
    "Record again with occupancy enabled."
)
NO_DETAIL = "No instruction detail: this wave did not run on the traced compute unit."
NEAR_PX = 3
REBUILD_MS = 150
CORNER = QRect(2, 0, 106, 20)  # beside the ruler, above the names of the rows


@panel(id="global_timeline", title="Global", area="top", order=10, needs=("occupancy",))
class GlobalTimelinePanel(Panel):
    """When and where every wave of the traced shader engines lived, in the colour of its kernel."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.source = BoxRows(ui.theme, self._shape())
        self.timeline = Timeline(ui, self.source, self)
        self.timeline.plot.setAccessibleName("Timeline of all waves on the device")
        self.all: DeviceRows | None = None
        self._selected: Place | None = None
        self._hovered: Place | None = None
        self.source.name_of = self._name_of
        self.timeline.plot.menu = self._menu
        self.filter = FilterButton("the timeline of all waves", (PREFIX, MARKERS))
        self._rebuild = self.coalesced(self._start, REBUILD_MS)
        self._build()
        self.filter.changed.connect(self._rebuild.now)
        ui.results.cell("markers").watch(self._rebuild.ask)
        self.session.trace.watch(self._trace_changed)
        self.session.selection.watch(self._selection_changed)
        ui.settings.cell("timeline.global_row_height").watch(self._height_changed)
        self._trace_changed()

    def _build(self) -> None:
        self.filter.put_into_corner(self.timeline, CORNER)
        self._page = WithEmptyState(self.timeline)
        column(self._page, of=self)

    def _shape(self) -> RowShape:
        return RowShape(self.ui.settings["timeline.global_row_height"], strip=0, gap=1)

    def _height_changed(self) -> None:
        self.source.shape = self._shape()
        self.timeline.plot.rows_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self.all = self._selected = self._hovered = None
        self.source.set_boxes(no_boxes(), ())
        self.timeline.plot.rows_changed()
        empty = trace is None or not len(trace.occupancy)
        self._page.say(self.reason(NO_OCCUPANCY) if empty else "")
        offer_device(self.filter, trace)
        if trace is not None and not empty:
            if trace.shader_data:
                self.want_result("markers")
            self._start()

    def _start(self) -> None:
        trace, spans = self.session.trace.value, self.ui.results.cell("markers").value
        if trace is None or not len(trace.occupancy):
            return
        hidden = self.filter.hidden
        self.run_job(lambda: device_rows(trace, spans, hidden), self._show)

    def save_state(self) -> dict[str, Any]:
        """What is shown, apart from kernels and engines: those are of one capture."""
        return {"filter": self.filter.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.filter.load_state(state.get("filter"))

    def _show(self, made: DeviceRows) -> None:
        self.all = made
        self._hovered = None
        self.source.set_boxes(made.boxes, made.names)
        self._selection_changed()

    def _selection_changed(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        self._selected, self.source.selected_row = None, -1
        row = None if trace is None or wave is None else trace.waves.row(wave)
        found = np.zeros(0, int) if row is None or self.all is None else np.flatnonzero(self.all.wave == row)
        if len(found) and self.all is not None:
            box = int(found[0])
            self.source.selected_row = int(self.all.boxes.row[box])
            self._selected = Place(self.source.selected_row, self._span(box))
            self.timeline.plot.reveal_row(self.source.selected_row)
        self.timeline.plot.rows_changed()

    def command_line(self) -> command_text.Words | None:
        """Every wave of the device that is in view."""
        ids = self.filter.hidden
        engines = sorted(id.removeprefix(ENGINE) for id in ids if id.startswith(ENGINE))
        kernels = sorted(id.removeprefix(KERNEL) for id in ids if id.startswith(KERNEL))
        hidden = (*command_text.each("without-se", engines), *command_text.each("without-kernel", kernels))
        inside = command_text.within(self.session)
        return command_text.rcv(self.session, "waves", "--resident", *hidden, *inside)

    def canvas(self) -> QWidget:
        """The widget a picture of this panel shows."""
        return self.timeline.plot

    # -- guide ------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """Selection, hover, dispatches and hardware events."""
        lines = () if self.all is None else self.all.lines
        return Marks(self._selected, self._hovered, lines=lines)

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        """Who lived there, and the events nearby."""
        trace, made = self.session.trace.value, self.all
        if trace is None or made is None:
            return ""
        near = NEAR_PX * pixel.width
        lines: list[str] = [line.text for line in made.lines if abs(line.time - time) <= near][:4]
        box = made.boxes.at(row, pixel.begin, pixel.end)
        is_marker = box >= 0 and made.span[box] >= 0
        if is_marker and made.spans is not None:
            lines.append(marker_tip(trace, made.spans, int(made.span[box])))
        elif box >= 0:
            lines += self._box_tip(trace, made, box)
        held = made.boxes.count(row, pixel.begin, pixel.end)
        if held > 1:
            what = plural(held, "marker" if is_marker else "wave")
            lines.append(rich("<i>This pixel holds {}.</i>", what))
        return lines_tip(lines) if lines else ""

    def hovered(self, row: int, time: int) -> None:
        """Outline the box and tell the others."""
        box = self._box(row, time)
        if box < 0 or self.all is None:
            self._hovered = None
            self.session.hover.set(Hover(time=time) if row >= 0 else None)
            return
        self._hovered = Place(row, self._span(box))
        trace, wave = self.session.trace.value, int(self.all.wave[box])
        name = trace.waves.id(wave) if trace is not None and wave >= 0 else None
        self.session.hover.set(Hover(name, time=time))

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select a wave that has detail, say why another has none; a double click also fits it."""
        trace, box = self.session.trace.value, self._box(row, time)
        if trace is None or box < 0 or self.all is None:
            return
        wave, span = int(self.all.wave[box]), int(self.all.span[box])
        if span >= 0 and self.all.spans is not None:
            go_to_wave(self.session, int(self.all.spans.wave[span]), int(self.all.spans.begin[span]))
        elif wave >= 0:
            self.session.select_wave(trace.waves.id(wave))
        else:
            self._say(NO_DETAIL, row, time)
        if is_double:
            self.session.set_view(self._span(box).padded(0.02))

    def _menu(self, row: int, time: int) -> list[tuple[str, Callable[[], None]]]:
        box, made = self._box(row, time), self.all
        if made is None or made.spans is None or box < 0 or made.span[box] < 0:
            return [self.copy_action]
        return [*span_actions(self.session, made.spans, int(made.span[box])), self.copy_action]

    def _name_of(self, box: int) -> tuple[QColor, str]:
        made = self.all
        if made is None or made.spans is None or made.span[box] < 0:
            return self.ui.theme.role("text"), ""
        span = int(made.span[box])
        name = int(made.spans.name_id[span])
        return readable_on_marker(self.ui.theme, int(made.spans.kind[span]), name), made.spans.names[name]

    def _say(self, text: str, row: int, time: int) -> None:
        plot = self.timeline.plot
        at = QPointF(plot.x_of(time), plot.y_of(row)).toPoint()
        show_tip(plot.viewport().mapToGlobal(at), text, plot.viewport())

    def measured(self, window: TimeWindow, row: int) -> str:
        """How many waves the row had there."""
        if self.all is None or row < 0:
            return ""
        return plural(self.all.boxes.count(row, window.begin, window.end), "wave") + f" in {self._place(row)}"

    # -- asking -----------------------------------------------------------------------------------------

    def _box(self, row: int, time: int) -> int:
        if self.all is None or row < 0:
            return -1
        pixel = self.timeline.plot.pixel_at(time)
        return self.all.boxes.at(row, pixel.begin, pixel.end)

    def _span(self, box: int) -> TimeWindow:
        boxes = self.source.boxes
        return TimeWindow(int(boxes.begin[box]), int(boxes.end[box]))

    def _place(self, row: int) -> str:
        return f"{self.source.group(row)} {self.source.label(row)}"

    def _box_tip(self, trace: Trace, made: DeviceRows, box: int) -> list[str]:
        lives, life, span = made.lives, int(made.life[box]), self._span(box)
        kernel = short_kernel(trace.occupancy.names.get(int(lives.kernel[life]), "unknown kernel"))
        simd, slot = int(lives.simd[life]), int(lives.slot[life])
        lines: list[str] = [
            rich("<b>{}</b>", kernel),
            f"{self.source.group(int(made.boxes.row[box]))} · SIMD {simd} · slot {slot}",
        ]
        lines.append(f"{count(span.begin)} … {count(span.end)}: {duration(trace, span.width)}")
        if lives.workgroup[life] >= 0:
            lines.append(f"workgroup {count(int(lives.workgroup[life]))}")
        me, pipe = int(lives.me[life]), int(lives.pipe[life])
        if me >= 0 and pipe >= 0:
            lines.append(f"micro engine {me}, pipe {pipe}")
            launch = dispatch_of(trace.dispatches, int(lives.se[life]), me, pipe, span.begin)
            if launch is not None and (launch.vgprs or launch.sgprs):
                lines.append(f"{count(launch.vgprs)} VGPRs, {count(launch.sgprs)} SGPRs")
        if lives.is_open_start[life]:
            lines.append("It was there before the trace began.")
        if lives.is_open_end[life]:
            lines.append("Nobody saw it end.")
        wave = int(made.wave[box])
        lines.append(f"wave {trace.waves.wid[wave]} of its slot, with detail" if wave >= 0 else NO_DETAIL)
        return lines
