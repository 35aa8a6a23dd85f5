"""How long memory instructions hold their unit, and how long their width alone requires: inferred conflicts.

```
wave 0   I                          gets the unit at once
wave 1   ░░░░░░░░I                  refused until the unit took it
wave 2   ░░░░░░░░░░░░░░░░I          refused longer: wave 1 held the unit for 8 cycles
wave 3   ░░░░░░░░░░░░░░░░░░░░░░░░I  and so did wave 2
                 ├──────┤├──────┤
```
While instructions are refused one after the other, the distance between two is how long the first one held
the unit.  Its width requires a minimum: 128 bytes per cycle of LDS, 64 of vector memory, and its issue, twice
for two addresses (`ds_read2`).  If LDS is held longer, it has bank conflicts; if vector memory is, its lanes
are apart (no coalescing).  This is an inference: a trace has no addresses.  If only some SIMDs of a compute
unit were traced, the others take the unit in between and make the hold seem longer.
"""

import re
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.lines import LDS, VMEM, lines
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, union
from rcv_py.analysis.core.saturated import Sums, dense, joined_sums, no_sums, summed
from rcv_py.analysis.latency.access_widths import access_width
from rcv_py.analysis.program.registers import wave_lanes
from rcv_py.base.runs import distinct, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

UNITS = {LDS: "LDS", VMEM: "VMEM"}
BYTES_A_CYCLE = {LDS: 128, VMEM: 64}
ENOUGH = 8  # distances of an instruction that are needed to know how long it held its unit
LONGER = 2.0  # times the minimum for its width: beyond it there is another cause
_TWO = re.compile(r"ds_\w*2(st64|addr)?_")
_MAX_CYCLES = (1 << 31) - 1  # cycles


class AccessHolds(ColumnTable):
    """One row per LDS or vector memory instruction that ran, most stall first."""

    line: np.ndarray  # int32, code row
    unit: np.ndarray  # uint8, of UNITS
    width: np.ndarray  # int64, bytes per lane
    hits: np.ndarray  # int64, executions
    refused: np.ndarray  # int64, executions that stalled after another access of the unit
    stall: np.ndarray  # int64, cycles of these stalls
    samples: np.ndarray  # int64, executions for which the hold of the unit is known
    held: np.ndarray  # float64, cycles, median; nan without ENOUGH samples
    needed: np.ndarray  # int64, minimum cycles for the width
    is_part: bool  # SIMDs of a compute unit are missing

    @property
    def factor(self) -> np.ndarray:
        """How many times longer they held the unit than their width needs, float64; nan: unknown."""
        return self.held / self.needed

    @property
    def is_longer(self) -> np.ndarray:
        """Whether the hold is longer than the width explains, bool."""
        return np.nan_to_num(self.factor) >= LONGER

    @property
    def beyond(self) -> np.ndarray:
        """Cycles that all executions held the unit beyond the minimum of the width, float64; 0: unknown."""
        return np.nan_to_num(np.maximum(self.held - self.needed, 0)) * self.hits


class _Part(NamedTuple):
    rows: Sums  # code row: executions, refused ones, cycles of these stalls
    distances: Sums  # code row << 32 | cycles, and how often
    simds: np.ndarray  # int64, numbers of the SIMDs


def _map(trace: Trace, parcel: Parcel) -> _Part:
    tokens, of_code = parcel.tokens, lines(trace.code, trace.architecture)
    row = tokens.code_rows(len(trace.code))
    unit = of_code.unit[row]
    found, distances = [no_sums(3)], [no_sums(1)]
    for one in UNITS:
        token = np.flatnonzero(unit == one)
        place = tokens.units[tokens.owner[token]]
        order = np.lexsort((tokens.issue[token], place))
        token, place = token[order], place[order]
        issue, start, end = tokens.issue[token], tokens.start[token], tokens.ends_at(token)
        is_refused = ~starts_run(place) & (tokens.stall[token] > of_code.step)
        is_refused[1:] &= start[1:] <= end[:-1]  # also right after it, in the same wave
        counts = parcel.is_counted[token]
        line, stall = row[token], np.where(is_refused, tokens.stall[token], 0)
        columns = (np.ones(len(token), dtype=np.int64), is_refused.astype(np.int64), stall)
        found.append(summed(line[counts], *(column[counts] for column in columns)))
        both = np.flatnonzero(is_refused[1:] & is_refused[:-1] & counts[:-1])
        apart = np.minimum(issue[both + 1] - issue[both], _MAX_CYCLES)
        distances.append(summed(line[both] << 32 | apart, np.ones(len(both), dtype=np.int64)))
    return _Part(joined_sums(found), joined_sums(distances), np.unique(tokens.units * 16 + tokens.simds))


def _finish(trace: Trace, part: _Part) -> AccessHolds:
    code, of_code = trace.code, lines(trace.code, trace.architecture)
    hits, refused, stall = dense(part.rows, len(code) + 1)
    key, times = part.distances
    line, apart = key >> 32, key & _MAX_CYCLES
    (held,) = at_ranks(line, apart, len(code) + 1, (MEDIAN,), times)
    samples = np.bincount(line, times, len(code) + 1).astype(np.int64)
    counts = {"hits": hits, "refused": refused, "stall": stall, "samples": samples}
    row = np.flatnonzero(hits[:-1])
    unit = of_code.unit[row]
    width = np.array([max(0, access_width(code.text[at])) for at in row.tolist()], dtype=np.int64)
    speed = np.array([BYTES_A_CYCLE.get(one, 1) for one in range(int(unit.max(initial=0)) + 1)])
    turns = np.array([1 + (_TWO.match(of_code.texts[at]) is not None) for at in row.tolist()], dtype=np.int64)
    lanes = wave_lanes(code, trace.architecture)
    needed = np.maximum(of_code.hold[row] * turns, -(-width * lanes // speed[unit]))
    units = len(distinct(part.simds // 16)[0]) if len(part.simds) else 0
    found = AccessHolds(
        line=row.astype(np.int32),
        unit=unit,
        width=width,
        **{name: column[row] for name, column in counts.items()},
        held=np.where(samples[row] >= ENOUGH, held[row], np.nan),
        needed=needed,
        is_part=len(part.simds) < units * trace.architecture.simds_per_cu,
    )
    return found.at(np.lexsort((row, -found.stall, -found.beyond)))


_MERGE = by_field(_Part, rows=added(3), distances=added(1), simds=union)
HOLDS = Reduction(_map, _MERGE, _finish, is_together=True)  # waves that do not count still hold units
