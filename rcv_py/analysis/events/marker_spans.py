"""The scopes and points of instrumented kernels, matched from the values they wrote.

```
value   enter 1      enter 2   point 4   leave   leave 2, enter 3        leave
depth 0 ├── scope 1 ─────────────────────────────────────────────────────────→ open at the end of the wave
depth 1              ├── scope 2 ────────────┤   ├── …
depth 2                          • 4
```

One stack of scopes a wave.  Matching sorts instead of walking: without the exits that had nothing to close,
the steps of one depth alternate between opening and closing.

A value that a kernel wrote with s_ttracedata is a marker id above two bits: bit 1 opens a scope, bit 0 closes
the innermost one first.

```
…id…10  enter      …id…11  leave one, enter another
…id…00  point      00…0001 leave
```

Values that follow a marker with payload are data, not markers.  Ids get their names from the dictionary of
the code object that ran at that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.occupancy import latest, place, residencies
from rcv_py.analysis.program.code_objects import UNKNOWN, by_kernels, by_tokens
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.text import count, plural
from rcv_py.model.device import MarkerName
from rcv_py.model.kinds import MarkerKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

CLOSES, OPENS = 1, 2  # bits of a value
_SPECIAL = 3  # flags of values that are never packed: immediate form, privileged
_ID_BITS = 30


@dataclass(frozen=True, eq=False)
class MarkerRecords:
    """One row a value, sorted by (slot, life of a wave in it, order in the file)."""

    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    time: np.ndarray  # int64, cycles, aligned
    value: np.ndarray  # uint32
    flags: np.ndarray  # int16: bit 0 immediate form, bit 1 privileged
    group: np.ndarray  # int64, from 0: rows that share one stack of scopes
    stop: np.ndarray  # int64, cycles: when what is still open ends
    wave: np.ndarray  # int32, row of the wave index, -1 if none is known
    codeobj: np.ndarray  # int64, UNKNOWN (0) if nothing tells
    marker: np.ndarray  # int64, marker id
    name: np.ndarray  # int32, row of `Trace.markers`; -1: none
    is_named_object: np.ndarray  # bool: the code object has a dictionary
    is_data: np.ndarray  # bool: a word of the payload of the marker before it

    def __len__(self) -> int:
        return len(self.time)


def marker_records(
    trace: Trace, batches: Sequence[WaveBatch], rule: ReferenceRule = ReferenceRule.OURS
) -> MarkerRecords:
    """Return all values with their meaning.

    The reference viewer knows neither payloads nor packed clocks, and keeps one stack a slot; ours starts
    with an empty stack for every wave that lived there.
    """
    columns, slot_key = _flat(trace)
    time = columns["time"]
    is_ours = rule is ReferenceRule.OURS
    life, stop, kernel = _lives(trace, slot_key, time, is_ours)
    wave = _waves(trace, columns, slot_key, is_ours)
    codeobj = by_tokens(trace, batches, wave, time)
    vague = codeobj == UNKNOWN
    codeobj[vague] = by_kernels(trace, kernel[vague])
    objects = np.unique(trace.code.codeobj)
    if is_ours and len(objects) == 1:
        codeobj[(codeobj == UNKNOWN) & (life >= 0)] = objects[0]
    names = _Names(trace.markers)
    value = columns["value"].astype(np.int64)
    marker, is_data = value >> 2, np.zeros(len(value), dtype=bool)
    if is_ours:
        marker = _unpacked(trace, names, value, codeobj, columns["flags"])
    order = np.lexsort((life if is_ours else np.zeros_like(life), slot_key))
    if is_ours and trace.marker_payloads:
        is_data = _data_words(trace, slot_key, codeobj, marker)
    change = np.any(
        [
            np.diff(column[order], prepend=-2) != 0
            for column in ((slot_key, life) if is_ours else (slot_key,))
        ],
        axis=0,
    )
    made = {
        **columns,
        "stop": stop,
        "wave": wave.astype(np.int32),
        "codeobj": codeobj,
        "marker": marker,
        "name": names.rows(codeobj, marker),
        "is_named_object": names.objects(codeobj) >= 0,
        "is_data": is_data,
    }
    return MarkerRecords(group=np.cumsum(change) - 1, **{name: made[name][order] for name in made})


def _flat(trace: Trace) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The columns of all shader engines one after the other, and a number a slot."""
    parts = trace.shader_data

    def joined(name: str, dtype: type) -> np.ndarray:
        found = [getattr(part, name) for part in parts]
        return np.concatenate(found) if found else np.zeros(0, dtype=dtype)

    cu = joined("cu", np.int16).astype(np.int16)
    columns = {
        "se": np.repeat([part.se for part in parts], [len(part.time) for part in parts]).astype(np.int16),
        "sa": ((np.maximum(cu, 0) >> 7) & 1).astype(np.int16),
        "cu": np.where(cu < 0, cu, cu & 0x7F).astype(np.int16),
        "simd": joined("simd", np.int16),
        "slot": joined("slot", np.int16),
        "time": joined("time", np.int64),
        "value": joined("value", np.uint32),
        "flags": joined("flags", np.int16),
    }
    return columns, _key(*(columns[name] for name in ("se", "sa", "cu", "simd", "slot")))


