"""A capture on one page: key numbers, and the tables behind them.

Everything that needs no wave file is there at once; states and pipes are those of the waves given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import all_lines
from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.occupancy import residencies, steps
from rcv_py.analysis.cost.activity import Activity, StateShares, activity, state_shares
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.counters.counter_shares import CounterShares, counter_shares
from rcv_py.analysis.device.occupancy_curves import OccupancyNumbers, occupancy_numbers
from rcv_py.analysis.device.pipe_use import PipeUse, pipe_use
from rcv_py.analysis.device.simd_work import SimdWork, simd_work
from rcv_py.analysis.device.unit_table import UnitTable, unit_table
from rcv_py.analysis.findings.engine_choice import only
from rcv_py.base.text import count, nanoseconds, percent, plural, short_kernel
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, slots=True)
class Fact:
    """A key number: `text` is the value as shown, `of` says what it is a part of or counted over."""

    id: str
    name: str
    value: int | float | str
    text: str
    of: str
    meaning: str


@dataclass(frozen=True, eq=False)
class DeviceSummary:
    """Key numbers and their tables; None stands for what the capture does not hold."""

    facts: tuple[Fact, ...]
    activity: Activity | None
    states: StateShares | None
    pipes: PipeUse | None
    occupancy: OccupancyNumbers | None  # over all compute units
    units: UnitTable | None
    counters: CounterShares | None
    reasons: StallReasons | None
    read: int  # waves that `states` and `pipes` are about
    waves: int  # traced waves
    work: SimdWork | None = None  # there if `pipes` is

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say but names."""
        found = (self.activity, self.occupancy, self.reasons, self.states, self.counters)
        return all(one is None for one in found)

    def fact(self, name: str) -> Fact | None:
        """The fact with that id, None if the capture does not tell."""
        return next((fact for fact in self.facts if fact.id == name), None)


def device_summary(
    trace: Trace, batches: Sequence[WaveBatch], rows: Collection[int] | None = None
) -> DeviceSummary:
    """Return the summary of a capture with the given waves read.

    Lives, states and cycles of instructions are those of the waves whose index row is in `rows` (None: all);
    SIMDs are busy with every wave.
    """
    own = batches if rows is None else only(batches, rows)
    ran = activity(trace.code if rows is None else all_lines(own, len(trace.code)).on(trace.code))
    curve = steps(trace.occupancy).get(-1)
    occupancy = None if curve is None or not curve.area else occupancy_numbers(curve)
    states = state_shares(own) if own else None
    pipes = pipe_use(batches) if batches else None
    work = simd_work(trace, batches) if pipes is not None and len(pipes) else None
    reasons = stall_reasons(trace.code) if trace.has_pc_samples else None
    counted = counter_shares(trace)
    facts = (
        *_kernel(trace),
        *_waves(trace, rows),
        *_occupancy(trace, occupancy),
        *_simds(trace, pipes, work),
        *_samples(reasons),
        *_code(trace),
    )
    return DeviceSummary(
        facts,
        ran if ran.total else None,
        states if states is not None and states.total else None,
        pipes if pipes is not None and len(pipes) else None,
        occupancy,
        unit_table(trace, counted),
        counted,
        reasons if reasons is not None and reasons.samples else None,
        sum(len(batch.waves) for batch in batches),
        len(trace.waves),
        work,
    )


def _kernel(trace: Trace) -> tuple[Fact, ...]:
    if not trace.kernel_name:
        return ()
    others = len(trace.code.kernels) - 1
    of = f"and {plural(others, 'other kernel')}" if others else ""
    name = short_kernel(trace.kernel_name)
    return (Fact("kernel", "Kernel", trace.kernel_name, name, of, trace.kernel_name),)


def _waves(trace: Trace, rows: Collection[int] | None) -> tuple[Fact, ...]:
    index, lives = trace.waves, len(residencies(trace.occupancy))
    if not len(index):
        return ()
    chosen = np.arange(len(index)) if rows is None else np.array(sorted(rows), dtype=np.int64)
    life = np.sort((index.end - index.begin)[chosen])
    middle = median(life)
    seen = f"of {plural(lives, 'wave')} on the device" if lives else ""
    return (
        Fact(
            "waves_traced",
            "Waves traced",
            len(index),
            count(len(index)),
            seen,
            "Waves with instructions in the trace, of all waves whose start or end the trace saw.",
        ),
        Fact(
            "wave_life",
            "Wave life, median",
            middle,
            f"{count(round(middle))} cycles",
            f"from {count(int(life[0]))} to {count(int(life[-1]))} cycles",
            "Cycles from begin to end of a traced wave: the median, the shortest and the longest.",
        ),
    )


