"""Findings of waits for memory, one a kind of operation: how early it was issued, how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

import numpy as np

from rcv_py.analysis.findings.bound_class import MEMORY_ROOF
from rcv_py.analysis.findings.evidence import of_pattern
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.findings.patterns import Pattern
from rcv_py.analysis.findings.remedies import advice
from rcv_py.analysis.findings.situation import Situation
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

    pattern: Pattern
    name: str
    title: str
    what: str  # "vector loads"
    confidence: str = CERTAIN


TEXTS = (
    Text(Pattern.LOAD, "exposed-vector-load", "Waits for VMEM loads", "VMEM loads"),
    Text(Pattern.DMA, "exposed-lds-dma", "Waits for LDS DMA", "copies from memory to LDS (LDS DMA)"),
    Text(Pattern.LDS, "exposed-lds", "Waits for LDS accesses", "LDS accesses"),
    Text(
        Pattern.CROSS_LANE,
        "exposed-cross-lane",
        "Waits for cross-lane moves through LDS",
        "ds_bpermute and its like",
    ),
    Text(Pattern.SCALAR, "exposed-scalar-load", "Waits for SMEM loads", "SMEM loads"),
    Text(Pattern.STORE, "waits-for-stores", "Waits for VMEM stores", "VMEM stores"),
    Text(Pattern.ATOMIC, "atomics", "Atomic operations", "atomic operations"),
    Text(Pattern.SCRATCH, "scratch-spills", "Spills to scratch memory", "scratch accesses"),
)


def waits(inputs: FindingInputs) -> Iterable[Finding]:
    """One finding a kind of operation that waves waited for."""
    for text in TEXTS:
        rows = inputs.rows_of(text.pattern)
        if len(rows) and not _is_reported_elsewhere(inputs, text.pattern):
            yield from _finding(inputs, text, rows)


def _is_reported_elsewhere(inputs: FindingInputs, pattern: Pattern) -> bool:
    """Whether another finding reports the pattern: chains of cross-lane moves have their own."""
    return pattern == Pattern.CROSS_LANE and len(inputs.chains) > 0


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


class RemedyFields(TypedDict):
    """Fields of a finding that say what to do."""

    remedy: str
    remedy_id: str
    effort: str


def remedy_fields(name: str, one: Situation) -> RemedyFields:
    """Return the remedy of a finding as its fields."""
    found = advice(name, one)
    return {"remedy": found.text, "remedy_id": found.id, "effort": found.effort}


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
