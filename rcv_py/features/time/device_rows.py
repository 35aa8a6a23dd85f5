"""The rows of the whole device: waves and kernel markers in each slot as boxes, and when waves issue."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PySide6.QtGui import QColor, QPainter

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.occupancy import Residencies, global_rows, latest, place, residencies, traced_waves
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.program.branches import ends_of, rests
from rcv_py.analysis.timeline.stack import Parts, box_shares, stacked
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending
from rcv_py.model.activity import ACTIVITY_COUNT
from rcv_py.model.ids import place_name
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.filter_menu import FilterButton, FilterItem
from rcv_py.ui.timeline import rows_item as codes
from rcv_py.ui.timeline.items import NamePainter, fill, name_font
from rcv_py.ui.timeline.rows_item import Frame, RowName, RowShape, RowSource, marker_codes
from rcv_py.ui.timeline.time_overlay import Line, event_choices, event_lines
from rcv_py.ui.timeline.token_rows import kernel_choices

NOTHING = ACTIVITY_COUNT  # a code without colour: grid and tint show through
# The level of each pixel of a row in a window, uint8 [width]: its share of time without issue.
Levels = Callable[[int, TimeWindow, int], np.ndarray | None]
NAMES_FROM_PX = 9  # height of a row
GAP_FROM_PX = 4  # minimum width of a box that keeps a pixel of distance to the next box


class Boxes(Record):
    """Boxes sorted by (row, begin); boxes of a row do not overlap."""

    row: np.ndarray  # int32, row on screen
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    color: np.ndarray  # int32, number of the kernel colour
    is_strong: np.ndarray  # bool: the wave has details
    marker: np.ndarray | None = None  # uint8, code of the pixels of a marker, 0 of other boxes

    def at(self, row: int, first: int, stop: int) -> int:
        """Return the last box of a row that touches the cycles [first, stop); -1 if none does."""
        low, high = np.searchsorted(self.row, [row, row + 1])
        box = low + int(np.searchsorted(self.begin[low:high], stop, side="left")) - 1
        return int(box) if box >= low and self.end[box] > first else -1

    def count(self, row: int, first: int, stop: int) -> int:
        """Return how many boxes of a row touch the cycles [first, stop)."""
        low, high = np.searchsorted(self.row, [row, row + 1])
        after = np.searchsorted(self.begin[low:high], stop, side="left")
        return int(after - np.searchsorted(self.end[low:high], first, side="right"))


def no_boxes() -> Boxes:
    """Return rows without boxes."""
    narrow, wide = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Boxes(narrow, wide, wide, narrow, np.zeros(0, bool))


class BoxRows(RowSource):
    """A row source of boxes in the colours of kernels."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        super().__init__(theme, shape)
        self.boxes, self._names = no_boxes(), NamePainter()
        self.name_of: Callable[[int], tuple[str, QColor]] = lambda box: ("", QColor())  # of a marker
        self._levels: Levels | None = None

    def set_boxes(self, boxes: Boxes, names: Sequence[RowName]) -> None:
        """Show other boxes."""
        self.boxes, self.names = boxes, tuple(names)
        self.version += 1

    def set_levels(self, levels: Levels | None) -> None:
        """Colour waves with details by their shares of time without issue, or by their kernels (None)."""
        self._levels = levels
        self.version += 1

    def paint(self, frame: Frame) -> None:
        """Fill the pixels of each box; fill a narrow box up to its share of the height, at least one line.

        Strong boxes win over faint ones in a pixel they share; markers are never narrow.
        """
        boxes, window = self.boxes, frame.pixels.window
        low, high = np.searchsorted(boxes.row, [frame.first, frame.stop])
        is_seen = (boxes.end[low:high] > window.begin) & (boxes.begin[low:high] < window.end)
        seen = low + np.flatnonzero(is_seen)
        if not len(seen):
            return
        seen = seen[np.argsort(boxes.is_strong[seen], kind="stable")]
        width = frame.pixels.width_px
        left = (np.maximum(boxes.begin[seen], window.begin) - window.begin) * width // window.width
        right = -(-(np.minimum(boxes.end[seen], window.end) - window.begin) * width // window.width)
        right = np.maximum(right, left + 1)
        is_narrow = (boxes.end[seen] - boxes.begin[seen]) * width < GAP_FROM_PX * window.width
        if boxes.marker is not None:
            is_narrow &= boxes.marker[seen] == 0
        right -= right - left >= GAP_FROM_PX
        code, row = self._codes(seen), boxes.row[seen] - frame.first
        wide, ground = np.full((2, frame.stop - frame.first, width), NOTHING, np.uint8)
        for strip, chosen in ((wide, ~is_narrow), (ground, is_narrow)):
            fill(strip, row[chosen], left[chosen], right[chosen], code[chosen])
        lines = np.repeat(wide[:, None], frame.spans_px, axis=1)
        if is_narrow.any():
            narrow = self._narrow(frame, seen[is_narrow])
            np.copyto(narrow[:, -1], ground, where=narrow[:, -1] == NOTHING)
            np.copyto(lines, narrow, where=lines == NOTHING)
        if self._levels is not None:
            for row, own in enumerate(lines, frame.first):
                level = self._levels(row, window, width)
                if level is not None:
                    is_strong = (own >= codes.KERNELS) & (own < codes.KERNELS + codes.KERNEL_COLORS)
                    is_strong &= level < codes.LEVELS
                    np.copyto(own, codes.ISSUE + level, where=is_strong, casting="unsafe")
        frame.fill(lines, 0, NOTHING)

    def _narrow(self, frame: Frame, seen: np.ndarray) -> np.ndarray:
        """Return codes of pixels filled up to the shares of boxes, uint8 [rows, height, width]."""
        boxes = self.boxes
        used, part = np.unique(self._codes(seen), return_inverse=True)
        parts = Parts(boxes.row[seen] - frame.first, boxes.begin[seen], boxes.end[seen], part)
        shares = box_shares(parts, (frame.stop - frame.first, len(used)), frame.pixels)
        return np.append(used, NOTHING).astype(np.uint8)[stacked(shares, frame.spans_px, frame.pixels)]

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        boxes, window = self.boxes, frame.pixels.window
        if boxes.marker is None or frame.shape.spans < NAMES_FROM_PX:
            return
        low, high = np.searchsorted(boxes.row, [frame.first, frame.stop])
        begin = np.maximum(boxes.begin[low:high], window.begin)
        end = np.minimum(boxes.end[low:high], window.end)
        per_cycle, margin = frame.pixels.width_px / window.width, 3 * frame.scale
        length = np.where(boxes.marker[low:high] > 0, (end - begin) * per_cycle, 0)

        def name(at: int) -> tuple[str, QColor, float, float]:
            left = float((begin[at] - window.begin) * per_cycle) + margin
            middle = frame.top(int(boxes.row[low + at])) + frame.spans_px / 2
            return *self.name_of(int(low) + at), left, middle

        font = name_font(frame.theme, frame.shape.spans - 3, frame.scale)
        self._names.paint(painter, font, length - 2 * margin, name)

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        first = np.where(self.boxes.is_strong[rows], codes.KERNELS, codes.FAINT_KERNELS)
        code = (first + self.boxes.color[rows] % codes.KERNEL_COLORS).astype(np.uint8)
        marker = self.boxes.marker
        return code if marker is None else np.where(marker[rows] > 0, marker[rows], code)


MAX_LANES = 6  # marker rows above a slot; deeper scopes share the last row
BOX_COLUMNS = ("row", "begin", "end", "color", "is_strong", "marker")
TYPES = {"row": np.int32, "color": np.int32, "is_strong": np.bool_, "marker": np.uint8}  # otherwise int64
MARKERS, ENGINE, KERNEL = "markers", "engine:", "kernel:"  # ids in the menu


class DeviceRows(Record):
    """The rows of a trace.  The last four columns have one entry per box."""

    lives: Residencies
    spans: MarkerSpans | None
    boxes: Boxes
    names: tuple[RowName, ...]
    kernels: tuple[str, ...]  # by colour number
    lines: tuple[Line, ...]
    life: np.ndarray  # int64, row of `lives`, -1 for a marker
    span: np.ndarray  # int64, row of `spans`, -1 for a wave
    wave: np.ndarray  # int64, row of the wave index, -1 without detail and for markers


def device_rows(trace: Trace, spans: MarkerSpans | None, hidden: frozenset[str]) -> DeviceRows:
    """Lay out the whole device without the hidden parts (ids of the menu)."""
    every = residencies(trace.occupancy)
    color, kernels = _colors(trace, every)
    is_shown = _shown(trace, every, hidden)
    lives = every.at(is_shown)
    slots, slot = global_rows(lives)
    waves = traced_waves(trace, lives)
    chosen = above = lane = begin = end = marker = np.zeros(0, np.int64)
    if spans is not None and len(spans) and MARKERS not in hidden:
        chosen, above = _marked(lives, spans)
        lane = np.minimum(spans.depth[chosen], MAX_LANES - 1)
        begin, end = spans.begin[chosen], np.maximum(spans.end[chosen], spans.begin[chosen] + 1)
        marker = marker_codes(spans.kind[chosen], spans.name_id[chosen])
    lanes = np.zeros(len(slots), dtype=np.int64)
    np.maximum.at(lanes, slot[above], lane + 1)
    row_of_slot = np.arange(len(slots)) + np.cumsum(lanes)
    names, name = [], partial(place_name, unit=trace.architecture.unit_name)
    for one, extra in zip(slots, lanes.tolist(), strict=True):
        group, slot_name = name(one.se, one.sa, one.cu), name(one.se, one.sa, one.cu, one.simd, one.slot)
        names += [RowName("scopes" if not number else "", group) for number in range(extra)]
        names.append(RowName(f"simd{one.simd}/{one.slot}", group, f"SIMD{one.simd}", slot_name))
    n, m = len(lives), len(chosen)
    none, all_marked = np.full(n, -1), np.full(m, -1)
    scope_row = row_of_slot[slot[above]] - lanes[slot[above]] + lane
    columns = {  # of waves, followed by markers
        "row": (row_of_slot[slot], scope_row),
        "begin": (lives.begin, begin),
        "end": (lives.end, end),
        "color": (color[is_shown], np.zeros(m)),
        "is_strong": (waves >= 0, np.ones(m)),
        "marker": (np.zeros(n), marker),
        "life": (np.arange(n), all_marked),
        "span": (none, chosen),
        "wave": (waves, all_marked),
    }
    each: dict[str, np.ndarray] = {name: np.concatenate(parts) for name, parts in columns.items()}
    order = np.lexsort((each["begin"], each["row"]))
    each = {name: values[order].astype(TYPES.get(name, np.int64)) for name, values in each.items()}
    boxes = Boxes(**{name: each.pop(name) for name in BOX_COLUMNS})
    lines, rows = event_lines(trace, hidden, without=_engines(hidden)), tuple(names)
    return DeviceRows(lives=lives, spans=spans, boxes=boxes, names=rows, kernels=kernels, lines=lines, **each)


def _marked(lives: Residencies, spans: MarkerSpans) -> tuple[np.ndarray, np.ndarray]:
    """Return the spans of the shown lives, and the life of each."""
    life = latest(place(lives), lives.begin, place(spans), spans.begin)
    chosen = np.flatnonzero(life >= 0)
    chosen = chosen[spans.begin[chosen] <= lives.end[life[chosen]]]
    return chosen, life[chosen]


def _engines(hidden: frozenset[str]) -> list[int]:
    return [int(id.removeprefix(ENGINE)) for id in hidden if id.startswith(ENGINE)]


def _shown(trace: Trace, lives: Residencies, hidden: frozenset[str]) -> np.ndarray:
    names = {id.removeprefix(KERNEL) for id in hidden if id.startswith(KERNEL)}
    kernels = [number for number, name in trace.occupancy.names.items() if name in names]
    return ~np.isin(lives.se, _engines(hidden)) & ~np.isin(lives.kernel, kernels)


def _colors(trace: Trace, lives: Residencies) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return names by color number; kernels of a name share a colour, numbered by first appearance."""
    numbers: dict[str, int] = {}
    table = {
        kernel: numbers.setdefault(trace.occupancy.names.get(kernel, str(kernel)), len(numbers))
        for kernel in ascending(lives.kernel).tolist()
    }
    return np.array([table[kernel] for kernel in lives.kernel.tolist()], np.int32), tuple(numbers)


def offer_device(filter: FilterButton, trace: Trace | None) -> None:
    """Return what the rows of a trace can show or hide."""
    filter.forget(KERNEL)
    filter.forget(ENGINE)
    has_data = trace is not None and bool(trace.shader_data)
    tip = "Scopes of instrumented kernels, above each traced slot."
    filter.set_section("Rows", [FilterItem(MARKERS, "Markers", tip=tip)] if has_data else [])
    filter.set_section("Events", event_choices(trace))
    engines = [] if trace is None else ascending(trace.occupancy.se).tolist()
    several = engines if len(engines) > 1 else []
    filter.set_section("Shader engines", [FilterItem(f"{ENGINE}{se}", f"SE{se}") for se in several])
    used = None if trace is None else trace.occupancy.kernel
    filter.set_section("Kernels", kernel_choices(trace, KERNEL, used))


BINS = 2048  # maximum parts of the capture: more than a screen has pixels
NO_LEVEL = 0xFF  # no wave in this part of the time


class IssueShares(Record):
    """The share of time without issue, by screen row and part of the capture."""

    window: TimeWindow  # the capture
    row: np.ndarray  # int64, ascending: rows with instructions
    level: np.ndarray  # uint8 [rows, parts], 0: always issues, codes.LEVELS - 1: never, NO_LEVEL: no wave

    def at(self, row: int, shown: TimeWindow, width_px: int) -> np.ndarray | None:
        """Return the mean level in each pixel of a row, uint8 [width_px]; None without instructions."""
        place = int(np.searchsorted(self.row, row))
        if place >= len(self.row) or self.row[place] != row:
            return None
        level, parts = self.level[place], self.level.shape[1]
        edge = shown.begin + np.arange(width_px + 1) * shown.width / width_px
        part = (edge - self.window.begin) * parts / self.window.width
        first = np.clip(part[:-1].astype(np.int64), 0, parts - 1)
        stop = np.clip(np.ceil(part[1:]).astype(np.int64), first + 1, parts)
        is_known = level != NO_LEVEL
        known = np.append(0, np.cumsum(is_known))
        total = np.append(0, np.cumsum(np.where(is_known, level, 0), dtype=np.int64))
        some = known[stop] - known[first]
        mean = np.rint((total[stop] - total[first]) / np.maximum(some, 1))
        return np.where(some > 0, mean, NO_LEVEL).astype(np.uint8)


def issue_shares(trace: Trace, store: WaveStore, device: DeviceRows, window: TimeWindow) -> IssueShares:
    """Count the cycles of issue (later than gfx9: of issue or execution) of the loaded waves in each row."""
    ends, traced = ends_of(trace.code), device.wave >= 0
    parts = min(BINS, window.width)  # none is shorter than a cycle
    edges = window.begin + np.arange(parts + 1) * window.width // parts
    rows, found = ascending(device.boxes.row[traced]).astype(np.int64), []
    for row in rows.tolist():
        checkpoint()
        here = device.wave[traced & (device.boxes.row == row)].tolist()
        waves = [wave for number in here if (wave := store.wave(number)) is not None]
        piece = of_waves(waves)
        end = piece.issue + piece.busy
        at, rest = rests(piece, ends)
        end[at] -= rest
        lives = np.array([(wave.begin, wave.end) for wave in waves], dtype=np.int64).reshape(-1, 2)
        spans = ((piece.issue, end), lives.T)
        issued, lived = (IntervalSet.of(*each).covered(edges[:-1], edges[1:]) for each in spans)
        share = 1 - np.minimum(issued, lived) / np.maximum(lived, 1)
        found.append(np.where(lived > 0, np.rint(share * (codes.LEVELS - 1)), NO_LEVEL).astype(np.uint8))
    return IssueShares(window, rows, np.array(found, dtype=np.uint8).reshape(-1, parts))