def _occupancy(trace: Trace, numbers: OccupancyNumbers | None) -> tuple[Fact, ...]:
    if numbers is None:
        return ()
    span = numbers.end - numbers.begin
    tail = round(numbers.tail * span)
    seen = "On all compute units that the trace saw."
    return (
        Fact(
            "duration",
            "Duration",
            span,
            f"{count(span)} cycles",
            _time(trace, span) or "first start to last end",
            f"Cycles from the first start of a wave to the last end. {seen}",
        ),
        Fact(
            "mean_waves",
            "Resident waves, mean",
            round(numbers.mean, 4),
            f"{numbers.mean:,.1f}",
            f"{percent(numbers.mean, numbers.peak)} of the peak",
            f"Waves resident at a time, weighted by time, over the whole duration. {seen}",
        ),
        Fact(
            "peak_waves",
            "Resident waves, peak",
            numbers.peak,
            count(numbers.peak),
            "at a time",
            f"Most waves that were resident at a time. {seen}",
        ),
        Fact(
            "ramp",
            "Ramp-up",
            numbers.ramp,
            percent(numbers.ramp, span),
            f"of the duration, {_cycles(trace, numbers.ramp)}",
            "From the first start until nine tenths of the peak were resident.",
        ),
        Fact(
            "tail",
            "Tail",
            tail,
            percent(tail, span),
            f"of the duration, {_cycles(trace, tail)}",
            "From the last moment with more than half of the peak resident to the end.",
        ),
    )


def _simds(trace: Trace, pipes: PipeUse | None, work: SimdWork | None) -> tuple[Fact, ...]:
    """Issue, and what units do meanwhile, beside each other: neither alone says how busy a SIMD is."""
    if pipes is None or work is None or not work.resident_cycles:
        return ()
    whole = work.resident_cycles
    of = f"of {count(whole)} SIMD-cycles"

    def share(name: str, title: str, cycles: int, meaning: str) -> Fact:
        return Fact(name, title, round(cycles / whole, 6), percent(cycles, whole), of, meaning)

    issued = "issued" if trace.gfxip <= 9 else "issued or executed"
    facts = [
        share(
            "simd_busy",
            "SIMD issuing" if trace.gfxip <= 9 else "SIMD issuing or executing",
            whole - work.no_issue_cycles,
            f"Cycles in which a traced wave {issued}, of the cycles in which its SIMD had one. A wave that "
            "only waits in s_endpgm for its stores does not count.",
        ),
        share(
            "simd_working",
            "of it working",
            int(pipes.working.sum()),
            "The same without waits, barriers, branches and the end of the program.",
        ),
    ]
    if work.matrix_cycles:
        facts.append(
            share(
                "matrix_busy",
                "Matrix unit busy",
                work.matrix_cycles,
                "Cycles in which the matrix unit of a SIMD with a traced wave worked, also while no wave "
                f"issued. {work.assumption}",
            )
        )
    facts.append(
        share(
            "no_issue",
            "No-issue cycles",
            work.no_issue_cycles,
            f"Cycles in which a SIMD had a traced wave and none {issued}.",
        )
    )
    if len(trace.code):  # without it nobody knows for how long the matrix unit works
        facts.append(
            share(
                "nothing_happens",
                "Nothing happens",
                work.nothing_cycles,
                "No-issue cycles in which the matrix unit does not work either: "
                "waiting less can win no more.",
            )
        )
    return tuple(facts)


def _samples(reasons: StallReasons | None) -> tuple[Fact, ...]:
    if reasons is None or not reasons.samples:
        return ()
    facts = [
        Fact("samples", "PC samples", reasons.samples, count(reasons.samples), "", "Issued and stalled."),
        Fact(
            "issued",
            "Issued",
            reasons.issued,
            count(reasons.issued),
            f"{percent(reasons.issued, reasons.samples)} of the samples",
            "Samples that met a wave as it issued.",
        ),
        Fact(
            "stalled",
            "Stalled",
            reasons.stalled,
            count(reasons.stalled),
            f"{percent(reasons.stalled, reasons.samples)} of the samples",
            "Samples that met a wave whose instruction could not issue.",
        ),
    ]
    for reason, samples in reasons.ranked()[:1]:
        share = f"{percent(samples, reasons.stalled)} of the stalled"
        name = reason_name(reason)
        meaning = "The reason of most stalled samples."
        facts.append(Fact("main_reason", "Main stall reason", name, name, share, meaning))
    return tuple(facts)


def _code(trace: Trace) -> tuple[Fact, ...]:
    code = trace.code
    rows = int(np.count_nonzero(~code.is_label))
    if not rows:
        return ()
    of = f"of {plural(rows, 'instruction')}"
    facts = []
    if trace.has_thread_trace:
        ran = int(np.count_nonzero(code.hits > 0))
        facts.append(
            Fact(
                "executed",
                "Executed",
                ran,
                percent(ran, rows),
                of,
                "Instructions of the program that a traced wave ran at least once.",
            )
        )
        hits = int(code.hits.sum())
        facts.append(
            Fact(
                "hits",
                "Executions",
                hits,
                count(hits),
                "by traced waves",
                "Instructions executed, each time.",
            )
        )
    facts.append(
        Fact(
            "mapped",
            "Mapped to source",
            code.mapped_rows,
            percent(code.mapped_rows, rows),
            of,
            "Instructions for which the debug information names a source line.",
        )
    )
    return tuple(facts)


def _time(trace: Trace, cycles: int) -> str:
    ns = trace.clock.ns(cycles)
    return "" if ns is None else nanoseconds(ns)


def _cycles(trace: Trace, cycles: int) -> str:
    return _time(trace, cycles) or f"{count(cycles)} cycles"