def _key(se: np.ndarray, sa: np.ndarray, cu: np.ndarray, simd: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """The number that `occupancy.place` gives a slot, int64."""
    key = np.zeros(len(se), dtype=np.int64)
    for column, bits in ((se, 16), (sa, 8), (cu, 16), (simd, 8), (slot, 12)):
        key = key << bits | (column.astype(np.int64) & ((1 << bits) - 1))
    return key


def _lives(
    trace: Trace, slot_key: np.ndarray, time: np.ndarray, is_ours: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each value the life it belongs to (-1: none), the end of it, and the kernel id (-1: unknown)."""
    if not len(time):
        return time, time, time
    lives, index = residencies(trace.occupancy), trace.waves
    key = np.concatenate([_index_key(trace), place(lives)])
    begin, end = np.concatenate([index.begin, lives.begin]), np.concatenate([index.end, lives.end])
    kernel = np.concatenate([index.kernel, lives.kernel]).astype(np.int64)
    life = latest(key, begin, slot_key, time)
    last = max(trace.span.end, int(time.max(initial=trace.span.end)))
    if not len(key):
        return life, np.full(len(time), last, dtype=np.int64), life
    is_inside = (life >= 0) & (time <= end[life])
    stop = np.where((life >= 0) & is_ours, np.maximum(end[life], time), last)
    return life, stop, np.where(is_inside | ((life >= 0) & is_ours), kernel[life], -1)


def _waves(trace: Trace, columns: dict[str, np.ndarray], slot_key: np.ndarray, is_ours: bool) -> np.ndarray:
    """The index row of the wave that wrote each value, -1 if it is not traced."""
    index, time = trace.waves, columns["time"]
    wave = latest(_index_key(trace), index.begin, slot_key, time)
    if len(index) and not is_ours:
        wave = np.where((wave >= 0) & (time <= index.end[wave]), wave, -1)
    return wave


def _index_key(trace: Trace) -> np.ndarray:
    """The slots of the wave index; an unknown compute unit is that of the engine's values, if they agree."""
    index = trace.waves
    cu, sa = index.cu.copy(), index.sa.copy()
    if np.any(cu < 0):
        for data in trace.shader_data:
            seen = np.unique(data.cu)
            if len(seen) == 1 and seen[0] >= 0:
                mine = (cu < 0) & (index.se == data.se)
                cu[mine], sa[mine] = seen[0] & 0x7F, (seen[0] >> 7) & 1
    return _key(index.se, sa, cu, index.simd, index.slot)


class _Names:
    """The dictionary as sorted keys."""

    def __init__(self, markers: tuple[MarkerName, ...]) -> None:
        self._known = np.unique(np.array([one.codeobj for one in markers], dtype=np.int64))
        usable = [row for row, one in enumerate(markers) if one.marker < 1 << 32]
        objects = self.objects(np.array([markers[row].codeobj for row in usable], dtype=np.int64))
        marker = np.array([markers[row].marker for row in usable], dtype=np.int64)
        order = np.argsort(key := objects << 32 | marker, kind="stable")
        self._key, self._row = key[order], np.array(usable, dtype=np.int32)[order]

    def objects(self, codeobj: np.ndarray) -> np.ndarray:
        """A small number a code object that has names, -1 for one without; int64."""
        at = np.searchsorted(self._known, codeobj)
        if not len(self._known):
            return np.full(len(codeobj), -1, dtype=np.int64)
        return np.where(self._known[np.minimum(at, len(self._known) - 1)] == codeobj, at, -1)

    def rows(self, codeobj: np.ndarray, marker: np.ndarray) -> np.ndarray:
        """Rows of the dictionary, int32, -1 where it has no name."""
        objects = self.objects(codeobj)
        if not len(self._key):
            return np.full(len(codeobj), -1, dtype=np.int32)
        key = np.maximum(objects, 0) << 32 | marker
        at = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        return np.where((objects >= 0) & (self._key[at] == key), self._row[at], -1).astype(np.int32)


def _unpacked(
    trace: Trace, names: _Names, value: np.ndarray, codeobj: np.ndarray, flags: np.ndarray
) -> np.ndarray:
    """Marker ids, without the clock in the top bits where an id is unknown and its code object packs them.

    Tools that write these files take the clock out themselves, so a known id stays as it is.
    """
    marker = value >> 2
    unknown = (names.rows(codeobj, marker) < 0) & ((flags & _SPECIAL) == 0)
    for packing, clock_bits, _ in trace.marker_layout:
        chosen = unknown & (codeobj == packing)
        marker[chosen] &= (1 << max(0, _ID_BITS - clock_bits)) - 1
    return marker


def _data_words(trace: Trace, slot_key: np.ndarray, codeobj: np.ndarray, marker: np.ndarray) -> np.ndarray:
    """Which values are payload: the given number of values after a header, in the order of the file."""
    order = np.argsort(slot_key, kind="stable")
    words = np.zeros(len(order), dtype=np.int64)
    for owner, name, number in trace.marker_payloads:
        words[(codeobj == owner) & (marker == name)] = number
    words = words[order]
    stops = np.searchsorted(slot_key[order], slot_key[order], side="right")
    is_data, free = np.zeros(len(order), dtype=bool), 0
    for row in np.flatnonzero(words).tolist():  # few: markers with payload only
        if row >= free:  # else it is a data word that looks like a header
            free = min(row + 1 + int(words[row]), int(stops[row]))
            is_data[row + 1 : free] = True
    result = np.zeros_like(is_data)
    result[order] = is_data
    return result


FILE = "shader data"
_AFFECTS = (Affects.MARKERS,)
MAX_LISTED = 5  # ids that a sentence lists


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
        is_orphan=np.isin(np.arange(len(records)), steps.row[steps.is_orphan]),
    )
    return replace(made, problems=tuple(_problems(trace, made)))


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


# -- sentences ------------------------------------------------------------------------------------------


def _problems(trace: Trace, spans: MarkerSpans) -> Iterator[Problem]:
    if len(spans.records) and not trace.markers:
        text = (
            "The kernel wrote shader data, but code.json has no dictionary of markers: values have no names."
        )
        yield Problem(Severity.INFO, FILE, text, "Build the kernel with markers to see scopes.", _AFFECTS)
    rows = np.flatnonzero(spans.kind == MarkerKind.UNKNOWN)
    if len(rows):
        ids = _listed(map(str, np.unique(spans.marker[rows]).tolist()))
        text = f"{plural(len(rows), 'marker has', 'markers have')} no name in the dictionary: id {ids}."
        hint = "Take the capture and its code objects from one build."
        yield Problem(Severity.WARNING, FILE, text, hint, _AFFECTS)
    rows = np.flatnonzero(spans.is_orphan & spans.records.is_named_object)
    if len(rows):
        first = int(rows[np.argmin(spans.records.time[rows])])
        text = (
            f"{plural(len(rows), 'marker closes', 'markers close')} a scope that was not open, the first on "
            f"{place_text(spans.records, first)} at {count(int(spans.records.time[first]))}."
        )
        yield Problem(Severity.WARNING, FILE, text, "Markers may have been lost before.", _AFFECTS)
    rows = np.flatnonzero(spans.is_open)
    if len(rows):
        names = _listed(sorted({spans.names[row] for row in spans.name_id[rows].tolist()}))
        were = plural(len(rows), "scope was", "scopes were")
        text = f"{were} still open when the wave ended: {names}; they are drawn up to its end."
        yield Problem(Severity.INFO, FILE, text, "", _AFFECTS)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:MAX_LISTED]) + (" …" if len(every) > MAX_LISTED else "")


def place_text(table: MarkerSpans | MarkerRecords, row: int) -> str:
    """Return `SE 0 · CU 3 · SIMD 1 · slot 0`."""
    se, cu, simd, slot = (int(getattr(table, name)[row]) for name in ("se", "cu", "simd", "slot"))
    return f"SE {se} · CU {cu} · SIMD {simd} · slot {slot}"
