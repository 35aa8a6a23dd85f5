"""The scopes and points of instrumented kernels, matched from the values they wrote.

```
value   enter 1      enter 2   point 4   leave   leave 2, enter 3        leave
depth 0 ├── scope 1 ─────────────────────────────────────────────────────────→ open at the end of the wave
depth 1              ├── scope 2 ────────────┤   ├── …
depth 2                          • 4
```

One stack of scopes a wave.  Matching sorts instead of walking: without the exits that had nothing to close,
the steps of one depth alternate between opening and closing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.events.marker_records import CLOSES, OPENS, MarkerRecords, marker_records
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.text import count, plural
from rcv_py.model.kinds import MarkerKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

FILE = "shader data"
_AFFECTS = (Affects.MARKERS,)
_FEW = 5  # ids that a sentence lists


@dataclass(frozen=True, eq=False)
class MarkerSpans:
    """One row a scope or point, sorted by (slot, begin, depth); those of a wave and depth do not overlap."""

    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles; equal to begin for points
    depth: np.ndarray  # int16, how many scopes are around it
    kind: np.ndarray  # uint8, MarkerKind
    name_id: np.ndarray  # int32, row of `names`
    marker: np.ndarray  # int64, marker id
    codeobj: np.ndarray  # int64, code object whose dictionary named it
    is_open: np.ndarray  # bool: nobody saw it end
    is_point: np.ndarray  # bool
    wave: np.ndarray  # int32, row of the wave index, -1 without detail
    names: tuple[str, ...]
    sources: tuple[str, ...]  # of each name, "" if unknown
    records: MarkerRecords
    span_of_record: np.ndarray  # int64, row of the span that a value opened, marks, or only closed; -1: none
    is_orphan: np.ndarray  # bool, a value a row: it closes, but nothing was open
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def deepest(self) -> int:
        """The greatest depth, -1 if there is nothing."""
        return int(self.depth.max(initial=-1))


def marker_spans(
    trace: Trace, batches: Sequence[WaveBatch], rule: ReferenceRule = ReferenceRule.OURS
) -> MarkerSpans:
    """Match the values of a trace into scopes.  Never raises for any values.

    Enters and points of code objects without a dictionary mean nothing; their exits still close.  A scope
    that is still open ends with its wave; by the rule of the reference viewer with the trace.
    """
    records = marker_records(trace, batches, rule)
    steps = _steps(records)
    opened = np.flatnonzero(steps.is_open_step | steps.is_point_step)
    close = _closing(steps)[opened]
    row, is_point = steps.row[opened], steps.is_point_step[opened]
    is_open = (close < 0) & ~is_point
    begin = records.time[row]
    end = np.where(is_open, records.stop[row], records.time[steps.row[np.maximum(close, 0)]])
    end = np.maximum(begin, np.where(is_point, begin, end))
    order = np.lexsort((steps.depth[opened], begin, _slots(records)[row]))
    name_id, names, sources, kinds = _named(trace, records, row[order])
    columns = {name: getattr(records, name)[row][order] for name in ("se", "sa", "cu", "simd", "slot")}
    made = MarkerSpans(
        **columns,
        begin=begin[order],
        end=end[order],
        depth=np.minimum(steps.depth[opened][order], (1 << 15) - 1).astype(np.int16),
        kind=kinds,
        name_id=name_id,
        marker=records.marker[row][order],
        codeobj=records.codeobj[row][order],
        is_open=is_open[order],
        is_point=is_point[order],
        wave=records.wave[row][order],
        names=names,
        sources=sources,
        records=records,
        span_of_record=_span_of_record(len(records), row, close, steps.row, order),
        is_orphan=_by_record(records, steps.row[steps.is_orphan]),
    )
    return replace(made, problems=_problems(trace, made))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Two rows a value: what it closes, then what it opens."""

    row: np.ndarray  # int64, row of the records
    depth: np.ndarray  # int64, of the scope opened or closed, or around a point
    is_open_step: np.ndarray  # bool
    is_close_step: np.ndarray  # bool, orphans excluded
    is_point_step: np.ndarray  # bool
    is_orphan: np.ndarray  # bool
    group: np.ndarray  # int64


def _steps(records: MarkerRecords) -> _Steps:
    n = len(records)
    value = records.value & (CLOSES | OPENS)
    closes = ((value & CLOSES) != 0) & ~records.is_data
    means = records.is_named_object & ~records.is_data
    opens = ((value & OPENS) != 0) & means
    change = np.column_stack([-closes.astype(np.int64), opens]).reshape(-1)
    group = np.repeat(records.group, 2)
    first = np.append(True, np.diff(group) != 0)[: 2 * n]
    total = np.cumsum(change)
    before = total - change
    # Each group lies below all of the one before it, so that one running minimum serves them all.
    ground = -group * (2 * n + 3)
    level = total - before[first][np.cumsum(first) - 1] + ground if n else total
    lowest = np.minimum(np.minimum.accumulate(level), ground) if n else level
    lowest_before = np.minimum(np.append(0, lowest[:-1])[: 2 * n], ground)
    is_close = np.column_stack([closes, np.zeros(n, dtype=bool)]).reshape(-1)
    is_orphan = is_close & (level < lowest_before)
    is_open = np.column_stack([np.zeros(n, dtype=bool), opens]).reshape(-1)
    points = (value == 0) & means
    is_point = np.column_stack([np.zeros(n, dtype=bool), points]).reshape(-1)
    row = np.repeat(np.arange(n), 2)
    return _Steps(row, level - lowest - is_open, is_open, is_close & ~is_orphan, is_point, is_orphan, group)


