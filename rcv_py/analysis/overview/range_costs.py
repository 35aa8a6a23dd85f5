"""Costs in a range of cycles: by cause, instruction and unit, and matrix operations.

Everything is cut at the borders of the range, so adjacent ranges add up to their union:

```
token    |--stall--|-busy-|          a range that begins in its stall has the rest of the stall
range         [---------------]
```
Executions and their operations belong to the range in which they issue.
"""

from functools import partial
from typing import Any

import numpy as np

from rcv_py.analysis.attribution import attribute
from rcv_py.analysis.attribution.stream import stream_of
from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field, union
from rcv_py.analysis.core.saturated import joined_sums, no_sums
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.device.utilization import SHARED, UNITS, utilization
from rcv_py.analysis.program.matrix_forms import flops_of
from rcv_py.analysis.program.operations import lane_flops_of
from rcv_py.analysis.program.registers import wave_lanes
from rcv_py.base.record import Value
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow

_SIMDS = 256  # SIMD numbers of a place, including SHARED
_COLUMNS = 4  # of instructions: executions, stall, busy, idle


class UnitUse(Value):
    """Busy cycles of the units of a kind, with traced waves."""

    unit: str  # one of UNITS
    count: int  # observable units of that kind: one a SIMD, or a compute unit, with a wave
    busy: int  # cycles, summed over them


class RangeCosts(Value):
    """Sums over the waves that count, cut at the borders of the range; columns are int64 [code rows]."""

    window: TimeWindow
    waves: int  # that lived in it
    wave_cycles: int  # that they lived in it
    hits: np.ndarray  # executions that issued in it
    stall: np.ndarray  # cycles
    busy: np.ndarray  # cycles of issue (gfx9) or execution
    idle: np.ndarray  # cycles of gaps before an instruction in its wave
    causes: attribute.Attribution  # why waves stalled and idled in it
    units: tuple[UnitUse, ...]  # in the order of UNITS
    flops: float  # operations of the matrix instructions that issued in it
    vector_flops: float  # at most: floating-point operations of vector instructions, by all lanes

    @property
    def cost(self) -> np.ndarray:
        """All cycles of each instruction, int64 [code rows]."""
        return saturated.later(saturated.later(self.stall, self.busy), self.idle)


class RangePart(Value):
    """Results of some parcels for a range."""

    claims: attribute.AttributionSums
    lines: saturated.Sums  # by code row: executions, stall, busy, idle
    units: saturated.Sums  # by unit of a place: busy cycles
    places: np.ndarray  # int64, distinct keys of SIMDs with a wave in the range
    waves: int
    wave_cycles: int


def clipped(begin: np.ndarray, end: np.ndarray, window: TimeWindow) -> np.ndarray:
    """Return the cycles of each span inside a window, int64."""
    return np.maximum(np.minimum(end, window.end) - np.maximum(begin, window.begin), 0)


def _map(survey: Survey, window: TimeWindow, trace: Trace, parcel: Parcel) -> RangePart:
    waves = [wave for wave in parcel.own.waves if wave.end > window.begin and wave.begin < window.end]
    lived = (min(wave.end, window.end) - max(wave.begin, window.begin) for wave in waves)
    units, places = _units(trace, parcel, window)
    return RangePart(
        claims=_claims(trace, parcel, window, survey),
        lines=_lines(parcel.own, window, len(trace.code)),
        units=units,
        places=places,
        waves=len(waves),
        wave_cycles=sum(max(0, cycles) for cycles in lived),
    )


def _claims(trace: Trace, parcel: Parcel, window: TimeWindow, survey: Survey) -> attribute.AttributionSums:
    """The claims of tokens of chosen waves that start in the slab, clipped to the window."""
    tokens, waves = parcel.tokens, len(parcel.own.waves)
    is_near = (tokens.start - tokens.idle < window.end) & (tokens.end > window.begin)
    if not (is_near & parcel.is_counted).any():
        return attribute.AttributionSums(no_sums(4), waves)
    stream = stream_of(trace, parcel.tokens, survey)
    parts = [
        _claimed(claims, window)
        for piece in parcel.in_time()
        if (is_near & piece.is_counted).any()
        for claims in attribute.claims_of(trace, piece, stream)
    ]
    return attribute.AttributionSums(joined_sums([no_sums(4), *parts]), waves)


