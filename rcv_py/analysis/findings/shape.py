"""Findings of the launch as a whole: occupancy, tail, uneven waves, prologue, and the ceiling of matrix
work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.findings.evidence import line_of, wave_of, window_of
from rcv_py.analysis.findings.finding import (
    CONTEXT,
    DEVICE_CYCLES,
    SIMD_CYCLES,
    WAVE_CYCLES,
    Evidence,
    Finding,
)
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.median import median, nearest_to_median
from rcv_py.base.text import count, percent, plural

TAIL = 0.15  # of the duration with at most half of the peak resident
UNEVEN = 1.5  # times the median that the longest wave lives
PROLOGUE = 0.25  # of the waves' time in front of the loop
OCCUPIED = 0.75  # of what fits: below it the grid, not a resource, is short of waves


def occupancy(inputs: FindingInputs) -> Iterator[Finding]:
    """More waves a SIMD would cover some of the cycles in which nothing happens."""
    limits, whole = inputs.limits, inputs.exposure
    mean = limits.resident.mean
    if not whole.nothing or not mean or (limits.waves >= limits.cap and mean >= OCCUPIED * limits.cap):
        return
    is_short = limits.binding is None or mean < OCCUPIED * limits.waves
    goal = limits.waves if is_short else limits.goal
    extra = goal - mean
    if extra <= 0.25:
        return
    # A wave more brings at most as many working cycles as the others have each.
    cycles = min(whole.nothing, round(whole.working / mean * extra))
    binding = limits.binding
    if is_short:
        title = "Few waves: the launch does not fill the SIMDs"
        remedy = (
            "Launch more or smaller workgroups (split K or the sequence, smaller tiles), so that each "
            f"SIMD has {plural(goal, 'wave')}."
        )
        held = f"{count(limits.waves)} would fit"
    else:
        assert binding is not None
        title = f"Low occupancy, limited by {binding.name.lower()}"
        remedy = limits.next_step + (
            " Smaller tiles, less unrolling or __launch_bounds__ and amdgpu_waves_per_eu lower register use; "
            "smaller or fewer LDS buffers free LDS."
        )
        held = f"{binding.name.lower()} leave room for {count(limits.waves)}"
    yield Finding(
        name="low-occupancy",
        title=title,
        cycles=cycles,
        is_upper_bound=False,
        share=cycles / max(1, whole.resident),
        sentence=f"A SIMD holds {mean:.1f} waves in the mean, {count(limits.resident.peak)} at most; "
        f"{held}, of {count(limits.cap)} that the device can hold. In "
        f"{percent(whole.nothing, whole.resident)} of the cycles with a wave nothing happens: none issues, "
        "and the matrix unit does not work.",
        remedy=remedy,
        evidence=_binding_evidence(inputs),
        assumption="An estimate: each further wave is taken to work as much as those that were there, in "
        "cycles in which nothing happens now. It may need the same unit, and fewer registers may cost "
        "instructions. " + " ".join(limits.notes),
        unit=SIMD_CYCLES,
        rank=CONTEXT,
    )


def _binding_evidence(inputs: FindingInputs) -> tuple[Evidence, ...]:
    """The wave that ran while fewest others did would say nothing: show the whole time of the traced
    waves."""
    index = inputs.trace.waves
    if not len(index):
        return ()
    return (window_of(int(index.begin.min()), int(index.end.max()), "the traced waves"),)


def tail(inputs: FindingInputs) -> Iterator[Finding]:
    """Long after most waves have gone a few go on."""
    numbers, curve = inputs.occupancy, inputs.curve
    if numbers is None or curve is None or numbers.tail < TAIL or numbers.peak < 2:
        return
    span = numbers.end - numbers.begin
    length = round(numbers.tail * span)
    begin = numbers.end - length
    late = np.maximum(curve.time, begin)
    area = int((np.diff(late) * curve.waves[:-1]).sum())
    cycles = max(0, length - area // max(1, numbers.peak))
    last = int(np.argmax(inputs.trace.waves.end)) if len(inputs.trace.waves) else -1
    evidence = [window_of(begin, numbers.end, "the tail")]
    if last >= 0:
        evidence.append(wave_of(inputs, last, "the traced wave that ends last"))
    yield Finding(
        name="grid-tail",
        title="Tail: the device empties slowly",
        cycles=cycles,
        is_upper_bound=True,
        share=cycles / max(1, span),
        sentence=f"For the last {count(length)} of {count(span)} cycles ({percent(length, span)}) at most "
        f"half of the peak of {plural(numbers.peak, 'wave')} is resident, {area / max(1, length):,.1f} in "
        "the mean.",
        remedy="Make the last workgroups as long as the others: start the longest first, use persistent "
        "workgroups that take tiles from a counter (stream-K), or choose a grid that fills the device a "
        "whole number of times.",
        evidence=tuple(evidence),
        assumption="At most: what would be saved if the work of the tail ran at the peak. The trace sees "
        "the compute units of the traced shader engines only.",
        unit=DEVICE_CYCLES,
        rank=CONTEXT,
    )


def uneven(inputs: FindingInputs) -> Iterator[Finding]:
    """Waves of one kernel that live much longer than most."""
    index = inputs.trace.waves
    life = index.end - index.begin
    if len(life) < 4:
        return
    order = np.argsort(life, kind="stable")
    middle, slowest, typical = nearest_to_median(life), int(order[-1]), round(median(life))
    if life[slowest] < UNEVEN * max(1, typical):
        return
    last = int(np.argmax(index.end))
    cycles = min(int(life[last]) - typical, inputs.trace.span.width)
    if cycles <= 0:
        return  # long ones came early: others filled the time behind them
    yield Finding(
        name="uneven-waves",
        title="Some waves live much longer than most",
        cycles=cycles,
        is_upper_bound=True,
        share=cycles / max(1, inputs.trace.span.width),
        sentence=f"The longest of {plural(len(life), 'traced wave')} lives {count(int(life[slowest]))} "
        f"cycles, {life[slowest] / max(1, typical):.1f} times the median of {count(typical)}; the one that "
        f"ends last {count(int(life[last]))}.",
        remedy="Give waves equal work: pair long with short tiles (causal masks, ragged batches), start "
        "long ones first, or hand tiles out from a counter.",
        evidence=(
            wave_of(inputs, slowest, "the slowest"),
            wave_of(inputs, middle, "nearest to the median"),
            wave_of(inputs, int(order[0]), "the fastest"),
        ),
        assumption="At most: how much earlier the last wave would end if it lived as long as the median "
        "wave. Only traced waves are compared, of all kernels of the capture.",
        unit="cycles of the capture",
        rank=CONTEXT,
    )


def prologue(inputs: FindingInputs) -> Iterator[Finding]:
    """Much of each wave's time passes before its loop, or there is no loop that runs twice."""
    phases = inputs.loops.phases
    if not len(phases):
        return
    cycles = phases.cycles
    whole = int(cycles.sum())
    before = int(cycles[:, 0].sum())
    if before < PROLOGUE * max(1, whole):
        return
    stalled = int(phases.stall[:, 0].sum())
    table = inputs.loops.found.table
    worst = int(np.argmax(cycles[:, 0]))
    begin = int(phases.begin[worst, 0])
    head = int(table.head[phases.loop])
    yield Finding(
        name="long-prologue",
        title="Much time passes before the loop",
        cycles=stalled,
        is_upper_bound=True,
        share=stalled / max(1, whole),
        sentence=f"{percent(before, whole)} of the time of the waves passes in front of the loop at line "
        f"{head}, {percent(int(cycles[:, 2].sum()), whole)} behind it; {count(stalled)} cycles of the "
        "prologue are stalls.",
        remedy="Let a workgroup process several tiles (persistent kernel), so that arguments, descriptors "
        "and the first loads are paid for once; start the first loads at once and compute addresses while "
        "they are under way.",
        evidence=(
            line_of(inputs, head, "head of the loop"),
            wave_of(inputs, int(phases.wave[worst]), "the longest prologue"),
            window_of(begin, begin + int(cycles[worst, 0]), "its prologue"),
        ),
        assumption="At most: all stalls of the prologue, whether other waves cover them or not.",
        unit=WAVE_CYCLES,
        rank=CONTEXT,
    )


