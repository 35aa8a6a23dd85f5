"""Utilization of the units of a compute unit: the tokens of its waves, on a track for each unit.

A token occupies its unit from its issue (start + stall) to its end, for at least `base` cycles (4 on gfx9, 1
later), even if all of the token was stall; waits and messages count with their last `base` cycles.  On gfx9
that is issue time, later it is execution time.  The matrix pipe of a SIMD is busy for the passes of its
instructions, one instruction after another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet, serial_ends
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, unchanged
from rcv_py.analysis.core.saturated import Sums, summed
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.program.matrix_forms import passes_of
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow

UNITS = ("MATRIX", "WMMA", "VALU", "LDS", "VMEM", "RAY", "SCAL", "JUMP", "MSG", "IMMED")
# For people.
UNIT_TITLE = {"MATRIX": "matrix", "SCAL": "SALU/SMEM", "JUMP": "branch", "MSG": "message", "IMMED": "wait"}
_VEGA_TITLE = {"VALU": "VALU/MFMA", "VMEM": "VMEM/LDS"}  # gfx9 issues both to one unit
UNKNOWN_CU = -1
SHARED = -1  # the `simd` of tracks that all SIMDs share

_VEGA = {
    "VALU": (TokenKind.VALU, TokenKind.MATRIX),
    "VMEM": (TokenKind.VMEM, TokenKind.FLAT, TokenKind.LDS, TokenKind.BVH),
    "MSG": (TokenKind.MSG,),
    "IMMED": (TokenKind.IMMED, TokenKind.TRAP),
}
_NAVI = {
    "WMMA": (TokenKind.MATRIX,),
    "VALU": (TokenKind.VALU,),
    "LDS": (TokenKind.LDS,),
    "VMEM": (TokenKind.VMEM, TokenKind.FLAT),
    "RAY": (TokenKind.BVH,),
    "JUMP": (TokenKind.JUMP, TokenKind.NEXT),
    "MSG": (TokenKind.MSG,),
    "IMMED": (TokenKind.IMMED, TokenKind.TRAP),
}
_KINDS_OF_UNITS = {"vega": _VEGA, "navi": _NAVI}  # by layout of the trace
_SHARED_UNITS = ("JUMP", "MSG", "IMMED")
_BRIEF_UNITS = ("MSG", "IMMED")  # only the last `base` cycles of their tokens count
_SIMDS = 1 << 16  # more than any unit has, the shared one included

Place = tuple[int, int]  # shader engine and compute unit
UnitBusy = tuple[tuple[str, int], ...]  # name of each used unit, and its busy cycles


class Track(Record):
    """The spans that occupied a unit, sorted by start; they may overlap."""

    name: str  # e.g. "VALU0"
    unit: str  # one of UNITS
    simd: int  # SHARED if the unit serves all
    start: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    kind: np.ndarray  # uint8, TokenKind
    wave: np.ndarray  # int32, row of the wave index; -1 for instructions of the sibling SIMD
    token: np.ndarray  # int32, token row inside the wave; -1 for instructions of the sibling SIMD

    def __len__(self) -> int:
        return len(self.start)


def utilization(
    waves: Sequence[TracedWave], trace: Trace, places: Collection[Place] | None = None
) -> tuple[Track, ...]:
    """Return the nonempty tracks of these waves, which should belong to one compute unit.

    Instructions of the sibling SIMD count on its vector memory track, for compute units at `places` (None:
    the places of the waves).
    """
    found = _of_waves(waves, trace) | _of_matrix_pipes(waves, trace)
    places = _places_of(waves) if places is None else places
    for other in trace.other_simd:
        if (other.se, other.cu) in places:
            none = np.full(len(other.time), -1, dtype=np.int32)
            spans = _Spans(other.time, other.time + other.duration, other.kind, wave=none, token=none)
            found.setdefault((UNITS.index("VMEM"), max(other.simd, 0)), []).append(spans)
    return tuple(_track(*place, found[place]) for place in sorted(found) if any(map(len, found[place])))


def _of_waves(waves: Sequence[TracedWave], trace: Trace) -> dict[tuple[int, int], list[_Spans]]:
    """Spans of tokens by unit number and SIMD; computed place by place, to save memory."""
    piece, base = of_waves(waves), trace.architecture.base_clock
    unit_of_kind = np.full(256, UNITS.index("SCAL"), dtype=np.int64)
    for name, kinds in _KINDS_OF_UNITS[trace.architecture.layout].items():
        unit_of_kind[list(kinds)] = UNITS.index(name)
    simd, row = np.array([(wave.id.simd, wave.row) for wave in waves], dtype=np.int64).reshape(-1, 2).T
    simds = ascending(np.append(simd, SHARED))
    shared = [UNITS.index(name) for name in _SHARED_UNITS]
    # The place of each token, in as few bytes as possible: every place scans all of them.
    at_simd = np.tile(np.searchsorted(simds, simd), (len(UNITS), 1))
    at_simd[shared] = 0
    place = at_simd + np.arange(len(UNITS))[:, None] * len(simds)
    place = place.astype(np.min_scalar_type(place.max(initial=0)))
    owner = np.repeat(np.arange(len(waves), dtype=np.int32), np.diff(piece.first))
    key = place[unit_of_kind.astype(np.uint8)[piece.kind], owner]
    found = {}
    for at in np.flatnonzero(np.bincount(key, minlength=1)).tolist():
        checkpoint()
        unit, tokens = at // len(simds), np.flatnonzero(key == at)
        wave = owner[tokens]
        stall, cycles = piece.stall[tokens].astype(np.int64), piece.busy[tokens].astype(np.int64)
        cycles += stall
        end = piece.start[tokens] + cycles
        if UNITS[unit] in _BRIEF_UNITS:
            length = np.minimum(base, cycles)
        else:
            length = cycles - np.clip(stall, 0, np.maximum(0, cycles - base))
        number = (tokens - piece.first[wave]).astype(np.int32)
        spans = _Spans(end - length, end, piece.kind[tokens], row.astype(np.int32)[wave], number)
        found[unit, int(simds[at % len(simds)])] = [spans]
    return found


def _of_matrix_pipes(waves: Sequence[TracedWave], trace: Trace) -> dict[tuple[int, int], list[_Spans]]:
    """Spans in which each SIMD's matrix pipe works on an instruction, none before the earlier one is done."""
    tokens = of_waves(waves)
    at, passes = passes_of(trace).of_tokens(tokens)
    owner, issue = tokens.owner[at], tokens.issue[at]
    places = np.array([(wave.id.simd, wave.row) for wave in waves], dtype=np.int64).reshape(-1, 2)
    simd, row = places[owner].T
    found = {}
    for one in ascending(simd).tolist():
        mine = np.flatnonzero((simd == one) & (passes > 0))
        mine = mine[np.argsort(issue[mine], kind="stable")]
        length = passes[mine]
        done = serial_ends(issue[mine], length)
        number = (at[mine] - tokens.first[owner[mine]]).astype(np.int32)
        spans = _Spans(done - length, done, tokens.kind[at[mine]], row[mine].astype(np.int32), number)
        found[UNITS.index("MATRIX"), one] = [spans]
    return found


