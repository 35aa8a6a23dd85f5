"""Findings of the whole launch: occupancy, ramp-up, tail, imbalance, prologue, matrix pipes, source lines."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core.median import median, nearest_to_median
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import occupancy_numbers
from rcv_py.analysis.findings import finding
from rcv_py.analysis.findings.bound_class import COMPUTE, MEMORY, class_of
from rcv_py.analysis.findings.evidence import line_of, wave_of, window_of
from rcv_py.analysis.findings.inputs import MAX_THREADS, PROLOGUE, FindingInputs
from rcv_py.analysis.findings.remedies import finding_of
from rcv_py.analysis.findings.situation import situation_of
from rcv_py.analysis.health.mapping import costliest_line
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.model.kinds import TokenKind

TAIL = 0.15  # of the duration with at most half of the peak resident
UNEVEN = 1.5  # lifetime of the longest wave, in medians
OCCUPIED = 0.75  # of the waves that fit: below it the grid, not a resource, limits the number of waves


def occupancy(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Low occupancy: more waves a SIMD would cover some of the cycles in which nothing happens."""
    limits, work, resident = inputs.limits, inputs.exposure, inputs.resident
    mean = resident.mean
    is_full = limits.waves >= limits.cap and mean >= OCCUPIED * limits.cap
    is_unknown = limits.resident.peak > limits.waves  # more waves were resident than the limits allow
    known = class_of(inputs)
    if known is None or known.name in (MEMORY, COMPUTE):
        return
    if not work.nothing or not mean or is_full or is_unknown:
        return  # of the last two classes: what more waves would use is at its roof
    is_short = limits.binding is None or mean < OCCUPIED * limits.waves
    # With too few workgroups, existing slots stay empty; else the mean grows with the number that fits, if
    # workgroups are left to fill the room.
    extra = inputs.attainable - mean
    if not is_short:
        extra = min(mean * (limits.goal / max(1, limits.waves) - 1), inputs.launched - limits.waves)
    coverable = work.nothing
    if is_short:  # more waves for the same work each wait as long as before at what they run once
        is_once = np.append(inputs.loops.hits.hits <= work.waves, False)[inputs.attribution.line]
        coverable -= inputs.bounds.of(np.flatnonzero(is_once)).cycles
    if extra <= 0.25 or coverable <= 0:
        return
    # Another wave adds at most as many working cycles as each of the others has, at independent times: it
    # covers the part of the idle cycles in which it works.
    alone = work.nothing / work.resident
    cycles = round(min(coverable * (1 - alone ** (extra / mean)), work.working / mean * extra))
    if is_short and inputs.working_shape.unused_share > 0:
        return  # more workgroups would first go to empty SIMDs: the grid under-fills the device
    limiter, held = "grid", Message("{0} would fit", count(limits.waves))
    if inputs.attainable < limits.waves:
        text = "{0} would fit, {1} in as many workgroups of at most {2} threads"
        held = Message(text, count(limits.waves), count(inputs.attainable), count(MAX_THREADS))
    if not is_short and limits.binding is not None:
        limiter = limits.binding.name.lower()
        held = Message("{0} leave room for {1}", limiter, count(limits.waves))
    yield finding_of(
        situation_of(inputs, flags=["grid-bound" if is_short else "resource-bound"]),
        "low-occupancy",
        title=Message("Occupancy limiter: {0}", limiter),
        cycles=cycles,
        is_upper_bound=False,
        share=cycles / max(1, work.resident),
        sentence=Message(
            "A SIMD holds {0:.1f} waves on average, {1} at most; {2}, of {3} that the device can hold. In "
            "{4} of the cycles with a wave nothing happens: none issues, and the matrix unit does not work.",
            mean,
            count(resident.peak),
            held,
            count(limits.cap),
            percent(work.nothing, work.resident),
        ),
        evidence=_traced_time(inputs),
        assumption="An estimate: each further wave is taken to work as much as the resident waves, in "
        "cycles in which nothing happens now. It may need the same unit, and fewer registers may "
        "cost instructions. " + join_texts(" ", limits.notes),
        unit=finding.SIMD_CYCLES,
    )


