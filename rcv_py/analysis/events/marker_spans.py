"""The scopes and points of instrumented kernels, matched from the values they wrote.

```
value   enter 1      enter 2   point 4   leave   leave 2, enter 3        leave
depth 0 ├── scope 1 ─────────────────────────────────────────────────────────→ open at the end of the wave
depth 1              ├── scope 2 ────────────┤   ├── …
depth 2                          • 4
```

Each wave has a stack of scopes.  Matching sorts instead of walking: without exits that have nothing to close,
the steps of a depth alternate between opening and closing.

A value written with s_ttracedata is a marker id above two bits: bit 1 opens a scope, bit 0 first closes the
innermost scope.

```
…id…10  enter      …id…11  leave, then enter
…id…00  point      00…0001 leave      other values of id 0 mean nothing
```

Values after a marker with payload are data, not markers.  Ids get their names from the dictionary of the code
object that ran at that moment: from the last token, else from the kernel in the slot.  Values of the trap
handler mean nothing, and values after lost data nothing until another wave takes the slot.

Kernels may put the low bits of the shader clock above the id.  A value arrives late where many are written,
and its clock says by how much:

```
clock of the wave  ──e────────l──────────→    the id in the low bits, bits of the clock in the high ones
arrival            ──────e────────────l──→    least delay of the SIMD: 4; moved by the rest
```
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import latest, place, residencies, slot_key
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, tables
from rcv_py.analysis.events.payloads import MAX_WORDS, data_words, is_address_name, marker_use
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, distinct, starts_run
from rcv_py.base.text import Message, count, demangled, plural
from rcv_py.model.columns import ColumnTable, memoized
from rcv_py.model.device import MarkerName
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import EventKind, MarkerKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

UNKNOWN = 0  # no code object has this number
CLOSES, OPENS = 1, 2  # bits of a value
_SPECIAL = 3  # flags of values that are never packed: immediate form, privileged
PRIVILEGED = 2
_PACKED_SHARE = 4  # a code object packs clocks if one in so many of its values shows it
_ID_BITS = 30
_SLOT = ("se", "sa", "cu", "simd", "slot")
_NAMELESS = re.compile(r"(\d{1,18}) / 0x[0-9a-fA-F]+")


class MarkerRecords(ColumnTable):
    """One row a value, sorted by (slot, life of a wave in it, order in the file)."""

    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    time: np.ndarray  # int64, cycles, aligned
    value: np.ndarray  # uint32
    flags: np.ndarray  # int16: bit 0 immediate form, bit 1 privileged
    group: np.ndarray  # int64, from 0: rows that share a stack of scopes
    stop: np.ndarray  # int64, cycles: end of scopes that are still open
    wave: np.ndarray  # int32, row of the wave index, -1 if none is known
    codeobj: np.ndarray  # int64, UNKNOWN if not known
    marker: np.ndarray  # int64, marker id
    name: np.ndarray  # int32, row of `Trace.markers`; -1: none
    is_named_object: np.ndarray  # bool: the code object has a dictionary
    is_data: np.ndarray  # bool: a payload word of the previous marker
    words: np.ndarray  # int64, payload words that should follow
    is_idle: np.ndarray  # bool: it means nothing: of the trap handler, or after lost data


def _records(trace: Trace, ran: _Ran, rule: ReferenceRule) -> MarkerRecords:
    """Return all values with their meaning.

    The reference viewer knows neither payloads nor packed clocks, and keeps a stack for each slot; this
    viewer starts an empty stack for every wave.
    """
    columns = _flat(trace)
    slots = slot_key(*(columns[name] for name in _SLOT))
    time = columns["time"]
    is_ours = rule is ReferenceRule.OURS
    life, begin, stop, kernel = _lives(trace, slots, time, is_ours)
    index = trace.waves
    wave = _waves(trace)
    codeobj = np.full(len(wave), UNKNOWN, dtype=np.int64)
    codeobj[ran.value] = ran.codeobj
    if len(index) and not is_ours:
        wave = np.where((wave >= 0) & (time <= index.end[wave]), wave, -1)
        codeobj[wave < 0] = UNKNOWN
    vague = codeobj == UNKNOWN
    codeobj[vague] = _by_kernels(trace, kernel[vague])
    objects = {*trace.code.codeobj.tolist(), *(one.codeobj for one in trace.markers)}
    if is_ours and len(objects) == 1:
        codeobj[(codeobj == UNKNOWN) & (life >= 0)] = objects.pop()
    marker = columns["value"].astype(np.int64) >> 2
    is_idle = np.zeros(len(marker), dtype=bool)
    stack = life if is_ours else np.zeros_like(life)
    order = np.lexsort((stack, slots))
    if is_ours:
        marker, late = _unpacked(trace, columns, codeobj, marker)
        columns["time"] = time - late
        loss = _losses(trace, columns["se"], np.where(life >= 0, begin, np.iinfo(np.int64).min))
        is_idle = (loss < time) | (columns["flags"] & PRIVILEGED > 0)
        stop = np.clip(loss, columns["time"], stop)
    records = MarkerRecords(
        **columns,
        group=np.zeros_like(marker),
        stop=stop,
        wave=wave.astype(np.int32),
        codeobj=codeobj,
        marker=marker,
        name=_named(trace.markers, codeobj, marker),
        is_named_object=np.isin(codeobj, [one.codeobj for one in trace.markers]),
        is_data=np.zeros_like(is_idle),
        words=np.zeros_like(marker),
        is_idle=is_idle,
    )
    group = np.cumsum(starts_run(slots[order], stack[order])) - 1
    records = replace(records.at(order), group=group)
    return _with_payload(trace, records) if is_ours and len(records) else records


def _unpacked(
    trace: Trace, columns: dict[str, np.ndarray], codeobj: np.ndarray, marker: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids without clocks, and the cycles by which values came late; int64.

    Tools that write ui_output folders may have removed the clocks and corrected the times: then no id has
    bits above it.  An id that is unknown without its high bits is not a marker of the compiler.

    The delay of a value is the time since the first of its SIMD, less what its clock says, modulo what the
    clock can count; the least of a SIMD is taken for no delay, and the clock's step for its error.
    Source: ROCm/rocm-systems, projects/rocprof-trace-decoder, docs/markers.
    """
    marker, late = marker.copy(), np.zeros(len(marker), dtype=np.int64)
    is_plain = (columns["flags"] & _SPECIAL) == 0
    for packing, bits, shift in trace.marker_layout:
        rows = np.flatnonzero(is_plain & (codeobj == packing))
        whole, value = marker[rows], columns["value"][rows].astype(np.int64)
        low = whole & ((1 << (_ID_BITS - bits)) - 1)
        is_leave = (low == 0) & (value & (CLOSES | OPENS) == CLOSES)
        means = (_named(trace.markers, codeobj[rows], low) >= 0) | is_leave
        above = means & (low != whole) & (_named(trace.markers, codeobj[rows], whole) < 0)
        if not above.any() or np.count_nonzero(above) * _PACKED_SHARE < np.count_nonzero(means):
            continue
        rows, value = rows[means], value[means]
        marker[rows] = low[means]
        first, simd = distinct(*(columns[name][rows] for name in ("se", "sa", "cu", "simd")))
        since = columns["time"][rows] - (value >> (_ID_BITS + 2 - bits) << shift)
        span = 1 << (bits + shift)
        delay = (since - since[first][simd] + span // 2) % span - span // 2
        least = np.full(len(first), span)
        np.minimum.at(least, simd, delay)
        late[rows] = np.maximum(delay - least[simd] - (1 << shift) + 1, 0)
    return marker, late


def _losses(trace: Trace, se: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Return the time of the first loss of data on an engine from a time on, int64; no loss: the largest."""
    found = np.full(len(se), np.iinfo(np.int64).max)
    events = trace.events
    if events is not None:
        lost = events.kind == EventKind.PACKET_LOSS
        for one in ascending(events.se[lost]).tolist():
            times = np.append(events.time[lost & (events.se == one)], np.iinfo(np.int64).max)
            found[se == one] = times[np.searchsorted(times, begin[se == one])]
    return found


def _with_payload(trace: Trace, records: MarkerRecords) -> MarkerRecords:
    """Tell payload from markers: the given number of values after a header, of the same wave."""
    words, markers, means = np.zeros(len(records), dtype=np.int64), trace.markers, ~records.is_idle
    for owner, id, number in trace.marker_payloads:
        words[(records.codeobj == owner) & (records.marker == id) & means] = min(number, MAX_WORDS)
    kept = records.at(means)
    is_data = np.zeros(len(records), dtype=bool)
    is_strict, use = is_address_name(markers)[kept.name], marker_use(markers, kept.name, kept.value)
    is_data[means] = data_words(words[means], use, is_strict, kept.group, kept.value)
    return replace(records, is_data=is_data, words=np.where(is_data, 0, words))


def _flat(trace: Trace) -> dict[str, np.ndarray]:
    """The concatenated columns of all shader engines."""
    parts = trace.shader_data

    def joined(name: str, dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype=dtype), *(getattr(part, name) for part in parts)])

    cu = joined("cu", np.int16).astype(np.int16)
    return {
        "se": np.repeat([part.se for part in parts], [len(part.time) for part in parts]).astype(np.int16),
        "sa": ((np.maximum(cu, 0) >> 7) & 1).astype(np.int16),
        "cu": np.where(cu < 0, cu, cu & 0x7F).astype(np.int16),
        "simd": joined("simd", np.int16),
        "slot": joined("slot", np.int16),
        "time": joined("time", np.int64),
        "value": joined("value", np.uint32),
        "flags": joined("flags", np.int16),
    }


def _lives(
    trace: Trace, slots: np.ndarray, time: np.ndarray, is_ours: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The life of each value (-1: none), its begin and end, and the kernel id (-1: unknown)."""
    lives, index = residencies(trace.occupancy), trace.waves
    key = np.concatenate([_index_key(trace), place(lives)])
    begin, end = np.concatenate([index.begin, lives.begin]), np.concatenate([index.end, lives.end])
    life = latest(key, begin, slots, time)
    last = max(trace.span.end, int(time.max(initial=trace.span.end)))
    counts = (life >= 0) & ((time <= np.append(end, 0)[life]) | is_ours)
    stop = np.where((life >= 0) & is_ours, np.maximum(np.append(end, 0)[life], time), last)
    kernel = np.concatenate([index.kernel, lives.kernel, [-1]]).astype(np.int64)
    return life, np.append(begin, 0)[life], stop, np.where(counts, kernel[life], -1)


def _index_key(trace: Trace) -> np.ndarray:
    """The slots of the wave index; an unknown compute unit comes from the engine's values, if they agree."""
    index = trace.waves
    cu, sa = index.cu.copy(), index.sa.copy()
    if np.any(cu < 0):
        for data in trace.shader_data:
            seen = ascending(data.cu)
            if len(seen) == 1 and seen[0] >= 0:
                mine = (cu < 0) & (index.se == data.se)
                cu[mine], sa[mine] = seen[0] & 0x7F, (seen[0] >> 7) & 1
    return slot_key(index.se, sa, cu, index.simd, index.slot)


class _Ran(Value):
    """The code object that ran when values were written: one row a value with a known wave."""

    value: np.ndarray  # int64, index among the values of the file
    codeobj: np.ndarray  # int64, code object of the last token at or before it; UNKNOWN without such a token


@memoized
def _waves(trace: Trace) -> np.ndarray:
    """The wave of each value, int64, row of the wave index, -1 if no wave was in its slot by then."""
    columns = _flat(trace)
    slots = slot_key(*(columns[name] for name in _SLOT))
    return latest(_index_key(trace), trace.waves.begin, slots, columns["time"])


def _map(trace: Trace, parcel: Parcel) -> _Ran:
    tokens, wave = parcel.own, _waves(trace)
    row = np.array([one.row for one in tokens.waves], dtype=np.int64)
    value = np.flatnonzero(np.isin(wave, row))
    if not len(value):  # tokens are not needed
        return _Ran(value, value)
    objects = np.append(trace.code.codeobj.astype(np.int64), UNKNOWN)
    token = latest(row[tokens.owner], tokens.start, wave[value], _flat(trace)["time"][value])
    line = np.append(tokens.line, -1)[token]
    return _Ran(value, objects[np.where((line >= 0) & (line < len(trace.code)), line, -1)])


def _by_kernels(trace: Trace, kernel: np.ndarray) -> np.ndarray:
    """Return the code object of kernel ids, int64; UNKNOWN if a name belongs to none or to several."""
    objects: dict[str, set[int]] = {}
    for one in trace.code.kernels:
        for name in (one.name, one.name.removesuffix(".kd")):
            objects.setdefault(name, set()).update(trace.code.codeobj[one.first : one.stop][:1].tolist())
    for marker in trace.markers:
        if marker.kind == "kernel":
            objects.setdefault(marker.name, set()).add(marker.codeobj)
    launched = {one.kernel: one.code_object for one in trace.dispatches if one.code_object}

    def object_of(name: str) -> int:
        if match := _NAMELESS.fullmatch(name):
            return min(int(match[1]), (1 << 62) - 1)
        short = demangled(name.removesuffix(".kd"))
        several = objects.get(name) or objects.get(f"_{name}") or objects.get(short) or set()
        return next(iter(several)) if len(several) == 1 else UNKNOWN

    ids, number = np.unique(kernel, return_inverse=True)
    names = trace.occupancy.names
    every = [launched.get(id) or object_of(names.get(id, "")) for id in ids.tolist()]
    return np.array(every, dtype=np.int64)[number]


def _named(markers: tuple[MarkerName, ...], codeobj: np.ndarray, marker: np.ndarray) -> np.ndarray:
    """Return the first row of the dictionary with this code object and marker, int32; -1: there is none."""
    n = len(codeobj)
    objects = np.array([one.codeobj for one in markers], dtype=np.int64)
    ids = np.array([min(one.marker, 1 << 32) for one in markers], dtype=np.int64)
    number = distinct(np.concatenate([codeobj, objects]), np.concatenate([marker, ids]))[1]
    row = np.full(len(number), -1, dtype=np.int32)
    row[number[n:][::-1]] = np.arange(len(markers))[::-1]
    return row[number[:n]]


FILE = "shader data"
_AFFECTS = (Affects.MARKERS,)
MAX_LISTED = 5  # ids that a sentence lists
LOST = "The trace unit loses markers where many are written at once: instrument less, or larger functions."


class MarkerSpans(ColumnTable):
    """One row a scope or point, sorted by (slot, begin, depth); a wave has one at a time of each depth."""

    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles; equal to begin for points
    depth: np.ndarray  # int16, number of enclosing scopes
    kind: np.ndarray  # uint8, MarkerKind
    name_id: np.ndarray  # int32, row of `names`
    marker: np.ndarray  # int64, marker id
    codeobj: np.ndarray  # int64, code object whose dictionary named it
    is_open: np.ndarray  # bool: its end was not recorded
    is_point: np.ndarray  # bool
    wave: np.ndarray  # int32, row of the wave index, -1 without detail
    names: tuple[str, ...]
    sources: tuple[str, ...]  # of each name, "" if unknown
    records: MarkerRecords
    span_of_record: np.ndarray  # int64, row of the span that a value opened, marks, or only closed; -1: none
    is_orphan: np.ndarray  # bool, a row a value: it closes, but nothing was open
    problems: tuple[Problem, ...] = ()


def marker_spans(
    trace: Trace, batches: Iterable[WaveBatch], rule: ReferenceRule = ReferenceRule.OURS
) -> MarkerSpans:
    """Match the values of a trace into scopes.  Never raises for any values.

    Enters and points of code objects without a dictionary are ignored; their exits still close.  A scope that
    is still open ends with its wave; by the reference rule, with the trace.
    """
    return MARKERS[rule].of(trace, batches)


def _finish(trace: Trace, ran: _Ran, *, rule: ReferenceRule) -> MarkerSpans:
    records = _records(trace, ran, rule)
    group, n = records.group, len(records)
    bits = records.value & (CLOSES | OPENS)
    counts = ~(records.is_data | records.is_idle)
    counts &= (records.marker != 0) | (bits == CLOSES) | (rule is not ReferenceRule.OURS)  # 0 is not an id
    closes = ((bits & CLOSES) != 0) & counts
    means = records.is_named_object & counts
    opens, points = ((bits & OPENS) != 0) & means, (bits == 0) & means
    # Enclosing scopes of a value after it closed a scope: the sum of steps above its minimum in the group.
    step = opens.astype(np.int64) - closes
    level = np.cumsum(step) - step
    level -= level[np.flatnonzero(starts_run(group))][group] + closes
    ground = group * (n + 1)  # each group lies below the previous: one minimum serves all
    lowest = np.minimum.accumulate(np.minimum(level, 0) - ground) + ground
    is_orphan = closes & (level < np.where(starts_run(group), 0, np.roll(lowest, 1)))
    depth = level - lowest
    close = _closing(group, depth, np.flatnonzero(closes & ~is_orphan), np.flatnonzero(opens))

    row = np.flatnonzero(opens | points)
    slots = np.cumsum(starts_run(*(getattr(records, name) for name in _SLOT)))
    row = row[np.lexsort((depth[row], records.time[row], slots[row]))]
    opened, is_point = records.at(row), points[row]
    is_open = (close[row] < 0) & ~is_point
    end = np.where(is_open, opened.stop, np.where(is_point, opened.time, records.time[close[row]]))
    span_of_record = np.full(n, -1, dtype=np.int64)
    span_of_record[close[row[close[row] >= 0]]] = np.flatnonzero(close[row] >= 0)
    span_of_record[row] = np.arange(len(row))
    ids, number = np.unique(opened.marker[opened.name < 0], return_inverse=True)
    name_id = opened.name.copy()
    name_id[opened.name < 0] = len(trace.markers) + number
    kinds = [*(MarkerKind[one.kind.upper()] for one in trace.markers), MarkerKind.UNKNOWN]
    spans = MarkerSpans(
        **{name: getattr(opened, name) for name in (*_SLOT, "marker", "codeobj", "wave")},
        begin=opened.time,
        end=np.maximum(opened.time, end),
        depth=np.minimum(depth[row], (1 << 15) - 1).astype(np.int16),
        kind=np.array(kinds, dtype=np.uint8)[opened.name],
        name_id=name_id,
        is_open=is_open,
        is_point=is_point,
        names=(*(one.name for one in trace.markers), *(Message("marker {0}", id) for id in ids.tolist())),
        sources=(*(one.source for one in trace.markers), *("" for _ in ids)),
        records=records,
        span_of_record=span_of_record,
        is_orphan=is_orphan,
    )
    return replace(spans, problems=tuple(_problems(trace, spans)))


_NO_RUN = _Ran(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
MARKERS = {rule: Reduction(_map, tables(_NO_RUN), partial(_finish, rule=rule)) for rule in ReferenceRule}


def _closing(group: np.ndarray, depth: np.ndarray, closes: np.ndarray, opens: np.ndarray) -> np.ndarray:
    """The row that closes what each row opened, int64; -1 if it opened nothing or stays open.

    Inside a group the steps of a depth alternately open and close; a row closes before it opens.
    """
    close = np.full(len(group), -1, dtype=np.int64)
    row, is_open = np.concatenate([closes, opens]), np.repeat([False, True], [len(closes), len(opens)])
    order = np.lexsort((is_open, row, depth[row], group[row]))
    row, is_open = row[order], is_open[order]
    is_alike = ~starts_run(group[row], depth[row])[1:]
    pair = np.flatnonzero(is_open[:-1] & ~is_open[1:] & is_alike)
    close[row[pair]] = row[pair + 1]
    return close


def _problems(trace: Trace, spans: MarkerSpans) -> Iterator[Problem]:
    records = spans.records

    def lossy(text: str) -> Problem:
        return Problem(Severity.WARNING, FILE, text, LOST, _AFFECTS)

    def where(row: int) -> tuple[str, str]:
        return place_text(records, row), count(int(records.time[row]))

    if len(records) and not trace.markers:
        text = (
            "The kernel wrote shader data, but neither code.json nor a code object has a dictionary of "
            "markers: values have no names."
        )
        yield Problem(Severity.INFO, FILE, text, "Build the kernel with markers to see scopes.", _AFFECTS)
    rows = np.flatnonzero(spans.kind == MarkerKind.UNKNOWN)
    if len(rows):
        ids = _listed(map(str, ascending(spans.marker[rows]).tolist()))
        have = plural(len(rows), "marker has", "markers have")
        unknown = Message("{0} no name in the dictionary: id {1}.", have, ids)
        hint = "Take the capture and its code objects from one build."
        yield Problem(Severity.WARNING, FILE, unknown, hint, _AFFECTS)
    rows = np.flatnonzero(spans.is_orphan & records.is_named_object)
    if len(rows):
        close = plural(len(rows), "marker closes", "markers close")
        place, time = where(int(rows[np.argmin(records.time[rows])]))
        yield lossy(Message("{0} a scope that was not open, the first on {1} at {2}.", close, place, time))
    words, idle = missing_words(records), records.is_idle & records.is_named_object
    if words.any():
        gone, of = count(int(words.sum())), plural(int(records.words.sum()), "data word")
        place, time = where(int(words.argmax()))
        text = "{0} of {1} after markers are missing, the first on {2} at {3}."
        yield lossy(Message(text, gone, of, place, time))
    lost = int(np.count_nonzero(idle & (records.flags & PRIVILEGED == 0)))
    if lost:
        came = plural(lost, "value came", "values came")
        text = "{0} after lost packets until another wave took the slot: they have no meaning."
        yield lossy(Message(text, came))
    rows = np.flatnonzero(spans.is_open)
    if len(rows):
        names = _listed(sorted({spans.names[row] for row in spans.name_id[rows].tolist()}))
        were = plural(len(rows), "scope was", "scopes were")
        still = Message("{0} still open when the wave ended: {1}; they are drawn up to its end.", were, names)
        yield Problem(Severity.INFO, FILE, still, "", _AFFECTS)


def missing_words(records: MarkerRecords) -> np.ndarray:
    """Return how many payload words are missing after each value, int64."""
    ends = np.flatnonzero(np.append(~(records.is_data | records.is_idle), True))  # markers, and the end
    there = np.zeros(len(records), dtype=np.int64)
    there[ends[:-1]] = np.diff(np.append(0, np.cumsum(records.is_data))[ends])
    return np.maximum(records.words - there, 0)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:MAX_LISTED]) + (" …" if len(every) > MAX_LISTED else "")


def place_text(table: MarkerSpans | MarkerRecords, row: int) -> str:
    """Return `SE0 CU3 SIMD1 slot 0`."""
    return place_name(*(int(getattr(table, name)[row]) for name in _SLOT))
