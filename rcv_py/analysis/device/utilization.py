"""What kept each unit of a compute unit busy: the tokens of its waves, folded onto a track a unit.

A token occupies its unit from its issue (start + stall) to its end.  At least `base` cycles count (4 on
gfx9, 1 later), even if all of a token was stall; waits and messages count with their last `base` cycles.
On gfx9 that is issue time, later it is execution time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged
from rcv_py.analysis.core.saturated import Sums, joined_sums, no_sums, summed
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.base.records import dataclass
from rcv_py.base.runs import run_starts
from rcv_py.model.columns import joined, of_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow

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
_SIMDS = 1 << 16  # more than any unit has, the shared one included

Place = tuple[int, int]  # shader engine and compute unit
UnitBusy = tuple[tuple[str, int], ...]  # name of each unit that was used, and for how many cycles


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

    def __len__(self) -> int:
        return len(self.start)


def utilization(
    waves: Sequence[Wave], trace: Trace, places: Collection[Place] | None = None
) -> tuple[Track, ...]:
    """Return the tracks of these waves, which should be those of one compute unit, without empty ones.

    Instructions of the sibling SIMD count on its vector memory track: of compute units at `places` (None:
    those of the waves).
    """
    piece = of_waves(waves)
    base = trace.base_clock
    unit_of_kind = np.full(256, UNITS.index("SCAL"), dtype=np.int64)
    for name, kinds in (_GFX9 if trace.gfxip <= 9 else _LATER).items():
        unit_of_kind[list(kinds)] = UNITS.index(name)
    unit = unit_of_kind[piece.kind]
    brief, shared = (np.isin(unit, list(map(UNITS.index, names))) for names in (_BRIEF_UNITS, _SHARED_UNITS))
    cycles = piece.duration
    busy = cycles - np.clip(piece.stall, 0, np.maximum(0, cycles - base))
    length = np.where(brief, np.minimum(base, cycles), busy)
    end = piece.start + cycles
    simd, row = np.array([(wave.id.simd, wave.row) for wave in waves], dtype=np.int64).reshape(-1, 2).T
    simd = np.where(shared, SHARED, simd[piece.owner])
    token = np.arange(len(piece)) - piece.first[piece.owner]
    parts = [
        _Spans(
            unit=unit,
            simd=simd,
            start=end - length,
            end=end,
            kind=piece.kind,
            wave=row[piece.owner],
            token=token,
        )
    ]
    places = _places_of(waves) if places is None else places
    for other in trace.other_simd:
        if (other.se, other.cu) in places:
            none = np.full(len(other.time), -1)
            unit, simd = np.full_like(none, UNITS.index("VMEM")), np.full_like(none, max(other.simd, 0))
            end = other.time + other.duration
            parts.append(
                _Spans(
                    unit=unit, simd=simd, start=other.time, end=end, kind=other.kind, wave=none, token=none
                )
            )
    spans = joined(parts)
    order = np.lexsort((spans.start - spans.end, spans.start, spans.simd, spans.unit))
    spans = of_rows(spans, order)
    first = run_starts(spans.unit, spans.simd).tolist()
    return tuple(_track(of_rows(spans, slice(*ends))) for ends in pairwise([*first, len(order)]))


def _places_of(waves: Iterable[Wave]) -> frozenset[Place]:
    return frozenset((wave.id.se, cu) for wave in waves for cu in (wave.cu, UNKNOWN_CU))


def unit_busy(trace: Trace, window: TimeWindow) -> Reduction[Any, UnitBusy] | Staged[Any, Any, UnitBusy]:
    """Return for how long units of one compute unit were busy in a window, by all its waves.

    Whose instructions of a sibling SIMD count is known when all waves are: where there are such, waves are
    looked at twice.
    """
    by = partial(_busy_by, window)
    return Staged(_PLACES, by) if len(trace.other_simd) else by(frozenset())


def _busy_by(window: TimeWindow, places: frozenset[Place]) -> Reduction[Sums, UnitBusy]:
    return Reduction(partial(_busy, window, places), _merged, _named, is_together=True)


def _busy(window: TimeWindow, places: frozenset[Place], trace: Trace, parcel: Parcel) -> Sums:
    """The cycles of each track (unit and SIMD as one number) in slab and window."""
    begin, end = max(window.begin, parcel.begin), min(window.end, parcel.end)
    tracks = utilization(parcel.tokens.waves, trace, places)
    key = [UNITS.index(track.unit) * _SIMDS + track.simd + 1 for track in tracks]
    cycles = [0] * len(tracks)
    if begin < end:
        inside = TimeWindow(begin, end)
        cycles = [IntervalSet.of(track.start, track.end).inside(inside) for track in tracks]
    return summed(np.array(key, dtype=np.int64), np.array(cycles, dtype=np.int64))


def _merged(parts: Sequence[Sums]) -> Sums:
    return joined_sums([no_sums(1), *parts])


def _named(_trace: Trace, part: Sums) -> UnitBusy:
    key, cycles = part
    names = [_name(UNITS[at // _SIMDS], at % _SIMDS - 1) for at in key.tolist()]
    return tuple(zip(names, cycles.tolist(), strict=True))


def _map_places(_trace: Trace, parcel: Parcel) -> frozenset[Place]:
    return _places_of(parcel.own.waves)


def _all_places(parts: Sequence[frozenset[Place]]) -> frozenset[Place]:
    return frozenset().union(*parts)


def _same(_trace: Trace, places: frozenset[Place]) -> frozenset[Place]:
    return places


_PLACES = Reduction(_map_places, _all_places, _same)


def _name(unit: str, simd: int) -> str:
    return unit if simd == SHARED else f"{unit}{simd}"


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


def _track(spans: _Spans) -> Track:
    unit, simd = UNITS[int(spans.unit[0])], int(spans.simd[0])
    wave, token = spans.wave.astype(np.int32), spans.token.astype(np.int32)
    return Track(
        name=_name(unit, simd),
        unit=unit,
        simd=simd,
        start=spans.start,
        end=spans.end,
        kind=spans.kind.astype(np.uint8),
        wave=wave,
        token=token,
    )
