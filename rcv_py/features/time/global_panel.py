"""Every wave on the device: its kernel, place and time."""

from collections.abc import Callable, Iterator

import numpy as np
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor

from rcv_py.analysis.events.event_table import dispatch_of
from rcv_py.base.text import Message, count, demangled, elide_right, plural, short_kernel
from rcv_py.features.time import device_rows as rows
from rcv_py.features.time.device_rows import ENGINE, KERNEL, MARKERS, DeviceRows
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import MARKER_TEXT, MarkerKind
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import lines_tip, rich, show_tip
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table import command_text
from rcv_py.ui.timeline import rows_item as codes
from rcv_py.ui.timeline.rows_item import FAINT_KERNELS, KERNEL_COLORS, KERNELS, RowShape
from rcv_py.ui.timeline.time_overlay import PREFIX, Marks, RowPart
from rcv_py.ui.timeline.timeline_plot import TimelinePanel, near_lines
from rcv_py.ui.timeline.token_tip import marker_tip
from rcv_py.ui.timeline.unit_markers import go_to_wave, marker_name, span_actions
from rcv_py.ui.widgets.empty_state import page

NO_DETAIL = "No instruction detail: this wave did not run on the traced compute unit."
REBUILD_MS = 150
MAX_NAME = 40  # maximum letters of a kernel in the legend
CORNER = QRect(2, 0, 106, 20)  # next to the ruler, above the names of the rows