def ceiling(inputs: FindingInputs) -> Iterator[Finding]:
    """What matrix work alone would take: nothing done about waits can win more."""
    use = inputs.matrix
    if not use.executions or not use.resident:
        return
    factor = use.resident / max(1, use.busy)
    code = inputs.trace.code
    lines = np.flatnonzero((code.kind == 13) & (code.hits > 0))
    lines = lines[np.argsort(-code.hits[lines], kind="stable")][:2]
    yield Finding(
        name="matrix-ceiling",
        title=f"Matrix unit: at most ×{factor:.1f} if all waits vanished",
        cycles=max(0, use.resident - use.busy),
        is_upper_bound=True,
        share=max(0.0, 1 - use.share),
        sentence=f"{count(use.executions)} matrix instructions keep the matrix units busy for "
        f"{count(use.busy)} of {count(use.resident)} cycles with a wave "
        f"({percent(use.busy, use.resident)}).",
        remedy="Above 40 % the kernel makes good use of the unit, below 30 % it waits for something else: "
        "work on the findings above first."
        if use.share < 0.4
        else "The unit is well used: lower precision or fewer operations win more than removing waits.",
        evidence=tuple(line_of(inputs, int(line)) for line in lines),
        assumption=f"At most: nothing but matrix instructions, without a gap. {use.assumption}",
        rank=CONTEXT,
    )
