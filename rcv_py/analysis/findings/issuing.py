"""Findings of instructions that a unit refuses, or that the program delays itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.findings.evidence import line_of, of_pattern
from rcv_py.analysis.findings.finding import CONTEXT, Finding
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.findings.patterns import Pattern
from rcv_py.analysis.findings.waiting import BOUND, LIKELY, bounded
from rcv_py.base.text import count, percent, plural

WORTH_SAYING = 0.01  # of the waves' lives: below it nothing is said about waits for a unit that works
CONFLICT = 100  # cycles one LDS access stalls in the mean: beyond it bank conflicts are likely
LDS_BANKS = {"gfx950": 64}


class Text(NamedTuple):
    """How a pattern is told."""

    pattern: Pattern
    name: str
    title: str
    what: str  # completes "… cycles of all waves"
    remedy: str
    confidence: str = LIKELY
    is_work: bool = False  # the SIMD works in these cycles: there is nothing to win by waiting less


TEXTS = (
    Text(
        Pattern.MEMORY_QUEUE,
        "memory-back-pressure",
        "Vector memory does not accept more",
        "are spent on vector memory instructions that could not issue, since earlier ones were under way",
        "Issue fewer, wider accesses (dwordx4, 16 bytes a lane, consecutive lanes at consecutive "
        "addresses), and spread them over the iteration between arithmetic instead of back to back. If "
        "each already moves 16 bytes a lane, the kernel is at the rate of the memory path: reduce bytes.",
    ),
    Text(
        Pattern.LDS_QUEUE,
        "lds-back-pressure",
        "LDS does not accept more",
        "are spent on LDS instructions that could not issue, since earlier accesses were under way",
        "Spread LDS accesses between matrix instructions, use wider ones (b128), and keep values that "
        "several steps share in registers.",
    ),
    Text(
        Pattern.SCALAR_QUEUE,
        "scalar-back-pressure",
        "Scalar memory does not accept more",
        "are spent on scalar loads that could not issue",
        "Merge scalar loads into wider ones (s_load_dwordx8, x16) and issue them once, outside of loops.",
    ),
    Text(
        Pattern.MATRIX_BUSY,
        "matrix-unit-busy",
        "Matrix unit is busy",
        "are spent while the matrix unit worked on an earlier instruction",
        "This is work, not waste: only fewer or cheaper matrix instructions help (lower precision, a form "
        "with fewer passes, sparsity), or moving vector work elsewhere so that it does not queue behind "
        "them.",
        "By the passes of each form the unit was occupied in these cycles.",
        is_work=True,
    ),
    Text(
        Pattern.MATRIX_RESULT,
        "matrix-dependency",
        "Waits for results of matrix instructions",
        "read what a matrix instruction was still computing",
        "Interleave independent accumulators, so that the next matrix instruction does not need the last "
        "result, and move what reads a result further behind it.",
        "Certain: the registers are named in the instructions.",
    ),
    Text(
        Pattern.NOP,
        "hazard-nops",
        "Hazard nops",
        "are s_nop in front of instructions that must not come too early",
        "Put independent instructions in the place of s_nop: interleave a second chain of matrix "
        "instructions, or address arithmetic. The compiler inserts them where its schedule finds nothing "
        "else; in assembly count the instructions in between before adding one.",
        "Certain: the operand of an s_nop says how long it takes.",
    ),
    Text(
        Pattern.FETCH,
        "instruction-fetch",
        "Instruction fetch",
        "pass before an instruction is there: behind branches, at new cache lines, at the start of waves",
        "Make the code smaller (less unrolling, so that the loop fits the instruction cache of 32 to 64 "
        "KB), align loop heads, and turn rare branches around, so that the usual way falls through.",
    ),
    Text(
        Pattern.LAUNCH,
        "wave-launch",
        "Launch of waves",
        "pass between the launch of a wave and its first instruction",
        "Let fewer waves do more each: persistent workgroups or more work a thread.",
        "Certain, but other waves usually cover it.",
    ),
    Text(
        Pattern.REGISTER,
        "dependent-arithmetic",
        "Chains of dependent arithmetic",
        "read a register that the instruction before still computes",
        "Interleave independent computations: process two elements a lane at a time, or unroll by two.",
        "Certain: the registers are named in the instructions.",
    ),
)


def issue(inputs: FindingInputs) -> Iterable[Finding]:
    """One finding a unit that refuses, and one a delay of the program's own."""
    for text in TEXTS:
        rows = inputs.rows_of(text.pattern)
        claimed = inputs.claimed(rows)
        if not len(claimed):
            continue
        attributed = int(claimed.attributed.sum())
        lived = max(1, inputs.exposure.lives)
        if text.is_work and attributed < WORTH_SAYING * lived:
            continue
        yield (working if text.is_work else bounded)(
            inputs,
            claimed,
            name=text.name,
            title=text.title,
            sentence=f"{count(attributed)} cycles of all waves ({percent(attributed, lived)} of their lives) "
            f"{text.what}, in {plural(len(claimed), 'line')}.",
            remedy=text.remedy,
            evidence=of_pattern(inputs, rows, claimed),
            assumption=text.confidence if text.is_work else f"{text.confidence} {BOUND}",
        )


def working(inputs: FindingInputs, claimed: Claimed, **words: object) -> Finding:
    """Return a finding of waits for the matrix unit: its cycles are those in which the unit worked."""
    whole = inputs.exposure
    return Finding(
        cycles=whole.matrix,
        is_upper_bound=False,
        share=whole.matrix / whole.resident if whole.resident else 0.0,
        attributed=int(claimed.attributed.sum()),
        rank=CONTEXT,
        **words,  # type: ignore[arg-type]
    )


def bank_conflicts(inputs: FindingInputs) -> Iterator[Finding]:
    """A hint: LDS accesses that each stall for so long that lanes may hit the same banks.

    Their cycles are those of `lds-back-pressure`, so this ranks nothing of its own: it says which lines.
    """
    code = inputs.trace.code
    rows = inputs.rows_of(Pattern.LDS_QUEUE)
    table = inputs.attribution
    rows = rows[table.line[rows] >= 0]
    size = len(code)
    stall = np.bincount(table.line[rows], table.stall[rows], size)
    per_hit = stall / np.maximum(1, code.hits)
    lines = np.flatnonzero(per_hit > CONFLICT)
    if not len(lines):
        return
    lines = lines[np.argsort(-stall[lines], kind="stable")]
    worst = int(lines[0])
    banks = LDS_BANKS.get(inputs.trace.target, 32)
    cycles = inputs.bound(rows[np.isin(table.line[rows], lines)]).cycles
    yield Finding(
        name="lds-bank-conflicts",
        title="LDS accesses that may conflict",
        cycles=0,
        is_upper_bound=False,
        share=0.0,
        sentence=f"{plural(len(lines), 'LDS instruction')} stall more than {CONFLICT} cycles an execution, "
        f"line {worst} {count(round(float(per_hit[worst])))}; in at most {count(cycles)} cycles of SIMDs "
        "nothing else happens.",
        remedy=f"Check the addresses of the lanes modulo {banks} banks of 4 bytes: pad rows by one bank or "
        "XOR the column with the row (swizzle).",
        evidence=tuple(line_of(inputs, int(line)) for line in lines[:3]),
        assumption="A hint only: the trace tells how long an access was refused, not how its lanes are "
        "addressed. The cycles are counted under LDS back-pressure.",
        rank=CONTEXT,
    )
