"""Every wave on the device: which kernel lived where, and when."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from rcv_py.analysis.global_rows import global_rows
from rcv_py.analysis.occupancy import Residencies, residencies
from rcv_py.base.text import count, plural, short_kernel
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover
from rcv_py.ui.kit.box_rows import Boxes, BoxRows, no_boxes
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.empty_state import WithEmptyState, reason
from rcv_py.ui.kit.event_lines import event_lines
from rcv_py.ui.kit.overlay import Line, Marks, Place
from rcv_py.ui.kit.panel import Panel, panel
from rcv_py.ui.kit.rows_item import RowShape
from rcv_py.ui.kit.timeline_plot import Timeline
from rcv_py.ui.kit.token_rows import RowName
from rcv_py.ui.kit.token_tip import duration
from rcv_py.ui.kit.wave_rows import place_name

NO_OCCUPANCY = (
    "The capture does not say when waves began and ended: its occupancy file is missing or empty. "
    "Record again with occupancy enabled."
)
NO_DETAIL = "No instruction detail: this wave did not run on the traced compute unit."
NEAR_PX = 3


@dataclass(frozen=True, eq=False)
class Everything:
    """The rows of a trace, with what a box stands for."""

    lives: Residencies
    row: np.ndarray  # int32, row on screen of each residency
    boxes: Boxes
    names: tuple[RowName, ...]
    wave: np.ndarray  # int64, row of the wave index, -1 without detail
    lines: tuple[Line, ...]


def everything(trace: Trace) -> Everything:
    """Lay out the whole device."""
    lives = residencies(trace.occupancy)
    slots, row = global_rows(lives)
    wave = _traced(trace, lives)
    boxes = Boxes(row, lives.begin, lives.end, _colors(trace, lives), wave >= 0)
    names = tuple(
        RowName(f"{slot.simd}-{slot.slot}", place_name(trace, slot.se, slot.sa, slot.cu)) for slot in slots
    )
    return Everything(lives, row, boxes, names, wave, event_lines(trace))


def _colors(trace: Trace, lives: Residencies) -> np.ndarray:
    """Kernels of one name share a colour; numbers follow the names' first appearance."""
    numbers: dict[str, int] = {}
    table = {
        kernel: numbers.setdefault(trace.occupancy.names.get(kernel, str(kernel)), len(numbers))
        for kernel in np.unique(lives.kernel).tolist()
    }
    return np.array([table[kernel] for kernel in lives.kernel.tolist()], np.int32)


def _traced(trace: Trace, lives: Residencies) -> np.ndarray:
    index = trace.waves
    columns = (index.se, index.simd, index.slot, index.begin, index.end)
    row_of = {key: row for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True))}
    places = (lives.se, lives.simd, lives.slot, lives.begin, lives.end)
    found = [row_of.get(key, -1) for key in zip(*(column.tolist() for column in places), strict=True)]
    wave = np.array(found, np.int64)
    if not len(index):
        return wave
    known = (wave >= 0) & (index.cu[wave] >= 0)
    wave[known & (index.cu[wave] != lives.cu)] = -1
    return wave


@panel(id="global_timeline", title="Global", area="top", order=10)
class GlobalTimelinePanel(Panel):
    """When and where every wave of the traced shader engines lived, in the colour of its kernel."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.source = BoxRows(ui.theme, self._shape())
        self.timeline = Timeline(ui, self.source, self)
        self.timeline.plot.setAccessibleName("Timeline of all waves on the device")
        self.all: Everything | None = None
        self._selected: Place | None = None
        self._hovered: Place | None = None
        self._page = WithEmptyState(self.timeline)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._page)
        self.session.trace.watch(self._trace_changed)
        self.session.selection.watch(self._selection_changed)
        ui.settings.cell("timeline.global_row_height").watch(self._height_changed)
        self._trace_changed()

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
        self._page.say(reason(trace, "global_timeline", NO_OCCUPANCY) if empty else "")
        if trace is not None and not empty:
            self.ui.tasks.run(self, lambda: everything(trace), self._show)

    def _show(self, made: Everything) -> None:
        self.all = made
        self.source.set_boxes(made.boxes, made.names)
        self._selection_changed()

    def _selection_changed(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        self._selected, self.source.selected_row = None, -1
        row = None if trace is None or wave is None else trace.waves.row(wave)
        found = np.zeros(0, int) if row is None or self.all is None else np.flatnonzero(self.all.wave == row)
        if len(found) and self.all is not None:
            box = int(found[0])
            self.source.selected_row = int(self.all.row[box])
            self._selected = Place(self.source.selected_row, self._span(box))
            self.timeline.plot.reveal_row(self.source.selected_row)
        self.timeline.plot.rows_changed()

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
        lines = [escape(line.text) for line in made.lines if abs(line.time - time) <= near][:4]
        box = made.boxes.at(row, pixel.begin, pixel.end)
        lines += self._box_tip(trace, made, box) if box >= 0 else []
        held = made.boxes.count(row, pixel.begin, pixel.end)
        if held > 1:
            lines.append(f"<i>This pixel holds {plural(held, 'wave')}.</i>")
        return f"<qt style='white-space:nowrap'>{'<br>'.join(lines)}</qt>" if lines else ""

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
        wave = int(self.all.wave[box])
        if wave >= 0:
            self.session.select_wave(trace.waves.id(wave))
        else:
            self._say(NO_DETAIL, row, time)
        if is_double:
            self.session.set_view(self._span(box).padded(0.02))

    def _say(self, text: str, row: int, time: int) -> None:
        plot = self.timeline.plot
        at = QPointF(plot.x_of(time), plot.y_of(row)).toPoint()
        QToolTip.showText(plot.viewport().mapToGlobal(at), text, plot.viewport())

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

    def _box_tip(self, trace: Trace, made: Everything, box: int) -> list[str]:
        lives, span = made.lives, self._span(box)
        kernel = short_kernel(trace.occupancy.names.get(int(lives.kernel[box]), "unknown kernel"))
        simd, slot = int(lives.simd[box]), int(lives.slot[box])
        lines = [
            f"<b>{escape(kernel)}</b>",
            f"{self.source.group(int(made.row[box]))} · SIMD {simd} · slot {slot}",
        ]
        lines.append(f"{count(span.begin)} … {count(span.end)}: {duration(trace, span.width)}")
        if lives.workgroup[box] >= 0:
            lines.append(f"workgroup {count(int(lives.workgroup[box]))}")
        if lives.me[box] >= 0 and lives.pipe[box] >= 0:
            lines.append(f"micro engine {int(lives.me[box])}, pipe {int(lives.pipe[box])}")
        if lives.is_open_start[box]:
            lines.append("It was there before the trace began.")
        if lives.is_open_end[box]:
            lines.append("Nobody saw it end.")
        wave = int(made.wave[box])
        lines.append(f"wave {trace.waves.wid[wave]} of its slot, with detail" if wave >= 0 else NO_DETAIL)
        return lines
