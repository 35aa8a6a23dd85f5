"""Inputs of the detectors: a capture, its waves and their analyses, each computed once on first use.

The launch shape is how the launch filled the device over time; it converts shares of SIMD time into shares
of the kernel's duration:

```
SIMD 0   ██████████████      duration: first start of a wave to last end, on all SIMDs that the trace saw
SIMD 1   ███████
SIMD 2                       never held a wave: the grid under-fills the device
         ├── working ──┤     cycles in which any traced wave was resident
```
"""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.survey import SURVEY
from rcv_py.analysis.attribution.wait_costs import load_to_use_by
from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.occupancy import Residencies, all_resident, residencies, resident
from rcv_py.analysis.core.reduction import Analysis, Answers, AnyReduction, Reduction, firsts
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.cost.hotspot import hottest
from rcv_py.analysis.device.occupancy_curves import OccupancyNumbers, occupancy_numbers
from rcv_py.analysis.device.occupancy_limits import (
    OccupancyLimits,
    Resident,
    is_size_known,
    occupancy_limits,
    resident_waves,
    waves_on_simd,
)
from rcv_py.analysis.device.simd_work import ASTRAY
from rcv_py.analysis.findings.bounds import Bound, Bounds, Ranges, Waited, bounds_by, waiting_inside
from rcv_py.analysis.findings.worst import ISSUED
from rcv_py.analysis.health.missing import UNMATCHED
from rcv_py.analysis.iterations.loop_summary import LOOP_TOTALS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.latency.address_access import ADDRESSES, addresses_of, has_addresses
from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from rcv_py.analysis.program.code_match import MATCH
from rcv_py.analysis.program.instruction_classes import instruction_classes
from rcv_py.analysis.program.language import language
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.analysis.program.scratch import scratch_accesses
from rcv_py.analysis.waves.populations import POPULATIONS, WORKING, WaveChoice, wave_choice
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, is_in, run_starts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

SIMDS_OF_CU = 4  # of a compute unit or a work-group processor
MAX_THREADS = 1024  # of a workgroup


class LaunchShape(Value):
    """A launch in cycles and SIMDs."""

    duration: int  # cycles from the first start of a wave to the last end, on all SIMDs that the trace saw
    working: int  # of them, cycles in which at least one traced wave that counts was resident
    used: int  # SIMDs that held a wave at any time
    simds: int  # SIMDs of the engines seen; `used` if neither a table nor an occupancy record gives them
    occupied: int  # cycles in which a SIMD held a wave, summed over SIMDs

    @property
    def working_share(self) -> float:
        """Part of the duration in which traced waves were resident, 0 to 1."""
        return self.working / self.duration if self.duration else 0.0

    @property
    def empty_share(self) -> float:
        """Part of the SIMD cycles of the launch in which the SIMD held no wave, 0 to 1."""
        total = self.duration * self.simds
        return 1.0 - self.occupied / total if total else 0.0

    @property
    def unused_share(self) -> float:
        """Part of the SIMDs that never held a wave, 0 to 1."""
        return 1.0 - self.used / self.simds if self.simds else 0.0


def launch_shape(
    trace: Trace,
    facts: RunFacts | None = None,
    rows: np.ndarray | None = None,
    lives: Residencies | None = None,
) -> LaunchShape:
    """Return the shape of the launch, by the occupancy record, else by the lives of the traced waves.

    `rows` are the rows of the wave index that count as traced, None for all; `lives` are the waves of the
    occupancy record that count, None for all.
    """
    index = trace.waves
    lives = residencies(trace.occupancy) if lives is None else lives
    counted = np.arange(len(index)) if rows is None else rows
    working = IntervalSet.of(index.begin[counted], np.maximum(index.begin, index.end)[counted]).total
    # A record that is shorter than the traced waves lost events: it says nothing of the launch.
    is_whole = len(lives) > 0 and working <= lives.end.max() - lives.begin.min()
    source = lives if is_whole else index
    begin, end = source.begin.astype(np.int64), np.maximum(source.begin, source.end).astype(np.int64)
    if not len(begin):
        return LaunchShape(0, 0, 0, 0, 0)
    engine, unit, simd = (getattr(source, name).astype(np.int64) for name in ("se", "cu", "simd"))
    array = np.maximum(0, source.sa).astype(np.int64)
    place = ((engine * 16 + array) * 1024 + np.maximum(0, unit)) * 16 + simd
    low, high = int(begin.min()), int(end.max())
    distinct, of = np.unique(place, return_inverse=True)
    shift = of.reshape(-1) * (high - low + 1) - low
    occupied = IntervalSet.of(begin + shift, end + shift).total
    # Waves are traced on some units only: SIMDs elsewhere are known from the occupancy record alone.
    simds = _simds(engine, len(distinct), facts if is_whole else None)
    return LaunchShape(high - low, working, len(distinct), simds, occupied)


