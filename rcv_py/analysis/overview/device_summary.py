"""A capture on one page: key numbers, and their tables.

Numbers that need no wave file are available at once; states and pipes come from the given waves.
"""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.occupancy import all_resident, residencies
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, by_field
from rcv_py.analysis.cost.activity import STATE_SHARES, Activity, StateShares, activity
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.counters.counter_shares import CounterShares, counter_shares
from rcv_py.analysis.device import simd_work
from rcv_py.analysis.device.occupancy_curves import OccupancyNumbers, UnitTable, occupancy_numbers, unit_table
from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.analysis.device.pipe_use import PIPE_USE, PipeUse
from rcv_py.analysis.health.traced_units import doubt, lasted
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.base.text import Message, byte_size, count, join_texts, nanoseconds, percent, plural, short_kernel
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace


class Fact(Value):
    """A key number: `text` is the value as shown, `of` is its whole or what it is counted over."""

    id: str
    name: str
    value: int | float | str
    text: str
    of: str
    meaning: str


class DeviceSummary(Value):
    """Key numbers and their tables; None if the capture does not have them."""

    facts: tuple[Fact, ...]
    activity: Activity | None
    states: StateShares | None
    pipes: PipeUse | None
    occupancy: OccupancyNumbers | None  # over all compute units
    units: UnitTable | None
    counters: CounterShares | None
    reasons: StallReasons | None
    read: int  # waves in `states` and `pipes`
    waves: int  # traced waves
    work: simd_work.SimdCycles | None = None  # not None if `pipes` is not

    @property
    def is_empty(self) -> bool:
        """Whether there are only names."""
        parts = (self.activity, self.occupancy, self.reasons, self.states, self.counters)
        return all(part is None for part in parts)

    def fact(self, name: str) -> Fact | None:
        """The fact with that id, None if the capture has none."""
        return next((fact for fact in self.facts if fact.id == name), None)


def summary_by(rows: Collection[int] | None) -> Staged[Any, Any, DeviceSummary]:
    """Return the analysis that summarizes a capture; it must be run for the same rows.

    Lives, states, executions and cycles count waves whose index row is in `rows` (None: all), those of SIMDs
    while such a wave is resident; all waves keep SIMDs busy.
    """
    return Staged(simd_work.ASTRAY, partial(_summary_without, rows=rows))


def _summary_without(left_out: frozenset[int], *, rows: Collection[int] | None) -> Reduction[Any, Any]:
    lines, states, pipes = LINES.merge, STATE_SHARES.merge, PIPE_USE.merge
    merge = by_field(_Part, lines=lines, states=states, pipes=pipes, work=simd_work.joined_cycles, read=sum)
    done = partial(_finish, left_out=left_out, rows=None if rows is None else frozenset(rows))
    return Reduction(partial(_map, left_out=left_out), merge, done, is_together=True, is_of_simd=True)


class _Part(NamedTuple):
    """Results of some waves: parts of reductions, and the cycles of their SIMDs."""

    lines: Any
    states: StateShares
    pipes: Any
    work: simd_work.SimdCycles
    read: int  # waves


def _map(trace: Trace, parcel: Parcel, *, left_out: frozenset[int]) -> _Part:
    return _Part(
        lines=LINES.map(trace, parcel),
        states=STATE_SHARES.map(trace, parcel),
        pipes=PIPE_USE.map(trace, parcel),
        work=simd_work.simd_cycles(simd_work.work_of(trace, parcel, left_out)),
        read=len(parcel.begun.waves),
    )


def _finish(
    trace: Trace, part: _Part, *, left_out: frozenset[int], rows: frozenset[int] | None
) -> DeviceSummary:
    code = trace.code if rows is None else LINES.finish(trace, part.lines).on(trace.code)
    ran = activity(code)
    curve = all_resident(trace.occupancy)
    occupancy = None if curve is None or not curve.area else occupancy_numbers(curve)
    states, pipes = part.states, PIPE_USE.finish(trace, part.pipes)
    work = part.work if len(pipes) else None
    taken = simd_work.assumption(matrix_passes(trace.code, trace.target), left_out, ReferenceRule.OURS)
    reasons = stall_reasons(trace.code) if trace.has_pc_samples else None
    counted = counter_shares(trace)
    facts = (
        *_kernel(trace),
        *_static(trace),
        *_waves(trace, rows),
        *_occupancy(trace, occupancy),
        *_simds(trace, pipes, work, taken),
        *_samples(reasons),
        *_code(trace, code),
    )
    return DeviceSummary(
        facts=facts,
        activity=ran if ran.total else None,
        states=states if states.total else None,
        pipes=pipes if len(pipes) else None,
        occupancy=occupancy,
        units=unit_table(trace, counted),
        counters=counted,
        reasons=reasons if reasons is not None and reasons.samples else None,
        read=part.read,
        waves=len(trace.waves),
        work=work,
    )


_SEEN = "On all compute units that the trace saw."


def _fact(id: str, value: float | str, text: str, of: str, *, detail: str = "", title: str = "") -> Fact:
    about = table("facts")["summary"][id]
    return Fact(id, Message(about["name"], title), value, text, of, Message(about["meaning"], detail))


