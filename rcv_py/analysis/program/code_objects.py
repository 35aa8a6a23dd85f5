"""Which code object a slot was running at a moment: told by tokens, else by the kernel that lived there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

UNKNOWN = 0  # no code object has this number
_NAMELESS = re.compile(r"(\d{1,18}) / 0x[0-9a-fA-F]+")


def by_tokens(trace: Trace, batches: Sequence[WaveBatch], wave: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the code object of the last token at or before `time` in the wave of an index row, int64.

    UNKNOWN where the wave is -1, not loaded, had issued nothing yet, or its code line is unknown.
    """
    found = np.full(len(wave), UNKNOWN, dtype=np.int64)
    codeobj = trace.code.codeobj
    for batch in batches:
        place = np.full(len(trace.waves) + 1, -1, dtype=np.int64)  # the last row answers for wave -1
        place[batch.rows] = np.arange(len(batch.waves))
        asked = np.flatnonzero(place[wave] >= 0)
        if not len(asked) or not len(batch.line):
            continue
        token = _last_token(batch, place[wave[asked]], time[asked])
        line = np.where(token >= 0, batch.line[np.maximum(token, 0)], -1)
        known = (line >= 0) & (line < len(codeobj))
        found[asked[known]] = codeobj[line[known]]
    return found


def _last_token(batch: WaveBatch, owner: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Rows of the batch columns, -1 if the wave had issued nothing yet."""
    start, first = columns_of(batch).start, batch.first
    origin = int(start.min())
    reach = int(start.max()) - origin + 2
    if reach > (1 << 62) // max(1, len(batch.waves)):  # times of a damaged file: too wide for one key
        pairs = zip(owner.tolist(), time.tolist(), strict=True)
        after = [
            first[i] + np.searchsorted(start[first[i] : first[i + 1]], moment, side="right")
            for i, moment in pairs
        ]
        token = np.array(after, dtype=np.int64) - 1
    else:
        key = start - origin + np.repeat(np.arange(len(batch.waves)) * reach, np.diff(first))
        asked = np.clip(time - origin, -1, reach - 1) + owner * reach
        token = np.searchsorted(key, asked, side="right") - 1
    return np.where(token >= first[owner], token, -1)


def by_kernels(trace: Trace, kernel: np.ndarray) -> np.ndarray:
    """Return the code object of kernel ids, int64; UNKNOWN where a name belongs to none or to several."""
    named = _objects_of_names(trace)
    launched = {one.kernel: one.code_object for one in trace.dispatches if one.code_object}
    ids, place = np.unique(kernel, return_inverse=True)
    objects = [
        launched.get(number) or _object_of(trace.occupancy.names.get(number, ""), named)
        for number in ids.tolist()
    ]
    return np.array(objects, dtype=np.int64)[place.reshape(-1)] if len(ids) else np.zeros(0, dtype=np.int64)


def _object_of(name: str, named: dict[str, set[int]]) -> int:
    if match := _NAMELESS.fullmatch(name):
        return min(int(match[1]), (1 << 62) - 1)
    found = named.get(name) or named.get(f"_{name}") or set()  # a tool puts `_` before plain names
    return next(iter(found)) if len(found) == 1 else UNKNOWN


def _objects_of_names(trace: Trace) -> dict[str, set[int]]:
    named: dict[str, set[int]] = {}
    for kernel in trace.code.kernels:
        rows = trace.code.codeobj[kernel.first : kernel.stop]
        _add(named, (kernel.name, kernel.name.removesuffix(".kd")), rows[:1].tolist())
    return named


def _add(named: dict[str, set[int]], names: Iterable[str], objects: list[int]) -> None:
    for name in names:
        named.setdefault(name, set()).update(objects)