def _places_of(waves: Iterable[TracedWave]) -> frozenset[Place]:
    return frozenset((wave.id.se, cu) for wave in waves for cu in (wave.cu, UNKNOWN_CU))


def unit_busy(trace: Trace, window: TimeWindow) -> Reduction[Any, UnitBusy] | Staged[Any, Any, UnitBusy]:
    """Return the analysis of the busy cycles of the units of a compute unit in a window, by all its waves.

    Which instructions of a sibling SIMD count is only known from all waves: if there are any, waves are read
    twice.
    """
    by = partial(_busy_by, window)
    return Staged(_PLACES, by) if len(trace.other_simd) else by(frozenset())


def _busy_by(window: TimeWindow, places: frozenset[Place]) -> Reduction[Sums, UnitBusy]:
    return Reduction(partial(_busy, window, places), added(1), _named, is_together=True)


def _busy(window: TimeWindow, places: frozenset[Place], trace: Trace, parcel: Parcel) -> Sums:
    """The cycles of each track (unit and SIMD as a single number) in slab and window."""
    begin, end = max(window.begin, parcel.begin), min(window.end, parcel.end)
    tracks = utilization(parcel.tokens.waves, trace, places)
    key = [UNITS.index(track.unit) * _SIMDS + track.simd + 1 for track in tracks]
    cycles = [0] * len(tracks)
    if begin < end:
        inside = TimeWindow(begin, end)
        cycles = [IntervalSet.of(track.start, track.end).inside(inside) for track in tracks]
    return summed(np.array(key, dtype=np.int64), np.array(cycles, dtype=np.int64))


def _named(_trace: Trace, part: Sums) -> UnitBusy:
    key, cycles = part
    names = [_name(UNITS[at // _SIMDS], at % _SIMDS - 1) for at in key.tolist()]
    return tuple(zip(names, cycles.tolist(), strict=True))


def _map_places(_trace: Trace, parcel: Parcel) -> frozenset[Place]:
    return _places_of(parcel.own.waves)


def _all_places(parts: Sequence[frozenset[Place]]) -> frozenset[Place]:
    return frozenset().union(*parts)


_PLACES = Reduction(_map_places, _all_places, unchanged)


def _name(unit: str, simd: int) -> str:
    return unit if simd == SHARED else f"{unit}{simd}"


def unit_title(name: str, layout: str = "") -> str:
    """Return the display name of a track, given its name in documents: `SALU/SMEM0` for `SCAL0`.

    With the layout of the trace, the name also says which kinds of instructions share the unit.
    """
    unit = name.rstrip("0123456789")
    titles = UNIT_TITLE | (_VEGA_TITLE if layout == "vega" else {})
    return titles.get(unit, unit) + name.removeprefix(unit)


class _Spans(ColumnTable):
    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    wave: np.ndarray
    token: np.ndarray


def _track(unit: int, simd: int, parts: Sequence[_Spans]) -> Track:
    """A track of some spans, sorted by begin, then longest first."""
    spans = joined(parts)
    # Each wave is already in order: a sort that exploits runs has little to do.
    order = np.argsort(spans.start, kind="stable")
    start, end = spans.start[order], spans.end[order]
    is_tie = np.append(False, start[1:] == start[:-1])
    ties = np.flatnonzero(is_tie | np.append(is_tie[1:], False))
    if len(ties):
        order[ties] = order[ties][np.lexsort((-end[ties], start[ties]))]
    columns = {name: getattr(spans, name)[order] for name in ("start", "end", "kind", "wave", "token")}
    return Track(_name(UNITS[unit], simd), UNITS[unit], simd, **columns)
