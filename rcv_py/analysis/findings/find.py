"""The findings of a capture: all detectors, their answers ranked, and the numbers that frame them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rcv_py.analysis.findings import issuing, program, samples, shape, together, waiting
from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, RANKED, Finding, Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.numbers import key_numbers
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

THRESHOLD = 0.01  # share below which a finding is not told
Detector = Callable[[FindingInputs], Iterable[Finding]]

DETECTORS: tuple[Detector, ...] = (
    waiting.waits,
    together.chains,
    together.barriers,
    issuing.issue,
    issuing.bank_conflicts,
    program.drain,
    program.redundant,
    shape.occupancy,
    shape.tail,
    shape.uneven,
    shape.prologue,
    shape.ceiling,
    program.collapsed,
)
SAMPLE_DETECTORS: tuple[Detector, ...] = (samples.by_reason, program.collapsed)
_ORDER = (RANKED, CONTEXT, CAUTION)
_LAST = ("matrix-ceiling",)  # a frame for all others, however large

NOT_ELAPSED = (
    "Cycles at stake are bounds, not gains, and do not add up to a time: several waves wait at once, and "
    "behind a wait that is removed another may appear. Only waves of the traced compute units are seen."
)
NO_WAVES = (
    "Nothing ran on the traced compute unit, so there is nothing to find. Record another dispatch, or "
    "choose a compute unit that gets work."
)
UNREAD = "No wave could be read, so there is nothing to find. Problems says why."
CALM = "No pattern costs one percent of the cycles or more."


def findings(trace: Trace, batches: Sequence[WaveBatch], **known: object) -> Findings:
    """Return what to look at first; `known` are results for FindingInputs that are there already."""
    return of_inputs(FindingInputs(trace, batches, **known))  # type: ignore[arg-type]


def of_inputs(inputs: FindingInputs) -> Findings:
    """Return the findings of a bundle."""
    trace = inputs.trace
    if trace.has_pc_samples and not len(trace.waves):
        return _ranked(inputs, SAMPLE_DETECTORS)
    if not inputs.waves:
        why = UNREAD if len(trace.waves) else _why_no_waves(trace)
        return Findings(key_numbers(inputs), (), 0, 0, len(trace.waves), 0, 0, "", why)
    return _ranked(inputs, DETECTORS)


def _why_no_waves(trace: Trace) -> str:
    told = " ".join(str(problem) for problem in trace.problems[:2])
    return f"{NO_WAVES} {told}".strip()


def _ranked(inputs: FindingInputs, detectors: Iterable[Detector]) -> Findings:
    found = [one for detector in detectors for one in detector(inputs)]
    shown = [one for one in found if one.share >= THRESHOLD or one.rank != RANKED]
    shown = [one for one in shown if one.share >= THRESHOLD or not one.cycles]
    shown.sort(
        key=lambda one: (_ORDER.index(one.rank), one.name in _LAST, -one.share, -one.exposed, one.name)
    )
    is_sampled = inputs.waves == 0
    whole = (0, 0) if is_sampled else (inputs.exposure.resident, inputs.exposure.nothing)
    return Findings(
        key_numbers(inputs),
        tuple(_clean(one) for one in shown),
        len(found) - len(shown),
        inputs.waves,
        len(inputs.trace.waves),
        *whole,
        samples.NO_TIMES if is_sampled else NOT_ELAPSED,
        "" if shown else CALM,
        0 if is_sampled else inputs.exposure.no_issue,
    )


def _clean(one: Finding) -> Finding:
    """Evidence named twice is shown once."""
    return replace(one, evidence=tuple(dict.fromkeys(one.evidence)))