def underfill(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Grid under-fills the device: SIMDs that got no workgroup."""
    shape = inputs.working_shape
    idle = shape.simds - shape.used
    if not idle:
        return
    scalar = situation_of(inputs, inputs.rows_of(Cause.WAIT_SCALAR))
    fixed = scalar.claimed.bound.share * shape.working_share if scalar.is_cold else 0.0
    yield finding_of(
        situation_of(inputs),
        "grid-underfill",
        cycles=round(idle * shape.duration * (1 - fixed)),
        share=shape.unused_share * (1 - fixed),
        sentence=Message(
            "{0} of {1} SIMDs of the shader engines that were seen ({2}) never hold a {3}.",
            count(idle),
            count(shape.simds),
            percent(idle, shape.simds),
            "wave of the launch" if shape.used == inputs.shape.used else "wave that works",
        ),
        evidence=_traced_time(inputs),
        unit=finding.SIMDS,
    )


def ramp_up(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Ramp-up: a long time until the device is full."""
    curve = inputs.working_curve
    if curve is None:
        return
    numbers = occupancy_numbers(curve)
    if numbers.peak < 2:
        return
    begin, end = numbers.begin, numbers.begin + numbers.ramp
    text = (
        "It takes {0} of {1} cycles ({2} of the kernel's duration) until nine tenths of "
        "the peak of {3} are resident, {4:,.1f} on average."
    )
    evidence = (window_of(begin, end, "the ramp-up"),)
    found = _below_peak(inputs, curve, "ramp-up", text, begin=begin, end=end, evidence=evidence)
    if found.cycles:
        yield found


def _below_peak(
    inputs: FindingInputs,
    curve: StepCurve,
    name: str,
    text: str,
    *,
    begin: int,
    end: int,
    evidence: tuple[finding.Evidence, ...],
) -> finding.Finding:
    """A finding about a time in which fewer waves are resident than at the peak."""
    numbers = occupancy_numbers(curve)
    span, length = numbers.end - numbers.begin, end - begin
    time = np.clip(curve.time, begin, end)
    area = int((np.diff(time) * curve.value[:-1]).sum())
    cycles = max(0, length - area // max(1, numbers.peak))  # the same work at the peak saves them
    peak, mean = plural(numbers.peak, "wave"), area / max(1, length)
    return finding_of(
        situation_of(inputs),
        name,
        cycles=cycles,
        share=cycles / max(1, span),
        sentence=Message(text, count(length), count(span), percent(length, span), peak, mean),
        evidence=evidence,
        unit=finding.DEVICE_CYCLES,
    )


def _traced_time(inputs: FindingInputs) -> tuple[finding.Evidence, ...]:
    """Evidence of findings about all waves: the time in which any traced wave lived."""
    index = inputs.trace.waves
    if not len(index):
        return ()
    return (window_of(int(index.begin.min()), int(index.end.max()), "the traced waves"),)


def tail(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Tail: a few waves run long after most have ended."""
    curve = inputs.working_curve
    if curve is None:
        return
    numbers = occupancy_numbers(curve)
    if numbers.tail < TAIL or numbers.peak < 2:
        return
    begin = numbers.end - round(numbers.tail * (numbers.end - numbers.begin))
    last = inputs.counted[np.argsort(-inputs.trace.waves.end[inputs.counted], kind="stable")][:1].tolist()
    of_last = (wave_of(inputs, row, "the traced wave that ends last") for row in last)
    text = (
        "For the last {0} of {1} cycles ({2}) at most half of the peak of {3} is resident, "
        "{4:,.1f} on average."
    )
    evidence = (window_of(begin, numbers.end, "the tail"), *of_last)
    yield _below_peak(inputs, curve, "grid-tail", text, begin=begin, end=numbers.end, evidence=evidence)


def uneven(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Imbalance: waves of a kernel that live much longer than most."""
    index = inputs.trace.waves
    life = index.end - index.begin
    order = inputs.counted[np.argsort(life[inputs.counted], kind="stable")]
    if len(order) < 4:
        return
    own = life[inputs.counted]
    middle, slowest = int(inputs.counted[nearest_to_median(own)]), int(order[-1])
    typical = round(median(own))
    if life[slowest] < UNEVEN * max(1, typical):
        return
    last = int(order[np.argmax(index.end[order])])
    cycles = min(int(life[last]) - typical, inputs.trace.span.width)
    if cycles <= 0:
        return  # the long waves began early: others filled the time after them
    yield finding_of(
        situation_of(inputs),
        "uneven-waves",
        cycles=cycles,
        share=cycles / max(1, inputs.trace.span.width),
        sentence=Message(
            "The longest of {0} lives {1} cycles, {2:.1f} times the median of {3}; the wave that "
            "ends last {4}.",
            plural(len(order), "traced wave"),
            count(int(life[slowest])),
            life[slowest] / max(1, typical),
            count(typical),
            count(int(life[last])),
        ),
        evidence=(
            wave_of(inputs, slowest, "the slowest"),
            wave_of(inputs, middle, "nearest to the median"),
            wave_of(inputs, int(order[0]), "the fastest"),
        ),
        unit=finding.CAPTURE_CYCLES,
    )


def prologue(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Prologue: much of each wave's time passes before its loop, or no loop runs twice."""
    phases, cycles = inputs.loops.phases, inputs.loops.phases.cycles
    total, before = int(cycles.sum()), int(cycles[:, 0].sum())
    if not len(cycles) or before < PROLOGUE * max(1, total):
        return
    text = "{0} of the time of the waves passes before the loop at instruction {1}, {2} after it."
    if phases.stall_shares[0] is not None:
        text = (
            "{0} of the time of the waves passes before the loop at instruction {1}, {2} after "
            "it; {3} cycles of the prologue are stalls."
        )
    table = inputs.loops.loops.table
    worst = int(np.argmax(cycles[:, 0]))
    begin = int(phases.begin[worst, 0])
    head = int(table.head[phases.loop])
    bound = inputs.in_prologue
    yield finding_of(
        situation_of(inputs),
        "long-prologue",
        cycles=bound.cycles,
        share=bound.share,
        exposed=bound.exposed,
        attributed=max(0, before - int(phases.busy[:, 0].sum())),
        sentence=Message(
            text,
            percent(before, total),
            head,
            percent(int(cycles[:, 2].sum()), total),
            count(int(phases.stall[:, 0].sum())),
        ),
        evidence=(
            line_of(inputs, head, "head of the loop"),
            wave_of(inputs, int(phases.wave[worst]), "the longest prologue"),
            window_of(begin, begin + int(cycles[worst, 0]), "its prologue"),
        ),
    )


def ceiling(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Matrix ceiling: the time of matrix work alone, which no change of waits can beat."""
    use = inputs.matrix
    if not 0 < use.busy <= use.resident:  # the cycles of the forms are a model
        return
    factor = use.resident / use.busy
    nothing, resident = inputs.exposure.nothing, max(1, inputs.exposure.resident)
    idle = Message("nothing happens in {0} of the cycles with a wave", percent(nothing, resident))
    remedy = Message("Lower precision or fewer operations can save more than removing waits: {0}.", idle)
    if use.share < nothing / resident:
        remedy = Message("Work on the findings above first: {0}, more than the matrix pipes work.", idle)
    code = inputs.trace.code
    lines = np.flatnonzero((code.kind == TokenKind.MATRIX) & (code.hits > 0))
    lines = lines[np.argsort(-code.hits[lines], kind="stable")][:2]
    yield finding_of(
        situation_of(inputs),
        "matrix-ceiling",
        title=Message("Matrix pipe: at most ×{0:.1f} if all waits vanished", factor),
        cycles=use.resident - use.busy,
        share=1 - use.share,
        sentence=Message(
            "{0} MFMA or WMMA instructions keep the matrix pipes busy for {1} of {2} cycles "
            "with a wave ({3}).",
            count(use.executions),
            count(use.busy),
            count(use.resident),
            percent(use.busy, use.resident),
        ),
        remedy=remedy,
        evidence=tuple(line_of(inputs, int(line)) for line in lines),
        assumption=Message("At most: nothing but matrix instructions, without a gap. {0}", use.assumption),
        rank=finding.CONTEXT,
    )


def collapsed(inputs: FindingInputs) -> Iterator[finding.Finding]:
    """Source mapping collapsed: costs on a line that has no instructions of its own."""
    top = costliest_line(inputs.trace)
    if top is None or not top.is_declaration:
        return
    path = inputs.trace.sources[top.file].path
    yield finding.Finding(
        name="source-collapse",
        title="Source mapping collapsed",
        cycles=0,
        is_upper_bound=False,
        share=0.0,
        sentence=Message(
            "{0} of the latency is mapped to line {1} of {2} ({3}), one of {4}: the debug "
            "information, not the kernel, is the cause.",
            percent(top.cycles, top.total),
            top.line,
            path.rsplit("/", 1)[-1],
            top.text.strip()[:60] or "no line",
            plural(top.lines, "line"),
        ),
        remedy="Read costs by instruction, not by source line; build with line tables (-gline-tables-only) "
        "or a compiler that keeps locations of inlined calls, and record again.",
        evidence=(finding.Evidence("source", f"{path}:{top.line}", source=(top.file, top.line)),),
        rank=finding.CAUTION,
    )


DETECTORS = (underfill, occupancy, ramp_up, tail, uneven, prologue, ceiling, collapsed)
