"""What kept each unit of a compute unit busy: the tokens of its waves, folded onto a track a unit.

A token occupies its unit from its issue (start + stall) to its end.  At least `base` cycles count (4 on
gfx9, 1 later), even if all of a token was stall; waits and messages count with their last `base` cycles.
On gfx9 that is issue time, later it is execution time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.model.columns import joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave

UNITS = ("WMMA", "VALU", "LDS", "VMEM", "RAY", "SCAL", "JUMP", "MSG", "IMMED")
UNIT_TITLE = {"SCAL": "SALU/SMEM", "JUMP": "branch", "MSG": "message", "IMMED": "wait"}  # for people
UNKNOWN_CU = -1
SHARED = -1  # the `simd` of tracks that all SIMDs share

_GFX9 = {
    "VALU": (TokenKind.VALU, TokenKind.MATRIX),
    "VMEM": (TokenKind.VMEM, TokenKind.FLAT, TokenKind.LDS, TokenKind.BVH),
    "MSG": (TokenKind.MSG,),
    "IMMED": (TokenKind.IMMED, TokenKind.TRAP),
}
_LATER = {
    "WMMA": (TokenKind.MATRIX,),
    "VALU": (TokenKind.VALU,),
    "LDS": (TokenKind.LDS,),
    "VMEM": (TokenKind.VMEM, TokenKind.FLAT),
    "RAY": (TokenKind.BVH,),
    "JUMP": (TokenKind.JUMP, TokenKind.NEXT),
    "MSG": (TokenKind.MSG,),
    "IMMED": (TokenKind.IMMED, TokenKind.TRAP),
}
_SHARED_UNITS = ("JUMP", "MSG", "IMMED")
_BRIEF_UNITS = ("MSG", "IMMED")  # only the last `base` cycles of their tokens count


@dataclass(frozen=True, eq=False)
class Track:
    """What occupied one unit, sorted by start; several may overlap."""

    name: str  # e.g. "VALU0"
    unit: str  # one of UNITS
    simd: int  # SHARED if the unit serves all
    start: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    kind: np.ndarray  # uint8, TokenKind
    wave: np.ndarray  # int32, row of the wave index; -1 for instructions of the sibling SIMD
    token: np.ndarray  # int32, token row inside the wave; -1 for those of the sibling SIMD
    cycles: int  # sum of the lengths
    overlapped: int  # how many start before an earlier one has ended

    def __len__(self) -> int:
        return len(self.start)


def utilization(waves: Sequence[Wave], trace: Trace, separate_lds: bool = False) -> tuple[Track, ...]:
    """Return the tracks of these waves, which should be those of one compute unit, without empty ones.

    `separate_lds` gives LDS instructions of gfx9 their own track.  Instructions of the sibling SIMD count on
    its vector memory track.
    """
    piece = of_waves(waves)
    if not waves:
        return ()
    base = trace.base_clock
    unit = _unit_of_kind(trace.gfxip, separate_lds)[piece.kind]
    brief = np.isin(unit, [UNITS.index(name) for name in _BRIEF_UNITS])
    cycles = piece.duration
    length = np.where(
        brief, np.minimum(base, cycles), cycles - np.clip(piece.stall, 0, np.maximum(0, cycles - base))
    )
    end = piece.start + cycles
    simd = np.repeat([wave.id.simd for wave in waves], np.diff(piece.first)).astype(np.int64)
    simd = np.where(np.isin(unit, [UNITS.index(name) for name in _SHARED_UNITS]), SHARED, simd)
    wave = np.repeat([wave.row for wave in waves], np.diff(piece.first))
    token = np.arange(len(piece)) - np.repeat(piece.first[:-1], np.diff(piece.first))
    table = _Spans(unit, simd, end - length, end, piece.kind, wave, token)
    return _tracks(_with_siblings(table, waves, trace))


def unit_title(name: str) -> str:
    """Return the name for people of a track by its name in documents: `SALU/SMEM0` of `SCAL0`."""
    unit = name.rstrip("0123456789")
    return UNIT_TITLE.get(unit, unit) + name.removeprefix(unit)


@dataclass(frozen=True, eq=False)
class _Spans:
    unit: np.ndarray
    simd: np.ndarray
    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    wave: np.ndarray
    token: np.ndarray


def _unit_of_kind(gfxip: int, separate_lds: bool) -> np.ndarray:
    table = np.full(256, UNITS.index("SCAL"), dtype=np.int64)
    for name, kinds in (_GFX9 if gfxip <= 9 else _LATER).items():
        table[list(kinds)] = UNITS.index(name)
    if separate_lds:
        table[TokenKind.LDS] = UNITS.index("LDS")
    return table


def _with_siblings(spans: _Spans, waves: Sequence[Wave], trace: Trace) -> _Spans:
    places = {(wave.id.se, cu) for wave in waves for cu in (wave.cu, UNKNOWN_CU)}
    others = [other for other in trace.other_simd if (other.se, other.cu) in places]
    parts = [spans]
    for other in others:
        none = np.full(len(other.time), -1)
        unit, simd = np.full_like(none, UNITS.index("VMEM")), np.full_like(none, max(other.simd, 0))
        end = other.time + other.duration
        parts.append(_Spans(unit, simd, other.time, end, other.kind, none, none))
    return joined(parts)


def _tracks(spans: _Spans) -> tuple[Track, ...]:
    if not len(spans.start):  # waves that ran nothing
        return ()
    order = np.lexsort((-(spans.end - spans.start), spans.start, spans.simd, spans.unit))
    group = (spans.unit * 256 + spans.simd + 1)[order]
    _, first = np.unique(group, return_index=True)
    return tuple(_track(spans, rows) for rows in np.split(order, first[1:]))


def _track(spans: _Spans, rows: np.ndarray) -> Track:
    unit, simd = UNITS[int(spans.unit[rows[0]])], int(spans.simd[rows[0]])
    start, end = spans.start[rows], spans.end[rows]
    latest = np.maximum.accumulate(end)
    return Track(
        unit if simd == SHARED else f"{unit}{simd}",
        unit,
        simd,
        start,
        end,
        spans.kind[rows].astype(np.uint8),
        spans.wave[rows].astype(np.int32),
        spans.token[rows].astype(np.int32),
        int((end - start).sum()),
        int(np.count_nonzero(start[1:] < latest[:-1])),
    )
