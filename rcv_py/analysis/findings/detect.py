"""The findings of a capture: all detectors, their ranked findings, and key numbers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.reduction import Answers, InMemory
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.analysis.events.marker_spans import MARKERS
from rcv_py.analysis.events.scope_costs import scope_costs
from rcv_py.analysis.findings import issuing, shape, untraced, waiting
from rcv_py.analysis.findings.bound_class import class_of
from rcv_py.analysis.findings.bounds import Exposure
from rcv_py.analysis.findings.finding import (
    CALM,
    RANKED,
    SIMD_CYCLES,
    WORK_CYCLES,
    Finding,
    Findings,
    KeyNumber,
    place_of,
)
from rcv_py.analysis.findings.inputs import FindingInputs, LaunchShape
from rcv_py.analysis.health.missing import UNMATCHED
from rcv_py.analysis.health.traced_units import alone, doubt, lasted
from rcv_py.analysis.program.code_match import REMEDY, why_not_known
from rcv_py.analysis.waves.populations import EMPTY, WORKING, Populations, ran_text
from rcv_py.base.problems import Affects, Severity
from rcv_py.base.runs import ascending
from rcv_py.base.tables import table
from rcv_py.base.text import Message, count, join_texts, known_percent, percent, plural, short_kernel
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.model.waves import WaveBatch


def _number(id: str, text: str, of: str) -> KeyNumber:
    about = table("facts")["findings"][id]
    return KeyNumber(id, about["name"], text, of, about["meaning"])


def _share(id: str, part: int, whole: int, of: str) -> KeyNumber:
    return _number(id, percent(part, whole), of)._replace(share=part / whole if whole else None)


def key_numbers(inputs: FindingInputs, *, is_trusted: bool = True) -> Iterator[KeyNumber]:
    """Yield the key numbers of a capture, without those that need instruction texts if not `is_trusted`."""
    trace = inputs.trace
    if trace.kernel_name:
        yield KeyNumber("kernel", "Kernel", short_kernel(trace.kernel_name), trace.target, trace.kernel_name)
    if trace.has_pc_samples and not len(trace.waves):
        reasons = stall_reasons(trace.code)
        yield KeyNumber("samples", "PC samples", count(reasons.samples), "no thread trace")
        if reasons.unsure < reasons.samples:
            stated = reasons.issued + reasons.stalled
            stalled = _share("stall", reasons.stalled, stated, "of the samples")
            yield stalled._replace(name="Stalled", meaning="")
        return
    if len(trace.waves):
        rows = inputs.counted if inputs.waves else np.arange(len(trace.waves))
        middle = count(round(median((trace.waves.end - trace.waves.begin)[rows])))
        engines = plural(len(ascending(trace.waves.se[rows])), "shader engine")
        which: str = "traced"
        if len(rows) < len(trace.waves):
            which = Message("{0}, of {1} traced", inputs.choice.name, count(len(trace.waves)))
        lived = Message("{0}, on {1}; median life {2} cycles", which, engines, middle)
        yield _number("waves", count(len(rows)), lived)
    if inputs.occupancy is not None:
        span = inputs.occupancy.end - inputs.occupancy.begin
        why = doubt(trace)
        of = join_texts("; ", filter(None, (trace.clock.duration(span), alone(trace, span), why)))
        yield _number("duration", lasted(span, why), of)
        limits = inputs.limits
        if limits.resident.simds:
            of = Message("{0} fit, the device holds {1}", count(limits.waves), count(limits.cap))
            of = of if len(trace.code) else ""  # which registers the kernel takes is not known
            yield _number("occupancy", Message("{0:.1f} waves per SIMD", inputs.resident.mean), of)
    if inputs.waves and is_trusted:
        yield from _cycles(inputs)


def _cycles(inputs: FindingInputs) -> Iterator[KeyNumber]:
    total, table = inputs.exposure, inputs.attribution
    of = Message("of {0} wave cycles; {1} explained", count(total.lives), known_percent(table.explained))
    yield _share("stall", table.total_stall, total.lives, of)
    of = Message("of {0} SIMD cycles", count(total.resident))
    yield _share("silent", total.no_issue, total.resident, of)
    if total.matrix:
        passes = Message("{0}, from the passes of each form", of)
        yield _share("matrix", total.matrix, total.resident, passes)
    if not inputs.trace.code.has_unread_work:
        yield _share("nothing", total.nothing, total.resident, of)


Detector = Callable[[FindingInputs], Iterable[Finding]]

DETECTORS: tuple[Detector, ...] = (*waiting.DETECTORS, *issuing.DETECTORS, *shape.DETECTORS)
SAMPLE_DETECTORS: tuple[Detector, ...] = (untraced.by_reason, shape.collapsed)

NOT_ELAPSED = (
    "Gains are bounds and do not add up: several waves wait at once, and after a wait that is removed "
    "another may appear. Only waves of the traced compute units are seen; the others are taken to be like "
    "them."
)
NO_WAVES = "Nothing ran on the traced compute unit, so there is nothing to find."
ANOTHER = "Record another dispatch, or choose a compute unit that gets work."
COSTS_ALONE = (
    "A table of costs has no waves: causes and gains are not known. `rcv hotspot` ranks its instructions; "
    "open the ui_output folder that was written with it for findings."
)
TRACE_WORK = (
    "Trace waves that work: another dispatch (`kernel_iteration_range`), another compute unit "
    "(`att_target_cu`) or other shader engines (`att_shader_engine_mask`) in the input file that "
    "`rcv check --yaml` writes. These waves can still be ranked: `--waves all`, or View › Waves."
)
UNREAD = "No wave could be read, so there is nothing to find. The problems of the capture say why."
NO_CODE = (
    "The instructions of the capture could not be read, so nothing is known about what its waves waited for. "
    "The problems of the capture say why."
)


def findings(
    trace: Trace, batches: Sequence[WaveBatch], facts: RunFacts | None = None, waves: str = WORKING
) -> Findings:
    """Return the ranked findings; `facts` and `waves` are as in FindingInputs."""
    return findings_from(InMemory(trace, batches), facts, waves)


def findings_from(answers: Answers, facts: RunFacts | None = None, waves: str = WORKING) -> Findings:
    """Return the findings of waves in memory or in files, in two passes, for a few captures in three."""
    return of_inputs(FindingInputs(answers, facts=facts, waves=waves))


def of_inputs(inputs: FindingInputs) -> Findings:
    """Return the findings of the inputs."""
    trace = inputs.trace
    if trace.has_pc_samples and not len(trace.waves):
        return _ranked(inputs, SAMPLE_DETECTORS, untraced.NO_TIMES)
    if trace.has_only_markers:
        spans = inputs.answers.of(MARKERS[ReferenceRule.OURS])
        found = _ranked(inputs, (untraced.by_scope,), untraced.NO_DETAIL)
        if found.findings:
            extra = tuple(untraced.numbers(spans, scope_costs(spans)))
            return replace(found, numbers=(*found.numbers, *extra))
    inputs.ask()
    if not inputs.waves:
        return _unranked(inputs, UNREAD if len(trace.waves) else _why_no_waves(trace))
    if not len(trace.code):  # matrix work, causes and limits are unknown
        return _unranked(inputs, NO_CODE, is_trusted=False)
    lost = inputs.answers.of(UNMATCHED).sentence
    serious = [it.text for it in trace.problems_about(Affects.WAVES) if it.severity is Severity.ERROR]
    damage = serious[:1] + list(inputs.facts.damage if inputs.facts is not None else ())
    doubts = filter(None, (*damage, inputs.answers.doubt, lost, why_not_known(trace)))
    return replace(_of_waves(inputs), unreadable=join_texts(" ", doubts))


def _of_waves(inputs: FindingInputs) -> Findings:
    match = inputs.match
    if match.is_wrong:  # texts of other code allow no conclusion
        examples = match.examples_text(inputs.trace.code)
        alarm = join_texts(" ", filter(None, (match.sentence, examples, REMEDY)))
        return replace(_unranked(inputs, alarm, is_trusted=False), alarm=alarm, unread=0)
    if inputs.none_works:
        return replace(_unranked(inputs, none_works(inputs.populations)), choice=inputs.choice)
    return _ranked(inputs, DETECTORS, NOT_ELAPSED)


def _why_no_waves(trace: Trace) -> str:
    """Why there are no waves; of a problem that says the same in short, only the hint is added."""
    if trace.has_only_costs:
        return COSTS_ALONE
    if trace.unread:
        return join_texts(" ", ("No wave could be read, so there is nothing to find.", str(trace.unread[0])))
    more = [problem.hint if problem.brief else str(problem) for problem in trace.problems[:2]]
    ends = more if any(more) else [ANOTHER]
    return join_texts(" ", filter(None, (NOT_RUN if trace.is_static else NO_WAVES, *ends)))


def _unranked(inputs: FindingInputs, why: str, *, is_trusted: bool = True) -> Findings:
    """The key numbers and the sums that findings are parts of, without findings, and why there are none."""
    exposure = inputs.exposure if inputs.waves and is_trusted else Exposure()
    return Findings(
        numbers=tuple(key_numbers(inputs, is_trusted=is_trusted)),
        waves=inputs.waves,
        of=len(inputs.trace.waves),
        why=why,
        resident=exposure.resident,
        no_issue=exposure.no_issue,
        bubbles=exposure.nothing,
        unread=inputs.unread,
    )


def none_works(ways: Populations) -> str:
    """Return sentences that no traced wave works, what the waves did instead, and how to trace others."""
    is_only, is_empty = ways.read == 1, set(ways.name) == {EMPTY}
    who = "The only traced wave" if is_only else Message("All {0}", plural(ways.read, "traced wave"))
    did = Message("{0} empty", "is" if is_only else "are") if is_empty else "left early"
    nothing = Message("{0} {1}, so there is nothing to rank.", who, did)
    ran = Message("{0}, but no loop, matrix instruction or store.", ran_text(ways))
    return join_texts(" ", (nothing, ran, TRACE_WORK))


def _ranked(inputs: FindingInputs, detectors: Iterable[Detector], assumption: str) -> Findings:
    is_sampled = inputs.waves == 0
    ranked = []
    for finding in (finding for detector in detectors for finding in detector(inputs)):
        if finding.cycles or finding.rank != RANKED:
            gain = 0.0 if is_sampled else gain_of(finding, inputs.shape)
            ranked.append(replace(finding, evidence=tuple(dict.fromkeys(finding.evidence)), gain=gain))
    bound = None if is_sampled or not inputs.is_kernel else class_of(inputs)
    ranked.sort(key=partial(place_of, bound))
    has_gain = any(finding.can_gain for finding in ranked)
    return replace(
        _unranked(inputs, "" if has_gain else untraced.why_none(inputs) or CALM),
        findings=tuple(ranked),
        assumption=assumption,
        bound_class=bound,
        choice=None if is_sampled else inputs.choice,
        working_share=0.0 if is_sampled else inputs.shape.working_share,
        attribution=None if is_sampled else inputs.attribution,
    )


def gain_of(finding: Finding, shape: LaunchShape) -> float:
    """Return the most a finding can win, as a part of the kernel's duration; 0 if it is not ranked.

    ```
    finding                     cycles at stake are …                         gain =
    a wait, drain, prologue     of SIMDs that held a traced wave              cycles / resident cycles × w
    tail, ramp-up, imbalance    of the device, from first start to last end   cycles / duration
    grid under-fills            –                                             SIMDs without a wave / SIMDs
    ```
    w is the part of the launch in which traced waves were resident: outside of it the work of SIMDs is
    unknown.  A gain holds if the traced SIMDs are like the others, and no other cost replaces it.
    """
    factor = shape.working_share if finding.unit in (SIMD_CYCLES, WORK_CYCLES) else 1.0
    return finding.share * factor if finding.rank == RANKED else 0.0