def _claimed(each: attribute.ParcelClaims, window: TimeWindow) -> saturated.Sums:
    counts = np.zeros(len(each.claims), dtype=bool)
    counts[each.counts] = True
    spans, base = each.spent.spans(), each.stream.base
    cycles = clipped(spans.begin + base, spans.end + base, window)
    kept = np.flatnonzero(counts[spans.claim] & (cycles > 0))
    claim, cycles = spans.claim[kept], cycles[kept]
    claim, cycles = saturated.summed(claim, cycles)  # a claim with several spans is still one execution
    nothing, times = np.zeros_like(cycles), np.ones_like(cycles)
    guessed = np.where(each.claims.is_guess[claim], cycles, 0)
    stall, idle = (nothing, cycles) if each.is_idle else (cycles, nothing)
    return saturated.summed(each.key[claim], stall, idle, times, guessed)


def _lines(tokens: TokenColumns, window: TimeWindow, count: int) -> saturated.Sums:
    """Executions, stall, busy and idle cycles of each code row; `count` for tokens without a row."""
    near = np.flatnonzero((tokens.start - tokens.idle < window.end) & (tokens.end > window.begin))
    start, issue, end = tokens.start[near], tokens.issue[near], tokens.ends_at(near)
    hits = ((issue >= window.begin) & (issue < window.end)).astype(np.int64)
    return saturated.summed(
        tokens.code_rows(count)[near],
        hits,
        clipped(start, issue, window),
        clipped(issue, end, window),
        clipped(start - tokens.idle[near], start, window),
    )


def _units(trace: Trace, parcel: Parcel, window: TimeWindow) -> tuple[saturated.Sums, np.ndarray]:
    """Busy cycles by unit in slab and window, and the SIMDs with a wave there; keys of `_place`."""
    begin, end = max(window.begin, parcel.begin), min(window.end, parcel.end)
    if begin >= end:
        return no_sums(1), np.zeros(0, dtype=np.int64)
    inside, by_unit = TimeWindow(begin, end), dict[tuple[int, int], list[TracedWave]]()
    for wave in parcel.tokens.waves:
        if wave.end > begin and wave.begin < end:
            by_unit.setdefault((wave.id.se, wave.cu), []).append(wave)
    keys, cycles, places = [], [], set()
    for (se, cu), waves in by_unit.items():
        places |= {_place(se, cu, 0, wave.id.simd) for wave in waves}
        for track in utilization(waves, trace):
            keys.append(_place(se, cu, UNITS.index(track.unit), track.simd))
            cycles.append(IntervalSet.of(track.start, track.end).inside(inside))
    sums = saturated.summed(np.array(keys, dtype=np.int64), np.array(cycles, dtype=np.int64))
    return sums, np.array(sorted(places), dtype=np.int64)


def _place(se: int, cu: int, unit: int, simd: int) -> int:
    """A key of a unit of a SIMD; SHARED counts as a SIMD."""
    return (((se << 20) + cu + 1) * len(UNITS) + unit) * _SIMDS + simd + 1


def _finish(window: TimeWindow, trace: Trace, part: RangePart) -> RangeCosts:
    rows = len(trace.code)
    columns = [column[:rows] for column in saturated.dense(part.lines, rows + 1)]
    hits, lanes = columns[0], wave_lanes(trace.code, trace.architecture)
    key, cycles = part.units
    units = len(np.unique(part.places // (_SIMDS * len(UNITS))))
    kind, is_shared = key // _SIMDS % len(UNITS), key % _SIMDS == SHARED + 1
    used = []
    for number in np.unique(kind).tolist():
        mine = kind == number
        count = units if is_shared[mine].all() else len(part.places)
        used.append(UnitUse(UNITS[number], max(count, int(np.count_nonzero(mine))), int(cycles[mine].sum())))
    return RangeCosts(
        window=window,
        waves=part.waves,
        wave_cycles=part.wave_cycles,
        **dict(zip(("hits", "stall", "busy", "idle"), columns, strict=True)),
        causes=attribute.table_of(trace, part.claims),
        units=tuple(used),
        flops=float(hits @ flops_of(trace.code)) if rows else 0.0,
        vector_flops=float(hits @ lane_flops_of(trace.code)) * lanes if rows else 0.0,
    )


_SUMS: dict[str, Any] = {"lines": added(_COLUMNS), "units": added(1), "waves": sum, "wave_cycles": sum}
_MERGE = by_field(RangePart, claims=attribute.joined_attribution, places=union, **_SUMS)


def range_costs_by(window: TimeWindow, survey: Survey) -> Reduction[RangePart, RangeCosts]:
    """Return the reduction for a range, given a survey of all waves of the capture."""
    return Reduction(partial(_map, survey, window), _MERGE, partial(_finish, window), is_together=True)


def range_costs_of(window: TimeWindow) -> Staged[Survey, RangePart, RangeCosts]:
    """Return the analysis of a range of cycles, which relates waves to each other."""
    return Staged(SURVEY, partial(range_costs_by, window))
