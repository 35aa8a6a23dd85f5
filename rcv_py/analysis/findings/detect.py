"""The findings of a capture: all detectors, their answers ranked, and the numbers that frame them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from rcv_py.analysis.findings import issuing, program, samples, shape, waiting
from rcv_py.analysis.findings.bound_class import class_of
from rcv_py.analysis.findings.finding import (
    CAUTION,
    CONTEXT,
    RANKED,
    SIMD_CYCLES,
    WORK_CYCLES,
    Finding,
    Findings,
)
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.launch_shape import LaunchShape
from rcv_py.analysis.findings.numbers import key_numbers
from rcv_py.analysis.program.code_match import REMEDY
from rcv_py.analysis.waves.populations import EMPTY, Populations, ran_text
from rcv_py.base.text import plural
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

Detector = Callable[[FindingInputs], Iterable[Finding]]

DETECTORS: tuple[Detector, ...] = (
    waiting.waits,
    waiting.chains,
    waiting.barriers,
    issuing.issue_bound,
    issuing.memory_bound,
    issuing.issue,
    issuing.bank_conflicts,
    program.drain,
    program.redundant,
    shape.underfill,
    shape.occupancy,
    shape.ramp_up,
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
    "Gains are bounds and do not add up: several waves wait at once, and behind a wait that is removed "
    "another may appear. Only waves of the traced compute units are seen; the others are taken to be like "
    "them."
)
NO_WAVES = (
    "Nothing ran on the traced compute unit, so there is nothing to find. Record another dispatch, or "
    "choose a compute unit that gets work."
)
TRACE_WORK = (
    "Trace waves that work: another dispatch (`kernel_iteration_range`), another compute unit "
    "(`att_target_cu`) or other shader engines (`att_shader_engine_mask`) in the input file that "
    "`rcv check --yaml` writes. These waves can be ranked all the same: `--waves all`, or View › Waves."
)
UNREAD = "No wave could be read, so there is nothing to find. Problems says why."
NO_CODE = (
    "The instructions of the capture could not be read, so nothing is known about what its waves waited for. "
    "Problems says why."
)
CALM = "No finding has 2 % of the kernel's duration or more to gain."


def findings(trace: Trace, batches: Sequence[WaveBatch], **known: Any) -> Findings:
    """Return what to look at first; `known` are results for FindingInputs that are there already."""
    return of_inputs(FindingInputs(trace, batches, **known))


def of_inputs(inputs: FindingInputs) -> Findings:
    """Return the findings of a bundle."""
    trace = inputs.trace
    if trace.has_pc_samples and not len(trace.waves):
        return _ranked(inputs, SAMPLE_DETECTORS)
    if not inputs.waves:
        problems = " ".join(str(problem) for problem in trace.problems[:2])
        return _nothing(inputs, UNREAD if len(trace.waves) else f"{NO_WAVES} {problems}".strip())
    if not len(trace.code):  # neither work of the matrix unit nor causes nor limits are known
        return _nothing(inputs, NO_CODE, is_trusted=False)
    match = inputs.match
    if match.is_wrong:  # nothing is concluded from texts that belong to other code
        alarm = f"{match.sentence} {match.examples_text(trace.code)} {REMEDY}".replace("  ", " ")
        return replace(_nothing(inputs, alarm, is_trusted=False), alarm=alarm, unread=0)
    if inputs.none_works:
        why = f"{none_works(inputs.populations)} {TRACE_WORK}"
        return replace(_nothing(inputs, why), choice=inputs.choice)
    return _ranked(inputs, DETECTORS)


def _nothing(inputs: FindingInputs, why: str, *, is_trusted: bool = True) -> Findings:
    return Findings(
        numbers=key_numbers(inputs, is_trusted=is_trusted),
        waves=inputs.waves,
        of=len(inputs.trace.waves),
        why=why,
        unread=inputs.unread,
    )


def none_works(found: Populations) -> str:
    """Return that no traced wave works, and what the waves did instead."""
    did = "is empty" if set(found.name) == {EMPTY} else "left early"
    who = f"All {plural(found.read, 'traced wave')}" if found.read > 1 else "The only traced wave"
    did = did.replace("is empty", "are empty") if found.read > 1 else did
    return (
        f"{who} {did}: {ran_text(found)}, and none of its loops, matrix instructions and stores. "
        "So there is nothing to rank."
    )


def _ranked(inputs: FindingInputs, detectors: Iterable[Detector]) -> Findings:
    is_sampled = inputs.waves == 0
    found = [one for detector in detectors for one in detector(inputs)]
    found = [one for one in found if one.cycles or one.rank != RANKED]
    if not is_sampled:
        found = [replace(one, gain=gain_of(one, inputs.shape)) for one in found]
    found.sort(key=_place)
    totals = {}
    if not is_sampled:
        exposure = inputs.exposure
        totals = {
            "resident": exposure.resident,
            "no_issue": exposure.no_issue,
            "bubbles": exposure.nothing,
        }
    return Findings(
        numbers=key_numbers(inputs),
        findings=tuple(replace(one, evidence=tuple(dict.fromkeys(one.evidence))) for one in found),
        waves=inputs.waves,
        of=len(inputs.trace.waves),
        assumption=samples.NO_TIMES if is_sampled else NOT_ELAPSED,
        why="" if any(not one.is_small for one in found) else CALM,
        bound_class=None if is_sampled or not inputs.is_kernel else class_of(inputs),
        **totals,
        choice=inputs.choice if inputs.waves else None,
        unread=inputs.unread,
    )


def gain_of(one: Finding, shape: LaunchShape) -> float:
    """Return the part of the kernel's duration that a finding can win at most; 0 if it ranks nothing.

    ```
    finding                     cycles at stake are …                         gain =
    a wait, drain, prologue     of SIMDs that held a traced wave              cycles / resident cycles × w
    tail, ramp-up, imbalance    of the device, from first start to last end   cycles / duration
    grid under-fills            –                                             SIMDs without a wave / SIMDs
    ```
    w is the part of the launch in which traced waves were resident: outside of it nothing is known of what
    SIMDs do.  A gain holds if the traced SIMDs are like the others, and nothing takes the place of what is
    removed.
    """
    factor = shape.working_share if one.unit in (SIMD_CYCLES, WORK_CYCLES) else 1.0
    return min(1.0, max(0.0, one.share * factor)) if one.rank == RANKED else 0.0


def _place(one: Finding) -> tuple[int, bool, bool, float, float, int, str]:
    """Where a finding stands: by gain; of equal gains, by share, then by attributed cycles of all waves."""
    return (
        _ORDER.index(one.rank),
        one.name in _LAST,
        one.is_small,
        -one.gain,
        -one.share,
        -one.attributed,
        one.name,
    )
