"""Findings of PC samples: why instructions did not issue, by reason."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.cost.pc_samples import reason_meaning, reason_name, stall_reasons
from rcv_py.analysis.findings.evidence import line_of
from rcv_py.analysis.findings.finding import SAMPLES, Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.kinds import StallReason

REMEDY = {
    StallReason.FETCH: "Make the code smaller, so that loops fit the instruction cache, and align loop "
    "heads.",
    StallReason.ALU_DEPENDENCY: "Interleave independent computations, so that no instruction needs the "
    "result right before it.",
    StallReason.WAITCNT: "Issue loads earlier (prefetch, double buffer, num_stages in Triton), and wait "
    "with partial counts. A thread trace shows which load each wait is for.",
    StallReason.INTERNAL: "Look at what the sequencer handles itself there: nops, sleeps, priorities, "
    "branches.",
    StallReason.BARRIER: "Fewer barriers (double-buffer LDS), and equal work for the waves of a workgroup.",
    StallReason.ARBITER_LOST: "Another wave issued: the SIMD is busy, and only fewer instructions help.",
    StallReason.PIPE_STALLED: "The unit was full: spread its instructions, or use fewer, wider instructions.",
    StallReason.SLEEPING: "Shorten or remove s_sleep.",
}
OTHERWISE = "Look at the instructions below; a thread trace shows more."
NO_TIMES = "A sample shows a wave at a moment: shares of samples estimate shares of time, not cycles."

HOST_TRAPS = (
    "Host traps do not record why a wave waits: `rcv hotspot` ranks instructions by samples. Record with "
    "--pc-sampling-method stochastic for stall reasons."
)


def why_none(inputs: FindingInputs) -> str:
    """Return why samples allow no finding, "" if they do, or if there are none."""
    found = stall_reasons(inputs.trace.code)
    return HOST_TRAPS if not inputs.waves and 0 < found.samples == found.unsure else ""


def by_reason(inputs: FindingInputs) -> Iterator[Finding]:
    """Yield one finding for each reason of stalled samples."""
    code = inputs.trace.code
    reasons = stall_reasons(code)
    table = code.stall_reasons
    if not reasons.samples or table is None:
        return
    for reason, samples in reasons.ranked():
        lines = np.argsort(-table[:, reason], kind="stable")[:3]
        known = StallReason(reason) if reason < len(StallReason) else StallReason.OTHER
        meaning = reason_meaning(reason)
        yield Finding(
            name=f"samples-{known.name.lower().replace('_', '-')}",
            title=Message("Stalled: {0}", reason_name(reason)),
            cycles=samples,
            is_upper_bound=True,
            share=samples / reasons.samples,
            sentence=Message(
                "In {0} of {1} ({2}) the instruction did not issue: {3}.",
                count(samples),
                plural(reasons.samples, "sample"),
                percent(samples, reasons.samples),
                meaning,
            ),
            remedy=REMEDY.get(known, OTHERWISE),
            evidence=tuple(
                line_of(inputs, int(line), plural(int(table[line, reason]), "sample"))
                for line in lines
                if table[line, reason] > 0
            ),
            assumption=NO_TIMES,
            attributed=samples,
            unit=SAMPLES,
        )