def _kernel(trace: Trace) -> Iterator[Fact]:
    if trace.kernel_name:
        others = len(trace.code.kernels) - 1
        of = Message("and {0}", plural(others, "other kernel")) if others else ""
        name = trace.kernel_name
        yield Fact("kernel", "Kernel", name, short_kernel(name), of, name)


def _waves(trace: Trace, rows: Collection[int] | None) -> Iterator[Fact]:
    index, lives = trace.waves, len(residencies(trace.occupancy))
    if not len(index):
        return
    chosen = np.arange(len(index)) if rows is None else np.array(sorted(rows), dtype=np.int64)
    life = np.sort((index.end - index.begin)[chosen])
    seen = Message("of {0} that the trace saw", plural(lives, "wave")) if lives else ""
    yield _fact("waves_traced", len(index), count(len(index)), seen)
    if len(life):  # empty in a range of time without a wave
        middle = median(life)
        of = Message("from {0} to {1} cycles", count(int(life[0])), count(int(life[-1])))
        yield _fact("wave_life", middle, plural(round(middle), "cycle"), of)


def _occupancy(trace: Trace, numbers: OccupancyNumbers | None) -> Iterator[Fact]:
    if numbers is None:
        return
    span = numbers.end - numbers.begin
    why = doubt(trace)
    of = join_texts("; ", filter(None, (trace.clock.duration(span), why)))
    yield _fact("duration", span, lasted(span, why), of, detail=_SEEN)
    if trace.clock.apart:
        return  # when engines began and ended is not known, and so not how many waves were resident at once
    of = Message("{0} of the peak", percent(numbers.mean, numbers.peak))
    yield _fact("mean_waves", round(numbers.mean, 4), f"{numbers.mean:,.1f}", of, detail=_SEEN)
    yield _fact("peak_waves", numbers.peak, count(numbers.peak), "at a time", detail=_SEEN)
    for id, cycles in (("ramp", numbers.ramp), ("tail", round(numbers.tail * span))):
        ns = trace.clock.ns(cycles)
        lasts = plural(cycles, "cycle") if ns is None else nanoseconds(ns)
        of = Message("of the duration, {0}", lasts)
        yield _fact(id, cycles, percent(cycles, span), of)


def _simds(trace: Trace, pipes: PipeUse, work: simd_work.SimdCycles | None, taken: str) -> Iterator[Fact]:
    """Issue and work of units together: neither alone shows how busy a SIMD is.

    `taken` states the assumptions.
    """
    if work is None or not work.resident.any():
        return
    resident, no_issue = int(work.resident.sum()), int(work.no_issue.sum())

    def share(id: str, cycles: int, detail: str = "", title: str = "") -> Fact:
        of = Message("of {0} SIMD-cycles", count(resident))
        words = {"detail": detail, "title": title}
        return _fact(id, round(cycles / resident, 6), percent(cycles, resident), of, **words)

    is_issue = trace.architecture.busy_is_issue
    issued, issuing = ("issued", "issuing") if is_issue else ("issued or executed", "issuing or executing")
    yield share("simd_busy", resident - no_issue, issued, issuing)
    yield share("simd_working", int(pipes.working.sum()))
    if work.matrix.any():
        yield share("matrix_busy", int(work.matrix.sum()), taken)
    yield share("no_issue", no_issue, issued)
    if len(trace.code):  # without it the work of the matrix unit is unknown
        yield share("nothing_happens", int(work.nothing.sum()))


def _samples(reasons: StallReasons | None) -> Iterator[Fact]:
    if reasons is None or not reasons.samples:
        return
    yield _fact("samples", reasons.samples, count(reasons.samples), "")
    stated = reasons.issued + reasons.stalled
    for id, samples in (("issued", reasons.issued), ("stalled", reasons.stalled)) if stated else ():
        yield _fact(id, samples, count(samples), Message("{0} of the samples", percent(samples, stated)))
    for reason, samples in reasons.ranked()[:1]:
        name, of = reason_name(reason), Message("{0} of the stalled", percent(samples, reasons.stalled))
        yield _fact("main_reason", name, name, of)


def _static(trace: Trace) -> Iterator[Fact]:
    """What a program that has not run takes."""
    if not trace.is_static or trace.facts is None or trace.facts.allocated is None or not len(trace.code):
        return
    limits, known = occupancy_limits(trace, trace.facts), trace.facts.allocated
    bound = "" if limits.binding is None else Message(", bound by {0}", limits.binding.name)
    yield _fact("waves_fit", limits.waves, count(limits.waves), Message("of {0}{1}", limits.cap, bound))
    for id, size in (("lds", known.lds), ("scratch", known.scratch)):
        if size >= 0:
            yield _fact(id, size, byte_size(size), "")


def _code(trace: Trace, code: CodeTable) -> Iterator[Fact]:
    """Facts of the program; `code` has the executions of the waves that count."""
    rows = int(np.count_nonzero(~code.is_label))
    if not rows:
        return
    of = Message("of {0}", plural(rows, "instruction"))
    if trace.has_thread_trace and (code.hits.any() or not len(trace.waves)):
        ran, hits = int(np.count_nonzero(code.hits > 0)), int(code.hits.sum())
        yield _fact("executed", ran, percent(ran, rows), of)
        yield _fact("hits", hits, count(hits), "by traced waves" if code is trace.code else "by these waves")
    yield _fact("mapped", code.mapped_rows, percent(code.mapped_rows, rows), of)
