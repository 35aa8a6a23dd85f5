"""Findings of waits: for memory, one a kind of operation, for chains of cross-lane moves, and at barriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.findings.bound_class import MEMORY_ROOF
from rcv_py.analysis.findings.evidence import line_of, of_pattern, producers_of, wave_of, window_of, worst_of
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import SCRATCH, Claimed, FindingInputs
from rcv_py.analysis.findings.remedies import remedy_fields
from rcv_py.analysis.findings.situation import Situation
from rcv_py.analysis.waves.workgroups import TOLD_TEXT
from rcv_py.base.text import count, percent, plural

MOST_WIDTHS = 3  # widths that a sentence names
MOST_PRODUCERS = 8  # producers whose access widths and order are looked at
CERTAIN = (
    "The wait is certain: a replay of the counters says which operations each execution required. "
    "Its stall is charged to the newest of them, though an older one may have come later."
)
LIKELY = (
    "The cause is likely, not certain: such operations of the compute unit were in flight in these cycles."
)
BOUND = (
    "At stake are only cycles in which no traced wave of the SIMD issued and its matrix unit did not work; "
    "waves that waited at once count once. Another wait may take the place of one that is removed."
)


class Text(NamedTuple):
    """The words for waits of one pattern."""

    pattern: int  # Cause, or SCRATCH
    name: str
    title: str
    what: str  # "vector loads"
    confidence: str = CERTAIN


TEXTS = (
    Text(Cause.WAIT_LOAD, "exposed-vector-load", "Waits for VMEM loads", "VMEM loads"),
    Text(Cause.WAIT_DMA, "exposed-lds-dma", "Waits for LDS DMA", "copies from memory to LDS (LDS DMA)"),
    Text(Cause.WAIT_LDS, "exposed-lds", "Waits for LDS accesses", "LDS accesses"),
    Text(
        Cause.WAIT_CROSS_LANE,
        "exposed-cross-lane",
        "Waits for cross-lane moves through LDS",
        "ds_bpermute and its like",
    ),
    Text(Cause.WAIT_SCALAR, "exposed-scalar-load", "Waits for SMEM loads", "SMEM loads"),
    Text(Cause.WAIT_STORE, "waits-for-stores", "Waits for VMEM stores", "VMEM stores"),
    Text(Cause.WAIT_ATOMIC, "atomics", "Atomic operations", "atomic operations"),
    Text(SCRATCH, "scratch-spills", "Spills to scratch memory", "scratch accesses"),
)


def waits(inputs: FindingInputs) -> Iterable[Finding]:
    """One finding a kind of operation that waves waited for."""
    for text in TEXTS:
        rows = inputs.rows_of(text.pattern)
        if len(rows) and not _is_reported_elsewhere(inputs, text.pattern):
            yield from _finding(inputs, text, rows)


def _is_reported_elsewhere(inputs: FindingInputs, pattern: int) -> bool:
    """Whether another finding reports the pattern: chains of cross-lane moves have their own."""
    return pattern == Cause.WAIT_CROSS_LANE and len(inputs.chains) > 0


def _finding(inputs: FindingInputs, text: Text, rows: np.ndarray) -> Iterator[Finding]:
    claimed = inputs.claimed(rows)
    if not len(claimed):
        return
    first = inputs.first_share(claimed.line)
    one = situation(inputs, rows, claimed)
    yield bounded(
        inputs,
        claimed,
        name=text.name,
        title=text.title + (", mostly once a wave" if one.is_cold else ""),
        sentence=" ".join(_sentences(inputs, text, rows, claimed, first)),
        **remedy_fields(text.name, one),
        evidence=of_pattern(inputs, rows, claimed),
        assumption=f"{text.confidence} {BOUND}",
    )


def situation(
    inputs: FindingInputs, rows: np.ndarray, claimed: Claimed, flags: Iterable[str] = ()
) -> Situation:
    """Return what the remedies of a finding depend on."""
    producers = tuple(line for line, _ in inputs.producers(rows, MOST_PRODUCERS))
    return Situation(inputs, claimed, producers, frozenset(flags))


def bounded(inputs: FindingInputs, claimed: Claimed, **words: Any) -> Finding:
    """Return a finding whose cycles are the bound of what is claimed."""
    return Finding(
        cycles=claimed.bound.cycles,
        is_upper_bound=True,
        share=claimed.bound.share,
        exposed=claimed.bound.exposed,
        attributed=int(claimed.attributed.sum()),
        **words,
    )


def _sentences(
    inputs: FindingInputs, text: Text, rows: np.ndarray, claimed: Claimed, first: float
) -> Iterator[str]:
    total = max(1, inputs.attribution.total_stall)
    stalled = int(inputs.attribution.stall[rows].sum())
    yield (
        f"{count(stalled)} of {count(total)} stalled cycles of all waves ({percent(stalled, total)} of "
        f"stall) wait for {text.what}, at {plural(len(claimed), 'instruction')}, "
        f"{plural(claimed.count, 'execution')}."
    )
    if 0.1 <= first < 1:
        yield (
            f"{percent(round(100 * first), 100)} of the stall of these instructions is that of their first "
            f"execution in each wave."
        )
    elif first == 1:
        yield "Each wave executes them once, or waits only the first time."
    yield from _distance(inputs, rows)
    yield from width_sentences(inputs, rows, claimed)


def _distance(inputs: FindingInputs, rows: np.ndarray) -> Iterator[str]:
    """Yield how early the costliest producers are issued, and how long they take."""
    uses = inputs.uses
    for line, _ in inputs.producers(rows, 1):
        at = np.flatnonzero(uses.line == line)
        if not len(at):
            return
        row = int(at[0])
        between = f"{count(int(uses.matrix[row]))} MFMA and {count(int(uses.vector[row]))} VALU instructions"
        issued = (
            f"Instruction {line} is issued {count(int(uses.median[row]))} cycles before its wait (median; "
            f"{between} between)"
        )
        latency = uses.latency[row]
        if np.isnan(latency):
            yield f"{issued}."
        elif latency > uses.median[row]:
            yield f"{issued} and takes {count(round(latency))}."
        else:
            yield (
                f"{issued} and takes {count(round(latency))} in the median, so that it is the slow ones that "
                f"are waited for."
            )


def width_sentences(inputs: FindingInputs, rows: np.ndarray, claimed: Claimed) -> Iterator[str]:
    """Yield how wide the accesses of a finding are, and how many bytes all VMEM instructions request."""
    one = situation(inputs, rows, claimed)
    widths = inputs.widths
    found = widths.by_width(one.accesses)
    if not found:
        return
    is_scalar_memory = not (widths.is_vector | widths.is_local)[one.accesses].any()
    each = "a wave" if is_scalar_memory else "a lane"
    parts = [f"{count(times)} × {plural(size, 'byte')} {each}" for size, times in found[:MOST_WIDTHS]]
    yield f"The accesses to blame, by width: {', '.join(parts)}."
    if widths.is_vector[one.accesses].any() and widths.vector_rate is not None:
        roof = MEMORY_ROOF.get(inputs.trace.target)
        beside = "" if roof is None else f"; memory delivers at most {roof:.1f} to each"
        yield f"All VMEM instructions ask for at most {widths.vector_rate:.1f} bytes a CU and cycle{beside}."


ALWAYS_LAST = 0.5  # of the instances that one wave is last in: beyond it the work is not shared evenly


def chains(inputs: FindingInputs) -> Iterator[Finding]:
    """Cross-lane moves of which each waits for the one before."""
    rows = inputs.rows_of(Cause.WAIT_CROSS_LANE)
    claimed = inputs.claimed(rows)
    found = inputs.chains
    if not len(claimed) or not len(found):
        return
    links = int((found.links * found.times).sum())
    per_link = int(found.cycles.sum()) / max(1, links)
    longest = int(found.links.max())
    stalled, total = int(inputs.attribution.stall[rows].sum()), max(1, inputs.attribution.total_stall)
    ends = [(int(found.first[i]), int(found.last[i]), int(found.links[i])) for i in range(min(2, len(found)))]
    evidence = [
        line_of(inputs, first, f"begins a chain of {links_of} links that ends with instruction {last}")
        for first, last, links_of in ends
    ]
    yield bounded(
        inputs,
        claimed,
        name="serial-cross-lane-chain",
        title="Serialized cross-lane chain",
        sentence=f"{plural(len(found), 'chain')} of up to {longest} links: each ds_bpermute (or its like) "
        f"is waited for before the next one is issued, {round(per_link):,} cycles a link. {count(stalled)} "
        f"of {count(total)} stalled cycles of all waves ({percent(stalled, total)} of stall) wait for "
        "cross-lane moves.",
        **remedy_fields("serial-cross-lane-chain", situation(inputs, rows, claimed)),
        evidence=(*evidence, *worst_of(inputs, rows, claimed), *producers_of(inputs, rows)),
        assumption="What is computed between the links is not looked at, so a chain may be unavoidable. "
        f"{CERTAIN} {BOUND}",
    )


def barriers(inputs: FindingInputs) -> Iterator[Finding]:
    """Waves that wait for the last one of their workgroup."""
    rows = inputs.rows_of(Cause.BARRIER)
    claimed = inputs.claimed(rows)
    if not len(claimed):
        return
    evidence = list(of_pattern(inputs, rows, claimed))
    words = [_paid(inputs, rows, claimed.count)]
    flags: tuple[str, ...] = ()
    skew = inputs.skew
    if len(skew):
        worst = int(np.argmax(skew.skew))
        words.append(
            f"In {plural(len(skew), 'instance')} the last wave came {count(int(skew.median or 0))} cycles "
            f"after the first (median), at most {count(int(skew.skew[worst]))}."
        )
        begin = int(skew.arrived[worst])
        evidence.append(
            window_of(begin, begin + int(skew.skew[worst]), "largest skew, first to last arrival")
        )
        evidence.append(wave_of(inputs, int(skew.last[worst]), "arrived last there"))
        often, times = _most_often(skew.last)
        if times > ALWAYS_LAST * len(skew) and len(skew) >= 8:
            words.append(f"{inputs.trace.waves.id(often)} was last in {count(times)} of them.")
            flags = ("uneven-arrival",)
    groups = f" How workgroups are told: {TOLD_TEXT[skew.told]}." if len(skew) else ""
    yield bounded(
        inputs,
        claimed,
        name="barrier-skew",
        title="Waits at barriers for the last wave",
        sentence=" ".join(words),
        **remedy_fields("barrier-skew", situation(inputs, rows, claimed, flags)),
        evidence=tuple(evidence),
        assumption=f"The wait is certain; only recorded waves can be seen to arrive.{groups} {BOUND}",
    )


def _paid(inputs: FindingInputs, rows: np.ndarray, times: int) -> str:
    stalled, total = int(inputs.attribution.stall[rows].sum()), max(1, inputs.attribution.total_stall)
    return (
        f"{count(stalled)} of {count(total)} stalled cycles of all waves ({percent(stalled, total)}) are "
        f"spent at barriers, {plural(times, 'execution')}."
    )


def _most_often(rows: np.ndarray) -> tuple[int, int]:
    values, times = np.unique(rows, return_counts=True)
    best = int(np.argmax(times))
    return int(values[best]), int(times[best])
