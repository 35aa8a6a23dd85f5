"""The rows of the whole device: who lived in each slot, and above a traced slot what its kernel marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, latest, place, residencies
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.timeline.wave_places import global_rows, place_name, traced_waves
from rcv_py.model.columns import of_rows
from rcv_py.model.trace import Trace
from rcv_py.ui.panels.global_timeline.box_rows import Boxes
from rcv_py.ui.table.filter_menu import Choice, FilterButton
from rcv_py.ui.timeline.event_lines import event_choices, event_lines
from rcv_py.ui.timeline.overlay import Line
from rcv_py.ui.timeline.rows_item import marker_codes
from rcv_py.ui.timeline.token_rows import RowName
from rcv_py.ui.timeline.wave_rows import kernel_choices

MOST_LANES = 6  # rows of markers above a slot; deeper scopes share the last one
MARKERS, ENGINE, KERNEL = "markers", "engine:", "kernel:"  # ids in the menu


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """The rows of a trace.  The last four columns have an entry a box."""

    lives: Residencies
    spans: MarkerSpans | None
    boxes: Boxes
    names: tuple[RowName, ...]
    lines: tuple[Line, ...]
    life: np.ndarray  # int64, row of `lives`, -1 for a marker
    span: np.ndarray  # int64, row of `spans`, -1 for a wave
    wave: np.ndarray  # int64, row of the wave index, -1 without detail and for markers


def device_rows(trace: Trace, spans: MarkerSpans | None, hidden: frozenset[str]) -> DeviceRows:
    """Lay out the whole device without what is hidden (ids of the menu)."""
    every = residencies(trace.occupancy)
    color = _colors(trace, every)
    is_shown = _shown(trace, every, hidden)
    lives = of_rows(every, is_shown)
    slots, slot = global_rows(lives)
    waves = traced_waves(trace, lives)
    if spans is None or not len(spans) or MARKERS in hidden:
        chosen, above = np.zeros(0, np.int64), np.zeros(0, np.int64)
    else:
        chosen, above = _marked(lives, spans)
    lanes = np.zeros(len(slots), dtype=np.int64)
    lane = np.zeros(0, np.int64) if spans is None else np.minimum(spans.depth[chosen], MOST_LANES - 1)
    np.maximum.at(lanes, slot[above], lane + 1)
    row_of_slot = np.arange(len(slots)) + np.cumsum(lanes)
    names = []
    for one, extra in zip(slots, lanes.tolist(), strict=True):
        group = place_name(trace, one.se, one.sa, one.cu)
        names += [RowName("scopes" if not number else "", group) for number in range(extra)]
        names.append(RowName(f"{one.simd}-{one.slot}", group))
    made = _Boxes(lives, row_of_slot[slot], color[is_shown], waves)
    if len(chosen):
        assert spans is not None
        made.add(spans, chosen, row_of_slot[slot[above]] - lanes[slot[above]] + lane)
    return made.ready(spans, tuple(names), event_lines(trace, hidden, without=_engines(hidden)))


class _Boxes:
    """Collects boxes, then puts them into order."""

    def __init__(self, lives: Residencies, row: np.ndarray, color: np.ndarray, wave: np.ndarray) -> None:
        n = len(lives)
        self.lives = lives
        self._columns = {
            "row": row.astype(np.int32),
            "begin": lives.begin,
            "end": lives.end,
            "color": color,
            "is_strong": wave >= 0,
            "marker": np.zeros(n, np.uint8),
            "life": np.arange(n),
            "span": np.full(n, -1),
            "wave": wave,
        }

    def add(self, spans: MarkerSpans, chosen: np.ndarray, row: np.ndarray) -> None:
        """Add marker spans at rows."""
        n = len(chosen)
        more = {
            "row": row.astype(np.int32),
            "begin": spans.begin[chosen],
            "end": np.maximum(spans.end[chosen], spans.begin[chosen] + 1),
            "color": np.zeros(n, np.int32),
            "is_strong": np.ones(n, bool),
            "marker": marker_codes(spans.kind[chosen], spans.name_id[chosen]),
            "life": np.full(n, -1),
            "span": chosen,
            "wave": np.full(n, -1),
        }
        self._columns = {name: np.concatenate([self._columns[name], more[name]]) for name in more}

    def ready(
        self, spans: MarkerSpans | None, names: tuple[RowName, ...], lines: tuple[Line, ...]
    ) -> DeviceRows:
        """Everything, its boxes by row and begin."""
        order = np.lexsort((self._columns["begin"], self._columns["row"]))
        column = {name: values[order] for name, values in self._columns.items()}
        boxes = Boxes(*(column[name] for name in ("row", "begin", "end", "color", "is_strong", "marker")))
        rest = (column[name] for name in ("life", "span", "wave"))
        return DeviceRows(self.lives, spans, boxes, names, lines, *rest)


def _marked(lives: Residencies, spans: MarkerSpans) -> tuple[np.ndarray, np.ndarray]:
    """The spans of lives that are shown, and which life each is of."""
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


def _colors(trace: Trace, lives: Residencies) -> np.ndarray:
    """Kernels of one name share a colour; numbers follow the names' first appearance."""
    numbers: dict[str, int] = {}
    table = {
        kernel: numbers.setdefault(trace.occupancy.names.get(kernel, str(kernel)), len(numbers))
        for kernel in np.unique(lives.kernel).tolist()
    }
    return np.array([table[kernel] for kernel in lives.kernel.tolist()], np.int32)


def offer_device(filter: FilterButton, trace: Trace | None) -> None:
    """Offer what the rows of a trace can show or hide."""
    filter.forget(KERNEL)
    filter.forget(ENGINE)
    has_data = trace is not None and bool(trace.shader_data)
    tip = "Scopes of instrumented kernels, above each traced slot."
    filter.set_section("Rows", [Choice(MARKERS, "Markers", tip=tip)] if has_data else [])
    filter.set_section("Events", event_choices(trace))
    engines = [] if trace is None else np.unique(trace.occupancy.se).tolist()
    several = engines if len(engines) > 1 else []
    filter.set_section("Shader engines", [Choice(f"{ENGINE}{se}", f"SE {se}") for se in several])
    used = None if trace is None else trace.occupancy.kernel
    filter.set_section("Kernels", kernel_choices(trace, KERNEL, used))