def _closing(steps: _Steps) -> np.ndarray:
    """The step that closes what each step opened, int64; -1 if it opened nothing or that stays open."""
    found = np.full(len(steps.row), -1, dtype=np.int64)
    chosen = np.flatnonzero(steps.is_open_step | steps.is_close_step)
    chosen = chosen[np.lexsort((chosen, steps.depth[chosen], steps.group[chosen]))]
    here, after = chosen[:-1], chosen[1:]
    is_pair = steps.is_open_step[here] & steps.is_close_step[after]
    is_pair &= (steps.group[here] == steps.group[after]) & (steps.depth[here] == steps.depth[after])
    found[here[is_pair]] = after[is_pair]
    return found


def _slots(records: MarkerRecords) -> np.ndarray:
    """A number that grows with the slot, int64."""
    change = np.zeros(len(records), dtype=bool)
    for name in ("se", "sa", "cu", "simd", "slot"):
        column = getattr(records, name)
        change[1:] |= column[1:] != column[:-1]
    return np.cumsum(change)


def _named(
    trace: Trace, records: MarkerRecords, row: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...], np.ndarray]:
    """Name ids, names, sources, and kinds; ids without a name get one that tells the number."""
    kinds = np.array([MarkerKind[one.kind.upper()] for one in trace.markers], dtype=np.uint8)
    name = records.name[row].astype(np.int64)
    ids, place = np.unique(records.marker[row][name < 0], return_inverse=True)
    name_id = name.copy()
    name_id[name < 0] = len(trace.markers) + place.reshape(-1)
    names = (*(one.name for one in trace.markers), *(f"marker {number}" for number in ids.tolist()))
    sources = (*(one.source for one in trace.markers), *("" for _ in ids))
    kind = np.append(kinds, np.uint8(MarkerKind.UNKNOWN))[np.where(name < 0, len(kinds), name)]
    return name_id.astype(np.int32), names, sources, kind


def _span_of_record(
    n: int, row: np.ndarray, close: np.ndarray, row_of_step: np.ndarray, order: np.ndarray
) -> np.ndarray:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    found = np.full(n, -1, dtype=np.int64)
    is_closed = close >= 0
    found[row_of_step[close[is_closed]]] = place[is_closed]
    found[row] = place
    return found


def _by_record(records: MarkerRecords, rows: np.ndarray) -> np.ndarray:
    is_there = np.zeros(len(records), dtype=bool)
    is_there[rows] = True
    return is_there


# -- sentences ------------------------------------------------------------------------------------------


def _problems(trace: Trace, spans: MarkerSpans) -> tuple[Problem, ...]:
    if not len(spans.records):
        return ()
    found = (_nameless(trace), _unknown(spans), _orphans(spans), _left_open(spans))
    return tuple(problem for problem in found if problem is not None)


def _nameless(trace: Trace) -> Problem | None:
    if trace.markers:
        return None
    text = (
        "The kernel wrote shader data, but code.json has no dictionary of markers, so values have no names."
    )
    return Problem(Severity.INFO, FILE, text, "Build the kernel with markers to see scopes.", _AFFECTS)


def _unknown(spans: MarkerSpans) -> Problem | None:
    rows = np.flatnonzero(spans.kind == MarkerKind.UNKNOWN)
    if not len(rows):
        return None
    ids = np.unique(spans.marker[rows]).tolist()
    listed = ", ".join(map(str, ids[:_FEW])) + (" …" if len(ids) > _FEW else "")
    text = f"{plural(len(rows), 'marker has', 'markers have')} no name in the dictionary: id {listed}."
    hint = "Take the capture and its code objects from one build."
    return Problem(Severity.WARNING, FILE, text, hint, _AFFECTS)


def _orphans(spans: MarkerSpans) -> Problem | None:
    rows = np.flatnonzero(spans.is_orphan & spans.records.is_named_object)
    if not len(rows):
        return None
    first = int(rows[np.argmin(spans.records.time[rows])])
    where = place_text(spans.records, first)
    text = (
        f"{plural(len(rows), 'marker closes', 'markers close')} a scope that was not open, "
        f"the first on {where} at {count(int(spans.records.time[first]))}."
    )
    return Problem(Severity.WARNING, FILE, text, "Markers may have been lost before.", _AFFECTS)


def _left_open(spans: MarkerSpans) -> Problem | None:
    rows = np.flatnonzero(spans.is_open)
    if not len(rows):
        return None
    names = sorted({spans.names[row] for row in spans.name_id[rows].tolist()})
    listed = ", ".join(names[:_FEW]) + (" …" if len(names) > _FEW else "")
    text = (
        f"{plural(len(rows), 'scope was', 'scopes were')} still open when the wave ended: {listed}; "
        "they are drawn up to its end."
    )
    return Problem(Severity.INFO, FILE, text, "", _AFFECTS)


def place_text(table: MarkerSpans | MarkerRecords, row: int) -> str:
    """Return `SE 0 · CU 3 · SIMD 1 · slot 0`."""
    se, cu, simd, slot = (int(getattr(table, name)[row]) for name in ("se", "cu", "simd", "slot"))
    return f"SE {se} · CU {cu} · SIMD {simd} · slot {slot}"
