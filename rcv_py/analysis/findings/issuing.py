"""Findings of instructions that a unit refuses, or that the program delays itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rcv_py.analysis.findings.evidence import line_of, of_pattern
from rcv_py.analysis.findings.finding import CONTEXT, Finding
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.findings.patterns import Pattern
from rcv_py.analysis.findings.waiting import BOUND, LIKELY, bounded, remedy_fields, situation, width_sentences
from rcv_py.base.text import count, percent, plural

WORTH_SAYING = 0.01  # of the waves' lives: below it nothing is said about waits for a unit that works
CONFLICT = 100  # cycles one LDS access stalls in the mean: beyond it bank conflicts are likely
LDS_BANKS = {"gfx950": 64}


class Text(NamedTuple):
    """The words for one pattern."""

    pattern: Pattern
    name: str
    title: str
    what: str  # completes "… cycles of all waves"
    confidence: str = LIKELY
    is_work: bool = False  # the SIMD works in these cycles: there is nothing to win by waiting less


NAMED = "Certain: the registers are named in the instructions."

TEXTS = (
    Text(
        Pattern.MEMORY_QUEUE,
        "memory-back-pressure",
        "VMEM issue stall (queue full)",
        "are spent on VMEM instructions that could not issue, since earlier ones were under way",
    ),
    Text(
        Pattern.LDS_QUEUE,
        "lds-back-pressure",
        "LDS issue stall (queue full)",
        "are spent on LDS instructions that could not issue, since earlier accesses were under way",
    ),
    Text(
        Pattern.SCALAR_QUEUE,
        "scalar-back-pressure",
        "SMEM issue stall (queue full)",
        "are spent on SMEM loads that could not issue",
    ),
    Text(
        Pattern.MATRIX_BUSY,
        "matrix-unit-busy",
        "Matrix pipe is busy",
        "are spent while the matrix pipe worked on an earlier instruction",
        "By the passes of each form the pipe was occupied in these cycles.",
        is_work=True,
    ),
    Text(
        Pattern.MATRIX_RESULT,
        "matrix-dependency",
        "Waits for MFMA results",
        "read what an MFMA instruction was still computing",
        NAMED,
    ),
    Text(
        Pattern.NOP,
        "hazard-nops",
        "Hazard nops",
        "are s_nop in front of instructions that must not come too early",
        "Certain: the operand of an s_nop says how long it takes.",
    ),
    Text(
        Pattern.FETCH,
        "instruction-fetch",
        "Instruction fetch",
        "pass before an instruction is there: behind branches, at new cache lines, at the start of waves",
    ),
    Text(
        Pattern.LAUNCH,
        "wave-launch",
        "Launch of waves",
        "pass between the launch of a wave and its first instruction",
        "Certain, but other waves usually cover it.",
    ),
    Text(
        Pattern.REGISTER,
        "dependent-arithmetic",
        "Dependent arithmetic",
        "read a register that the instruction before still computes",
        NAMED,
    ),
)
_WITH_WIDTHS = (Pattern.MEMORY_QUEUE, Pattern.LDS_QUEUE, Pattern.SCALAR_QUEUE)


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
            sentence=" ".join(
                (
                    f"{count(attributed)} cycles of all waves ({percent(attributed, lived)} of their lives) "
                    f"{text.what}, at {plural(len(claimed), 'instruction')}.",
                    *(width_sentences(inputs, rows, claimed) if text.pattern in _WITH_WIDTHS else ()),
                )
            ),
            **remedy_fields(text.name, situation(inputs, rows, claimed)),
            evidence=of_pattern(inputs, rows, claimed),
            assumption=text.confidence if text.is_work else f"{text.confidence} {BOUND}",
        )


def working(inputs: FindingInputs, claimed: Claimed, **words: Any) -> Finding:
    """Return a finding of waits for the matrix unit: its cycles are those in which the unit worked."""
    whole = inputs.exposure
    return Finding(
        cycles=whole.matrix,
        is_upper_bound=False,
        share=whole.matrix / whole.resident if whole.resident else 0.0,
        attributed=int(claimed.attributed.sum()),
        rank=CONTEXT,
        **words,
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
        title="LDS accesses that may have bank conflicts",
        cycles=0,
        is_upper_bound=False,
        share=0.0,
        sentence=f"{plural(len(lines), 'LDS instruction')} stall more than {CONFLICT} cycles an execution, "
        f"instruction {worst} {count(round(float(per_hit[worst])))}; in at most {count(cycles)} cycles of "
        "SIMDs nothing else happens.",
        remedy=f"Check the addresses of the lanes modulo {banks} banks of 4 bytes: pad rows by one bank or "
        "XOR the column with the row (swizzle).",
        evidence=tuple(line_of(inputs, int(line)) for line in lines[:3]),
        assumption="A hint only: the trace tells how long an access was refused, not how its lanes are "
        "addressed. The cycles are counted under LDS back-pressure.",
        rank=CONTEXT,
    )
