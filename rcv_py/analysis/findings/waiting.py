"""Findings of waits: for memory, one a kind of operation, for chains of cross-lane moves, and at barriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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

MAX_WIDTHS = 3  # widths that a sentence names
MAX_PRODUCERS = 8  # producers whose access widths and order are looked at
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


_CROSS_LANE = "Waits for cross-lane moves through LDS"
TEXTS = (
    Text(Cause.WAIT_LOAD, "exposed-vector-load", "Waits for VMEM loads", "VMEM loads"),
    Text(Cause.WAIT_DMA, "exposed-lds-dma", "Waits for LDS DMA", "copies from memory to LDS (LDS DMA)"),
    Text(Cause.WAIT_LDS, "exposed-lds", "Waits for LDS accesses", "LDS accesses"),
    Text(Cause.WAIT_CROSS_LANE, "exposed-cross-lane", _CROSS_LANE, "ds_bpermute and its like"),
    Text(Cause.WAIT_SCALAR, "exposed-scalar-load", "Waits for SMEM loads", "SMEM loads"),
    Text(Cause.WAIT_STORE, "waits-for-stores", "Waits for VMEM stores", "VMEM stores"),
    Text(Cause.WAIT_ATOMIC, "atomics", "Atomic operations", "atomic operations"),
    Text(SCRATCH, "scratch-spills", "Spills to scratch memory", "scratch accesses"),
)


def waits(inputs: FindingInputs) -> Iterable[Finding]:
    """One finding a kind of operation that waves waited for; chains of cross-lane moves have their own."""
    for text in TEXTS:
        rows = inputs.rows_of(text.pattern)
        claimed = inputs.claimed(rows)
        if not len(claimed) or (text.pattern == Cause.WAIT_CROSS_LANE and len(inputs.chains)):
            continue
        is_cold = situation(inputs, rows, claimed).is_cold
        yield bounded(
            inputs,
            rows,
            name=text.name,
            title=text.title + (", mostly once a wave" if is_cold else ""),
            sentence=" ".join(_sentences(inputs, text, rows, claimed)),
            evidence=of_pattern(inputs, rows, claimed),
            assumption=f"{text.confidence} {BOUND}",
        )


def situation(
    inputs: FindingInputs, rows: np.ndarray, claimed: Claimed, flags: Iterable[str] = ()
) -> Situation:
    """Return what the remedies of a finding depend on."""
    producers = tuple(line for line, _ in inputs.producers(rows, MAX_PRODUCERS))
    return Situation(inputs, claimed, producers, frozenset(flags))


def bounded(
    inputs: FindingInputs,
    rows: np.ndarray,
    *,
    name: str,
    flags: Iterable[str] = (),
    producers: Sequence[int] = (),
    **words: Any,
) -> Finding:
    """Return a finding whose cycles are the bound of some rows of the attribution, with its remedy.

    `producers` are the code rows to blame, by default those of the rows.
    """
    claimed = inputs.claimed(rows)
    one = situation(inputs, rows, claimed, flags)
    one = replace(one, producers=tuple(producers)) if producers else one
    return Finding(
        name=name,
        cycles=claimed.bound.cycles,
        is_upper_bound=True,
        share=claimed.bound.share,
        exposed=claimed.bound.exposed,
        attributed=int(claimed.attributed.sum()),
        **remedy_fields(name, one),
        **words,
    )


def _stalled(inputs: FindingInputs, rows: np.ndarray, of: str = "") -> str:
    """Stalled cycles of some rows, and their part of those of all waves."""
    stalled, total = int(inputs.attribution.stall[rows].sum()), max(1, inputs.attribution.total_stall)
    return f"{count(stalled)} of {count(total)} stalled cycles of all waves ({percent(stalled, total)}{of})"


def _sentences(inputs: FindingInputs, text: Text, rows: np.ndarray, claimed: Claimed) -> Iterator[str]:
    yield (
        f"{_stalled(inputs, rows, ' of stall')} wait for {text.what}, at "
        f"{plural(len(claimed), 'instruction')}, {plural(claimed.count, 'execution')}."
    )
    first = inputs.first_share(claimed.line)
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
    parts = [f"{count(times)} × {plural(size, 'byte')} {each}" for size, times in found[:MAX_WIDTHS]]
    yield f"The accesses to blame, by width: {', '.join(parts)}."
    if widths.is_vector[one.accesses].any() and widths.vector_rate is not None:
        roof = MEMORY_ROOF.get(inputs.trace.target)
        beside = "" if roof is None else f"; memory delivers at most {roof:.1f} to each"
        yield f"All VMEM instructions request at most {widths.vector_rate:.1f} bytes a CU and cycle{beside}."


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
    ends = [(int(found.first[i]), int(found.last[i]), int(found.links[i])) for i in range(min(2, len(found)))]
    evidence = [
        line_of(inputs, first, f"begins a chain of {links_of} links that ends with instruction {last}")
        for first, last, links_of in ends
    ]
    yield bounded(
        inputs,
        rows,
        name="serial-cross-lane-chain",
        title="Serialized cross-lane chain",
        sentence=f"{plural(len(found), 'chain')} of up to {longest} links: each ds_bpermute (or its like) "
        f"is waited for before the next one is issued, {round(per_link):,} cycles a link. "
        f"{_stalled(inputs, rows, ' of stall')} wait for cross-lane moves.",
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
    words = [f"{_stalled(inputs, rows)} are spent at barriers, {plural(claimed.count, 'execution')}."]
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
        waves, counts = np.unique(skew.last, return_counts=True)
        often, times = int(waves[np.argmax(counts)]), int(counts.max())
        if times > ALWAYS_LAST * len(skew) and len(skew) >= 8:
            words.append(f"{inputs.trace.waves.id(often)} was last in {count(times)} of them.")
            flags = ("uneven-arrival",)
    groups = f" How workgroups are known: {TOLD_TEXT[skew.told]}." if len(skew) else ""
    yield bounded(
        inputs,
        rows,
        name="barrier-skew",
        title="Waits at barriers for the last wave",
        sentence=" ".join(words),
        flags=flags,
        evidence=tuple(evidence),
        assumption=f"The wait is certain; only recorded waves can be seen to arrive.{groups} {BOUND}",
    )
