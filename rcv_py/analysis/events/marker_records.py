"""What each value means that a kernel wrote with s_ttracedata.

A value is a marker id above two bits: bit 1 opens a scope, bit 0 closes the innermost one first.

```
…id…10  enter      …id…11  leave one, enter another
…id…00  point      00…0001 leave
```

Values that follow a marker with payload are data, not markers.  Ids get their names from the dictionary of
the code object that ran at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.latest import latest
from rcv_py.analysis.core.occupancy import place, residencies
from rcv_py.analysis.program.code_objects import UNKNOWN, by_kernels, by_tokens
from rcv_py.model.device import MarkerName
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
    if is_ours and (lone := _lone_object(trace)) is not None:
        codeobj[(codeobj == UNKNOWN) & (life >= 0)] = lone
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


def _lone_object(trace: Trace) -> int | None:
    objects = np.unique(trace.code.codeobj)
    return int(objects[0]) if len(objects) == 1 else None


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
    """Which values are payload: the given number of values behind a header, in the order of the file."""
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
