"""From loaded waves to the rows of a timeline; pure, so that it can run in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.raster import Segment, TokenRow
from rcv_py.analysis.timeline.wave_places import place_name
from rcv_py.base.text import short_kernel
from rcv_py.model.device import OtherSimd
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.table.filter_menu import Choice
from rcv_py.ui.timeline.rows_item import RowName
from rcv_py.ui.timeline.token_rows import Pending


@dataclass(frozen=True, eq=False)
class WaveRows:
    """The rows of some slots."""

    rows: tuple[TokenRow, ...]
    names: tuple[RowName, ...]
    pending: tuple[Pending, ...]
    row_of_wave: Mapping[int, int]  # row of the wave index to row on screen


def kernel_choices(trace: Trace | None, prefix: str, used: np.ndarray | None = None) -> list[Choice]:
    """Return the kernels of the waves (or with the ids in `used`) for a menu; none if there is only one."""
    if trace is None:
        return []
    ids = np.unique(trace.waves.kernel if used is None else used).tolist()
    names = {name: None for one in ids if (name := trace.occupancy.names.get(one))}
    nice = {kernel.name: kernel.demangled for kernel in trace.code.kernels}
    return [
        Choice(prefix + name, short_kernel(nice.get(name, name)), tip=name)
        for name in names
        if len(names) > 1
    ]


def wave_rows(
    trace: Trace, store: WaveStore, chosen: np.ndarray, known: Mapping[int, Segment], others: bool = True
) -> WaveRows:
    """Return a row for every slot of the chosen waves, in order; `known` are segments made before."""
    index = trace.waves
    columns = (index.se, index.sa, index.cu, index.simd, index.slot)
    keys = [tuple(int(column[row]) for column in columns) for row in chosen.tolist()]
    slots = {key: number for number, key in enumerate(sorted(set(keys)))}
    members: list[list[Segment]] = [[] for _ in slots]
    pending, row_of_wave = [], {}
    for wave_row, key in zip(chosen.tolist(), keys, strict=True):
        row = row_of_wave[wave_row] = slots[key]
        segment = known.get(wave_row) or _segment(store, wave_row)
        if segment is None:
            pending.append(Pending(row, index.span(wave_row), wave_row))
        else:
            members[row].append(segment)
    rows = [TokenRow(tuple(sorted(part, key=lambda one: one.begin))) for part in members]
    names = [RowName(f"{key[3]}-{key[4]}", place_name(trace, *key[:3])) for key in slots]
    for other in trace.other_simd if others else ():
        if len(other.time) and any(_is_beside(other, key[0], key[2]) for key in slots):
            end = other.time + np.maximum(other.duration, 1)
            rows.append(TokenRow((span_segment(other.time, end, other.kind),)))
            names.append(RowName("sibling", f"SIMD {other.simd if other.simd >= 0 else '?'}"))
    for made in rows:
        _ = made.joined  # built here, off the UI thread
    return WaveRows(tuple(rows), tuple(names), tuple(pending), row_of_wave)


def _is_beside(other: OtherSimd, se: int, cu: int) -> bool:
    """Whether these are instructions of a unit; a unit that is not known could be it."""
    return other.se == se and (other.cu == cu or -1 in (other.cu, cu))


def _segment(store: WaveStore, row: int) -> Segment | None:
    if (wave := store.wave(row)) is None:
        return None
    return Segment.of(wave.tokens, wave.states, store.lod(row), TimeWindow(wave.begin, wave.end), row)


def span_segment(
    start: np.ndarray, end: np.ndarray, kind: np.ndarray, token: np.ndarray | None = None, slack: int = 0
) -> Segment:
    """Make a segment of plain spans; `token` (int32) takes the place of the code line."""
    order: Sequence[int] | np.ndarray = np.argsort(start, kind="stable")
    start, end, kind = start[order], end[order], kind[order]
    base = int(start[0])
    offset = start - base
    narrow = np.int32 if int((end - base).max()) < 1 << 31 else np.int64
    line = np.full(len(start), -1, np.int32) if token is None else token[order].astype(np.int32)
    nothing = np.zeros(len(start), narrow)
    length = (end - start).astype(narrow)
    lane = lanes(start, end, slack)
    tokens = Tokens(base, offset.astype(narrow), nothing, length, kind.astype(np.uint8), line, lane)
    no_states = States(base, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)
    return Segment.of(tokens, no_states, None, TimeWindow(base, int(end.max())))
