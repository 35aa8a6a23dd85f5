"""Findings of waits for memory: one pattern a kind of operation, with how early it was issued and is
needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.findings.evidence import of_pattern
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.findings.patterns import Pattern
from rcv_py.base.text import count, percent, plural

COLD = 0.6  # of a pattern's stall in first executions: from here on it is a cold start
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
    """How a wait is told."""

    pattern: Pattern
    name: str
    title: str
    what: str  # "vector loads"
    remedy: str
    cold: str  # remedy if it is the first execution in each wave that costs
    confidence: str = CERTAIN


_HOIST = (
    "Issue the load earlier: hoist it above the arithmetic, prefetch the next iteration into a second set of "
    "registers, and wait with a partial count such as vmcnt(n). In Triton raise num_stages; in HIP or FlyDSL "
    "double-buffer the loads by hand."
)
_COLD_LOAD = (
    "This is a cold start, not the loop: issue the first loads before address arithmetic that does not need "
    "them, or let a workgroup process several tiles, so that it happens once."
)

TEXTS = (
    Text(
        Pattern.LOAD,
        "exposed-vector-load",
        "Waits for vector loads",
        "vector loads",
        _HOIST,
        _COLD_LOAD,
    ),
    Text(
        Pattern.DMA,
        "exposed-lds-dma",
        "Waits for copies from memory to LDS",
        "copies from memory to LDS",
        "Copy the next tile while this one is computed: a second LDS buffer, the copies issued at the top "
        "of the iteration, and a partial vmcnt(n) in front of the barrier instead of vmcnt(0).",
        "This is a cold start: begin the copies of the first tile before anything else of the prologue, "
        "or let a workgroup process several tiles.",
    ),
    Text(
        Pattern.LDS,
        "exposed-lds",
        "Waits for LDS accesses",
        "LDS accesses",
        "Read operands one step ahead: issue the ds_read of the next fragment before the matrix "
        "instructions of this one, wait with a partial lgkmcnt(n), and read wider (ds_read_b128). If "
        "single reads take long, look at bank conflicts: pad rows or swizzle addresses.",
        "The first reads of each wave cost most: start them right behind the barrier, before other work.",
    ),
    Text(
        Pattern.CROSS_LANE,
        "exposed-cross-lane",
        "Waits for cross-lane moves through LDS",
        "ds_bpermute and its like",
        "Exchange lanes with DPP (row_shr, row_bcast, quad_perm), v_permlane or v_readlane, which do not "
        "go through LDS; or run several reductions side by side, so that one wait serves all of them.",
        "Exchange lanes with DPP or v_permlane, which do not go through LDS.",
    ),
    Text(
        Pattern.SCALAR,
        "exposed-scalar-load",
        "Waits for scalar loads",
        "scalar loads",
        "Issue scalar loads together at the beginning and wait once, after independent arithmetic; keep "
        "pointers and strides in registers instead of loading them again in the loop.",
        "Kernel arguments and what they point to are loaded one behind the other at the start of each "
        "wave: pack arguments so that one s_load takes them all, preload them into registers "
        "(amdgpu-kernarg-preload-count), avoid loading through a pointer that was just loaded, or let "
        "fewer, longer waves do the work.",
    ),
    Text(
        Pattern.STORE,
        "waits-for-stores",
        "Waits for stores",
        "stores",
        "Nothing that follows needs a store to be done: vmcnt counts stores and loads together on gfx9, "
        "so issue loads before stores, and wait with a count that leaves the stores outstanding. Leave "
        "out the wait in front of s_endpgm.",
        "Move stores behind the loads they are counted with, or wait with a count that leaves them "
        "outstanding.",
    ),
    Text(
        Pattern.ATOMIC,
        "atomics",
        "Atomic operations",
        "atomic operations",
        "Reduce inside the wave and the workgroup first (DPP, LDS) and issue one atomic a workgroup; use "
        "the form that returns nothing; spread counters over several addresses.",
        "Reduce inside the workgroup first, and issue one atomic a workgroup.",
    ),
    Text(
        Pattern.SCRATCH,
        "scratch-spills",
        "Spills to scratch memory",
        "scratch accesses",
        "Registers spill to memory: use fewer live values (smaller tiles, less unrolling), raise the "
        "register limit with __launch_bounds__ or amdgpu_waves_per_eu, and index private arrays with "
        "constants only.",
        "Registers spill to memory: use fewer live values, or raise the register limit with "
        "__launch_bounds__.",
    ),
)


def waits(inputs: FindingInputs) -> Iterable[Finding]:
    """One finding a kind of operation that waves waited for."""
    for text in TEXTS:
        rows = inputs.rows_of(text.pattern)
        if len(rows) and not _is_told_elsewhere(inputs, text.pattern):
            yield from _finding(inputs, text, rows)


def _is_told_elsewhere(inputs: FindingInputs, pattern: Pattern) -> bool:
    """Cross-lane moves in chains are told as chains."""
    return pattern == Pattern.CROSS_LANE and len(inputs.chains) > 0


def _finding(inputs: FindingInputs, text: Text, rows: np.ndarray) -> Iterator[Finding]:
    claimed = inputs.claimed(rows)
    if not len(claimed):
        return
    first = inputs.first_share(claimed.line)
    has_loop = len(inputs.loops.phases) > 0
    is_cold = first >= COLD and (has_loop or text.pattern == Pattern.SCALAR)
    yield bounded(
        inputs,
        claimed,
        name=text.name,
        title=text.title + (", mostly once a wave" if is_cold and has_loop else ""),
        sentence=" ".join(_sentences(inputs, text, rows, claimed, first)),
        remedy=text.cold if is_cold else text.remedy,
        evidence=of_pattern(inputs, rows, claimed),
        assumption=f"{text.confidence} {BOUND}",
    )


def bounded(inputs: FindingInputs, claimed: Claimed, **words: object) -> Finding:
    """Return a finding whose cycles are the bound of what is claimed."""
    return Finding(
        cycles=claimed.bound.cycles,
        is_upper_bound=True,
        share=claimed.bound.share,
        exposed=claimed.bound.exposed,
        attributed=int(claimed.attributed.sum()),
        **words,  # type: ignore[arg-type]
    )


def _sentences(
    inputs: FindingInputs, text: Text, rows: np.ndarray, claimed: Claimed, first: float
) -> Iterator[str]:
    total = max(1, inputs.attribution.total_stall)
    stalled = int(inputs.attribution.stall[rows].sum())
    lines = plural(len(claimed), "line")
    yield (
        f"{count(stalled)} of {count(total)} stalled cycles of all waves ({percent(stalled, total)}) wait "
        f"for {text.what}, in {lines}, {plural(claimed.count, 'execution')}."
    )
    if first >= 0.1 and len(inputs.loops.phases):
        yield (
            f"{percent(round(100 * first), 100)} of the stall of these lines is their first execution in "
            f"each wave."
        )
    yield from _distance(inputs, rows)


def _distance(inputs: FindingInputs, rows: np.ndarray) -> Iterator[str]:
    """How early the operations to blame most are issued, beside how long they take."""
    uses = inputs.uses
    for line, _ in inputs.producers(rows, 1):
        at = np.flatnonzero(uses.line == line)
        if not len(at):
            return
        row = int(at[0])
        between = (
            f"{count(int(uses.matrix[row]))} matrix and {count(int(uses.vector[row]))} vector instructions"
        )
        told = (
            f"Line {line} is issued {count(int(uses.median[row]))} cycles before its wait (median; "
            f"{between} between)"
        )
        latency = uses.latency[row]
        if np.isnan(latency):
            yield f"{told}."
        elif latency > uses.median[row]:
            yield f"{told} and takes {count(round(latency))}."
        else:
            yield (
                f"{told} and takes {count(round(latency))} in the median, so that it is the slow ones that "
                f"are waited for."
            )