def _simds(engine: np.ndarray, used: int, facts: RunFacts | None) -> int:
    """Number of SIMDs of the shader engines with waves."""
    agent = None if facts is None else facts.agent
    if agent is None or not agent.engines or not agent.cus:
        return used
    units = agent.cus // agent.engines * len(ascending(engine))
    return max(used, units * (agent.simds_per_cu or SIMDS_OF_CU))


SCRATCH = len(Cause)  # a pattern besides the causes: waits for private memory
PROLOGUE = 0.25  # of the waves' time: a longer prologue is reported
HOTTEST = 10  # instructions whose findings are never folded away


class Claimed(Record):
    """Cycles of some rows of the attribution by code line, the largest bound first."""

    rows: np.ndarray  # int64, of the attribution
    line: np.ndarray  # int64, code rows
    stake: np.ndarray  # int64, bound of each line alone; the sum may exceed `bound`
    attributed: np.ndarray  # int64, cycles, covered or not
    count: int  # executions
    bound: Bound  # of all lines together

    def __len__(self) -> int:
        return len(self.line)


# The analyses that findings need of all waves, and of the waves that count; they do not depend on results.
OF_ALL: tuple[AnyReduction, ...] = (POPULATIONS, MATCH, MATRIX, SURVEY, ASTRAY, UNMATCHED)
OF_COUNTED: tuple[AnyReduction, ...] = (WIDTHS, ISSUED, LOOP_TOTALS, CROSS_LANE, BARRIER_SKEW)