class GlobalTimelinePanel(TimelinePanel):
    """When and where every wave of the traced shader engines lived, in the colour of its kernel."""

    is_overview = True

    def __init__(self, ui: UiContext) -> None:
        self.source = rows.BoxRows(ui.theme, _shape(ui))
        name = "Timeline of all waves on the device"
        super().__init__(ui, self.source, name, "the timeline of all waves", (PREFIX, MARKERS))
        self.all: DeviceRows | None = None
        self.source.name_of = self._name_of
        self.filter.put_into_corner(self.timeline, CORNER)
        self._page = page(self, bar((self.legend, 1), margins=(8, 2, 8, 2)), (self.timeline, 1))
        self._rebuild = self.request(self._start, REBUILD_MS)
        self._shares = self.request(self._count_issue, REBUILD_MS)
        self.session.loaded.watch(self._shares.update)
        self.filter.changed.connect(self._rebuild.now)
        ui.results.cell("markers").watch(self._rebuild.ask)
        self.session.trace.watch(self._trace_changed)
        self.session.selection.watch(self._selection_changed)
        for option in ("timeline.global_row_height", "look.text_size"):
            ui.settings.cell(option).watch(self._height_changed)
        self._trace_changed()

    def _height_changed(self) -> None:
        self.source.shape = _shape(self.ui)
        self.timeline.plot.rows_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self.all = self.selected = self.hovered_place = None
        self.source.set_boxes(rows.no_boxes(), ())
        self.timeline.plot.rows_changed()
        empty = self.why_missing("occupancy")
        self._page.say(empty)
        rows.offer_device(self.filter, trace)
        if trace is not None and not empty:
            if trace.shader_data:
                self.want_result("markers")
            self._rebuild.now()

    def _start(self) -> None:
        trace, spans = self.session.trace.value, self.ui.results.cell("markers").value
        if trace is None or not len(trace.occupancy):
            return
        hidden = self.filter.hidden
        self._rebuild.run(lambda: rows.device_rows(trace, spans, hidden), self._show)

    def _show(self, device: DeviceRows) -> None:
        self.all = device
        self.hovered_place = None
        self.source.set_boxes(device.boxes, device.names)
        self.source.set_levels(None)
        self._selection_changed()
        self._shares.ask()

    def _count_issue(self) -> None:
        """Colour waves by their time without issue, once all are read."""
        trace, store, device = self.session.trace.value, self.session.store, self.all
        if trace is None or store is None or device is None or not store.is_complete:
            return
        outer = self.session.outer(trace)

        def color_by(shares: rows.IssueShares) -> None:
            self.source.set_levels(shares.at)
            self.timeline.plot.rows_changed()

        self._shares.run(lambda: rows.issue_shares(trace, store, device, outer), color_by)

    def _selection_changed(self) -> None:
        row, device = self.session.wave_row, self.all
        self.selected, self.source.selected_row = None, -1
        if row is not None and device is not None and (device.wave == row).any():
            box = int(np.argmax(device.wave == row))
            self.source.selected_row = int(device.boxes.row[box])
            self.selected = RowPart(self.source.selected_row, self._span(box))
            self.timeline.plot.reveal_row(self.source.selected_row)
        self.timeline.plot.rows_changed()

    def command_line(self) -> command_text.CommandWords | None:
        engines = command_text.each("without-se", self.hidden(ENGINE))
        kernels = command_text.each("without-kernel", self.hidden(KERNEL))
        return command_text.rcv(self.session, "waves", "--resident", *engines, *kernels)

    def swatches_of(self, seen: np.ndarray) -> Iterator[Swatch]:
        theme, kernels = self.ui.theme, () if self.all is None else self.all.kernels
        for code in range(KERNEL_COLORS):
            names = kernels[code::KERNEL_COLORS]
            if names and (seen[KERNELS + code] or seen[FAINT_KERNELS + code]):
                more = Message(" and {0} more", len(names) - 1) if len(names) > 1 else ""
                name, meaning = elide_right(short_kernel(names[0]), MAX_NAME) + more, map(demangled, names)
                yield Swatch(theme.kernel(code), name, ", ".join(meaning), key=f"{KERNEL}{code}")
        if seen[codes.ISSUE : codes.ISSUE + codes.LEVELS].any():
            for share in (0.0, 0.5, 1.0):
                name = Message("{0:.0f} % of time without issue", 100 * share)
                yield Swatch(theme.without_issue(share), name, "waves with instructions")
        faint = np.flatnonzero(seen[FAINT_KERNELS : FAINT_KERNELS + KERNEL_COLORS])
        if len(faint):
            yield Swatch(theme.soft(theme.kernel(int(faint[0])), codes.FAINT), "paler: no detail", NO_DETAIL)
        for kind in MarkerKind:
            first = codes.MARKERS + kind * codes.MARKER_COLORS
            if seen[first : first + codes.MARKER_COLORS].any():
                yield Swatch(theme.marker(kind), MARKER_TEXT[kind], f"markers: {MARKER_TEXT[kind]}")

    def not_picked(self, key: str) -> frozenset[int]:
        number = int(key.removeprefix(KERNEL)) if key else -1
        others = [code for code in range(KERNEL_COLORS) if key and code != number]
        return frozenset(base + code for base in (KERNELS, FAINT_KERNELS) for code in others)

    def marks(self) -> Marks:
        return Marks(self.selected, self.hovered_place, lines=() if self.all is None else self.all.lines)

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace, device = self.session.trace.value, self.all
        if trace is None or device is None:
            return ""
        lines = near_lines(device.lines, time, pixel, self.times)
        box = device.boxes.at(row, pixel.begin, pixel.end)
        is_marker = box >= 0 and device.span[box] >= 0
        if is_marker and device.spans is not None:
            lines.append(marker_tip(trace, self.times, device.spans, int(device.span[box])))
        elif box >= 0:
            lines += self._box_tip(trace, device, box)
        if (held := device.boxes.count(row, pixel.begin, pixel.end)) > 1:
            lines.append(rich("<i>This pixel holds {}.</i>", plural(held, "marker" if is_marker else "wave")))
        return lines_tip(lines) if lines else ""

    def hovered(self, row: int, time: int) -> None:
        box, trace = self._box(row, time), self.session.trace.value
        if box < 0 or self.all is None or trace is None:
            self.point_at(row, time)
            return
        wave = int(self.all.wave[box])
        self.point_at(row, time, self._span(box), trace.waves.id(wave) if wave >= 0 else None)

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select a wave that has details, or show why a wave has none; a double click also fits it."""
        trace, box = self.session.trace.value, self._box(row, time)
        if trace is None or box < 0 or self.all is None:
            return
        wave, span = int(self.all.wave[box]), int(self.all.span[box])
        if span >= 0 and self.all.spans is not None:
            go_to_wave(self.session, int(self.all.spans.wave[span]), int(self.all.spans.begin[span]))
        elif wave >= 0:
            self.session.select_wave(trace.waves.id(wave))
        else:
            plot = self.timeline.plot
            at = QPointF(plot.x_of(time), plot.y_of(row)).toPoint()
            show_tip(plot.viewport().mapToGlobal(at), NO_DETAIL, plot.viewport())
        if is_double:
            self.session.set_view(self._span(box).padded(0.02))

    def actions_at(self, row: int, time: int) -> list[tuple[str, Callable[[], None]]]:
        box, device = self._box(row, time), self.all
        if device is None or device.spans is None or box < 0 or device.span[box] < 0:
            return [self.copy_action]
        return [*span_actions(self.session, device.spans, int(device.span[box])), self.copy_action]

    def _name_of(self, box: int) -> tuple[str, QColor]:
        device = self.all
        if device is None or device.spans is None or device.span[box] < 0:
            return "", self.ui.theme.role("text")
        return marker_name(self.ui.theme, device.spans, int(device.span[box]))

    def measured(self, window: TimeWindow, row: int) -> str:
        if self.all is None or row < 0:
            return ""
        name, count = self.source.names[row], self.all.boxes.count(row, window.begin, window.end)
        return Message("{0} in {1}", plural(count, "wave"), name.place or name.group)

    def _box(self, row: int, time: int) -> int:
        pixel = self.timeline.plot.pixel_at(time)
        return -1 if self.all is None or row < 0 else self.all.boxes.at(row, pixel.begin, pixel.end)

    def _span(self, box: int) -> TimeWindow:
        boxes = self.source.boxes
        return TimeWindow(int(boxes.begin[box]), int(boxes.end[box]))

    def _box_tip(self, trace: Trace, device: DeviceRows, box: int) -> list[str]:
        lives, life, span = device.lives, int(device.life[box]), self._span(box)
        kernel = short_kernel(trace.occupancy.names.get(int(lives.kernel[life]), "unknown kernel"))
        place = (int(column[life]) for column in (lives.se, lives.sa, lives.cu, lives.simd, lives.slot))
        times, name = self.times, place_name(*place, unit=trace.architecture.unit_name)
        when = f"{times.at(span.begin)} … {times.at(span.end)}: {times.both(span.width)}"
        lines: list[str] = [rich("<b>{}</b>", kernel), name, when]
        if lives.workgroup[life] >= 0:
            lines.append(Message("workgroup {0}", count(int(lives.workgroup[life]))))
        me, pipe = int(lives.me[life]), int(lives.pipe[life])
        if me >= 0 and pipe >= 0:
            lines.append(Message("micro engine {0}, pipe {1}", me, pipe))
            launch = dispatch_of(trace.dispatches, int(lives.se[life]), me, pipe, span.begin)
            if launch is not None and (launch.vgprs or launch.sgprs):
                lines.append(Message("{0} VGPRs, {1} SGPRs", count(launch.vgprs), count(launch.sgprs)))
        if lives.is_open_start[life]:
            lines.append("It was there before the trace began.")
        if lives.is_open_end[life]:
            lines.append("Its end was not recorded.")
        wave, detail = int(device.wave[box]), "wave {0} of its slot, with detail"
        return [*lines, Message(detail, trace.waves.wid[wave]) if wave >= 0 else NO_DETAIL]


def _shape(ui: UiContext) -> RowShape:
    return RowShape(grown(ui.settings["timeline.global_row_height"]), strip=0, gap=1)