class FindingInputs:
    """The inputs, of waves in memory or in files.

    `waves` says whose costs count: `working`, `all`, or a population.
    """

    def __init__(self, answers: Answers, *, facts: RunFacts | None = None, waves: str = WORKING) -> None:
        self.trace = answers.trace
        self.answers = answers
        self.facts = facts
        self._wanted = waves

    def ask(self, of_all: Sequence[Analysis] = (), of_counted: Sequence[Analysis] = ()) -> None:
        """Run what findings need in two passes: one over all waves, one for the waves that count.

        Other analyses needed later (`of_all`, `of_counted`) run in the same passes.
        """
        sizes = () if is_size_known(self.trace, self.facts) else (WORKGROUPS,)
        self.answers.ask((*self.of_all, *sizes, *of_all, *firsts(of_counted)))
        own = (*OF_COUNTED, self._bounds, self._uses) if self.is_ranked else ()
        if self.waves and (own or of_counted):
            self.answers.ask((*own, *of_counted), self.rows)

    @property
    def of_all(self) -> tuple[AnyReduction, ...]:
        """The analyses that findings need of all waves."""
        return (*OF_ALL, ADDRESSES) if has_addresses(self.trace) else OF_ALL

    @property
    def is_ranked(self) -> bool:
        """Whether findings are possible: waves were read, their code is known, and some of them count."""
        return bool(self.waves and len(self.trace.code)) and not (self.match.is_wrong or self.none_works)

    @cached_property
    def choice(self) -> WaveChoice:
        """Which waves count; the others still occupy units and cover cycles."""
        return wave_choice(self.populations, self._wanted)

    @property
    def rows(self) -> frozenset[int] | None:
        """Rows of the wave index whose costs count, None for all."""
        return self.choice.rows

    @cached_property
    def counted(self) -> np.ndarray:
        """The same rows as an array, int64, ascending; the whole index if all waves count."""
        rows = range(len(self.trace.waves)) if self.rows is None else sorted(self.rows)
        return np.array(rows, dtype=np.int64)

    @property
    def is_kernel(self) -> bool:
        """Whether the waves that count represent the kernel, not one population of several."""
        return self.rows is None or self.choice.name == WORKING

    @property
    def none_works(self) -> bool:
        """Whether only working waves are ranked, but all waves exit early or are empty."""
        return self._wanted == WORKING and bool(self.populations.read) and not self.populations.has_working

    # Of all waves.
    populations = cached_property(lambda self: self.answers.of(POPULATIONS))
    match = cached_property(lambda self: self.answers.of(MATCH))
    matrix = cached_property(lambda self: self.answers.of(MATRIX))
    survey = cached_property(lambda self: self.answers.of(SURVEY))
    left_out = cached_property(lambda self: self.answers.of(ASTRAY))
    addresses = cached_property(lambda self: addresses_of(self.trace, self.answers))
    shape = cached_property(lambda self: launch_shape(self.trace, self.facts, self.counted))
    classes = cached_property(lambda self: instruction_classes(self.trace.code))
    language = cached_property(lambda self: language(self.trace))
    # Of the waves that count: why they stalled and idled, with the bound of each wait, and the rest.
    bounds = cached_property(lambda self: self.answers.of(self._bounds, self.rows))
    attribution = cached_property(lambda self: self.bounds.table)
    exposure = cached_property(lambda self: self.bounds.exposure)
    worst = cached_property(lambda self: self.bounds.worst)  # execution of each instruction for each cause
    widths = cached_property(lambda self: self.answers.of(WIDTHS, self.rows))
    issued = cached_property(lambda self: self.answers.of(ISSUED, self.rows))
    loops = cached_property(lambda self: self.answers.of(LOOP_TOTALS, self.rows))
    chains = cached_property(lambda self: self.answers.of(CROSS_LANE, self.rows))
    skew = cached_property(lambda self: self.answers.of(BARRIER_SKEW, self.rows))
    uses = cached_property(lambda self: self.answers.of(self._uses, self.rows))
    _uses = cached_property(lambda self: load_to_use_by(self.survey))

    @cached_property
    def _bounds(self) -> Reduction[Waited, Bounds]:
        return bounds_by(self.survey, self.left_out)

    @cached_property
    def in_prologue(self) -> Bound:
        """Bound of the waits before the main loop."""
        phases = self.loops.phases
        inside = Ranges(phases.wave.astype(np.int64), phases.begin[:, 0], phases.begin[:, 1])
        return self.answers.of(waiting_inside(self.left_out, inside), self.rows)

    @cached_property
    def patterns(self) -> np.ndarray:
        """The pattern of each row of the attribution, its Cause or SCRATCH, uint8."""
        table, code = self.attribution, self.trace.code
        patterns = table.cause.astype(np.uint8)
        waits = np.isin(patterns, (Cause.WAIT_LOAD, Cause.WAIT_STORE, Cause.MEMORY_QUEUE))
        are_atomic = np.array([is_atomic(text) for text in code.text], dtype=bool)
        for pattern, rows in ((Cause.WAIT_ATOMIC, are_atomic), (SCRATCH, scratch_accesses(code))):
            named = np.append(rows, False)
            patterns[waits & (named[table.line] | named[table.producer])] = pattern  # -1: the last entry
        return patterns

    @cached_property
    def limits(self) -> OccupancyLimits:
        """What limits resident waves."""
        is_known = is_size_known(self.trace, self.facts)
        on_simd = 0 if is_known else waves_on_simd(self.trace, self.answers.of(WORKGROUPS))
        return occupancy_limits(self.trace, self.facts, on_simd)

    @property
    def launched(self) -> float:
        """Waves that count for each SIMD that was seen, resident or not: of the record, else the traced."""
        return (len(self.working_lives) or len(self.counted)) / max(1, self.shape.simds)

    @cached_property
    def attainable(self) -> int:
        """Waves of a SIMD that fit, if the workgroups of the launch were as large as possible.

        A workgroup has at most MAX_THREADS threads, and is resident on one unit as a whole.
        """
        limits = self.limits
        if not limits.group or not self.launched:
            return limits.waves
        simds, size = limits.device.simds, MAX_THREADS // limits.device.wave_size
        groups = math.ceil(self.launched * simds / limits.group)  # of a unit
        return max(1, min(limits.waves, groups * size // simds))

    @cached_property
    def resident(self) -> Resident:
        """Resident waves of a SIMD, of the waves that count."""
        return self.limits.resident if self.rows is None else resident_waves(self.trace, self.counted)

    @cached_property
    def working_lives(self) -> Residencies:
        """Lives in the occupancy record, if working waves count without those that left early.

        The record does not say what waves did: a wave left early if it lived no longer than a traced wave
        that did, and all traced waves that count lived longer.
        """
        lives, index = residencies(self.trace.occupancy), self.trace.waves
        life, does_count = index.end - index.begin, np.zeros(len(index), dtype=bool)
        does_count[self.counted] = True
        early = life[~does_count & (self.populations.label >= 0)]
        if self.choice.name != WORKING or not len(early) or early.max() >= life[does_count].min():
            return lives
        return lives.at(np.flatnonzero(lives.end - lives.begin > early.max()))

    @cached_property
    def working_shape(self) -> LaunchShape:
        """The shape of the launch, in which only waves that work occupy SIMDs."""
        working = launch_shape(self.trace, self.facts, self.counted, self.working_lives)
        return replace(self.shape, used=working.used, occupied=working.occupied)

    @cached_property
    def working_curve(self) -> StepCurve | None:
        """Resident waves that work on all compute units over time, None if not recorded on a common clock."""
        if self.trace.clock.apart:
            return None
        curve = resident(self.working_lives, np.full(len(self.working_lives), -1)).get(-1)
        return curve if curve is not None and curve.area else None

    @cached_property
    def occupancy(self) -> OccupancyNumbers | None:
        """Statistics of all resident waves on all compute units over time, None if not recorded."""
        curve = all_resident(self.trace.occupancy)
        return occupancy_numbers(curve) if curve is not None and curve.area else None

    @property
    def unread(self) -> int:
        """Waves whose file is missing or damaged."""
        return len(self.answers.missing)

    @property
    def waves(self) -> int:
        """Number of waves to read, including waves that do not count."""
        return self.answers.read

    def rows_of(self, *wanted: int) -> np.ndarray:
        """Rows of the attribution of these patterns, most cycles first."""
        return np.flatnonzero(np.isin(self.patterns, wanted))

    def claimed(self, rows: np.ndarray) -> Claimed:
        """Sum some rows of the attribution by line, with the bound of each line and of all together."""
        table, size = self.attribution, len(self.trace.code)
        known = rows[table.line[rows] >= 0]
        line = table.line[known]
        cycles = np.bincount(line, table.cycles[known], size).astype(np.int64)
        stake = self.bounds.by_group(known, line, size)
        lines = np.flatnonzero(cycles)
        lines = lines[np.lexsort((lines, -cycles[lines], -stake[lines]))]
        count = int(table.count[known].sum())
        return Claimed(rows, lines, stake[lines], cycles[lines], count, self.bounds.of(known))

    @cached_property
    def _hot_rows(self) -> np.ndarray:
        """Rows of the attribution with the largest pattern of one of the HOTTEST instructions, int64."""
        table, lines = self.attribution, hottest(self.trace.code, cost_columns(self.trace.code).cost, HOTTEST)
        rows = np.flatnonzero(np.isin(table.line, lines))
        each = table.line[rows].astype(np.int64) * 256 + self.patterns[rows]
        keys, of = np.unique(each, return_inverse=True)
        cycles = np.bincount(of, table.cycles[rows], len(keys))
        order = np.lexsort((-cycles, keys // 256))
        largest = keys[order][run_starts(keys[order] // 256)]
        return rows[np.isin(each, largest)]

    def hot_lines(self, rows: np.ndarray) -> tuple[int, ...]:
        """The HOTTEST instructions whose largest pattern is among some rows of the attribution."""
        if not len(rows):
            return ()
        hot = self._hot_rows
        return tuple(ascending(self.attribution.line[hot[is_in(hot, rows)]]).tolist())

    def producers(self, rows: np.ndarray, count: int) -> list[tuple[int, int]]:
        """(code row, attributed cycles) of the producers, most cycles first."""
        table = self.attribution
        rows = rows[table.producer[rows] >= 0]
        total = np.bincount(table.producer[rows], table.cycles[rows], len(self.trace.code)).astype(np.int64)
        order = np.argsort(-total, kind="stable")[:count]
        return [(int(line), int(total[line])) for line in order if total[line] > 0]

    def first_share(self, lines: np.ndarray) -> float:
        """Part of the stall of some lines in their first execution in each wave, 0 to 1."""
        hits = self.loops.hits
        total = int(hits.stall[lines].sum())
        return int(hits.first_stall[lines].sum()) / total if total else 0.0


def is_atomic(text: str) -> bool:
    """Whether an instruction is an atomic operation on memory."""
    return "_atomic_" in text.partition(" ")[0]
