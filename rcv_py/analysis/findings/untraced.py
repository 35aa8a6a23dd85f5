"""Findings of captures without the instructions of waves: of PC samples, and of markers alone.

Samples say why instructions did not issue, by reason; markers say what scopes cost, and how compute units and
engines differ.
"""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.cost.pc_samples import reason_meaning, reason_name, stall_reasons
from rcv_py.analysis.events.marker_spans import MARKERS, MarkerSpans
from rcv_py.analysis.events.scope_costs import ScopeCosts, scope_costs
from rcv_py.analysis.findings.evidence import line_of
from rcv_py.analysis.findings.finding import SAMPLES, SCOPES, Evidence, Finding, KeyNumber
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.base.runs import distinct
from rcv_py.base.tables import table
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import StallReason
from rcv_py.model.modes import ReferenceRule

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
    often = code.stall_reasons
    if not reasons.samples or often is None:
        return
    for reason, samples in reasons.ranked():
        lines = np.argsort(-often[:, reason], kind="stable")[:3].tolist()
        known = StallReason(reason) if reason < len(StallReason) else StallReason.OTHER
        name = f"samples-{known.name.lower().replace('_', '-')}"
        yield Finding(
            name=name,
            title=Message("Stalled: {0}", reason_name(reason)),
            cycles=samples,
            is_upper_bound=True,
            share=samples / reasons.samples,
            sentence=Message(
                "In {0} of {1} ({2}) the instruction did not issue: {3}.",
                count(samples),
                plural(reasons.samples, "sample"),
                percent(samples, reasons.samples),
                reason_meaning(reason),
            ),
            remedy=table("findings").get(name, {}).get("remedy", OTHERWISE),
            evidence=tuple(
                line_of(inputs, line, plural(times, "sample"))
                for line, times in zip(lines, often[lines, reason].tolist(), strict=True)
                if times > 0
            ),
            assumption=NO_TIMES,
            attributed=samples,
            unit=SAMPLES,
        )


LEAST = 0.01  # of the cycles in scopes: less is left out
UNEVEN = 1.2  # times as long on the slowest unit as on the fastest
NO_DETAIL = (
    "Markers show when a wave was in a scope, not why: its cycles include waits and the turns of other waves."
)
SEE_CODE = "Trace the instructions of a compute unit to see what the scope waits for."
COMPARE = "Compare what the slow unit does with what the fast one does: data, cache, work of other waves."


def numbers(spans: MarkerSpans, costs: ScopeCosts) -> Iterator[KeyNumber]:
    """Yield the key number of scopes."""
    scopes = costs.own > 0
    units = plural(len(distinct(spans.se, spans.sa, spans.cu)[0]), "compute unit")
    entries = plural(int(costs.entries[scopes].sum()), "entry", "entries")
    of = Message("{0} of {1}, on {2}", entries, plural(int(scopes.sum()), "scope"), units)
    cycles = plural(int(costs.own.sum()), "wave cycle")
    yield KeyNumber("scopes", "In scopes", cycles, of, "Cycles of all waves inside of scopes of markers.")


def by_scope(inputs: FindingInputs) -> Iterator[Finding]:
    """Yield one finding for each scope, with its slowest and its fastest compute unit."""
    spans = inputs.answers.of(MARKERS[ReferenceRule.OURS])
    costs = scope_costs(spans)
    total = int(costs.own.sum())
    for row in range(len(costs)):
        own = int(costs.own[row])
        if not total or own < LEAST * total:
            continue
        name = spans.names[int(costs.name_id[row])]
        is_uneven = costs.spread[row] >= UNEVEN
        yield Finding(
            name="scope",
            title=Message("Scope {0}", name),
            cycles=own,
            is_upper_bound=True,
            share=own / total,
            sentence=join_texts(" ", _sentences(inputs, spans, costs, row)),
            remedy=join_texts(" ", (COMPARE, SEE_CODE)) if is_uneven else SEE_CODE,
            evidence=(_longest(inputs, spans, costs, row),),
            assumption=NO_DETAIL,
            attributed=own,
            unit=SCOPES,
        )


def _sentences(inputs: FindingInputs, spans: MarkerSpans, costs: ScopeCosts, row: int) -> Iterator[str]:
    yield Message(
        "Entered {0}, on {1}: {2} cycles on average, {3} to {4}.",
        plural(int(costs.entries[row]), "time"),
        plural(int(costs.units[row]), "compute unit"),
        count(round(costs.mean[row])),
        count(int(costs.shortest[row])),
        count(int(costs.longest[row])),
    )
    units = costs.by_unit

    def unit(at: int) -> str:
        place = (int(column[at]) for column in (units.se, units.sa, units.cu))
        return place_name(*place, unit=inputs.trace.architecture.unit_name)

    if costs.units[row] > 1:
        fast, slow = int(costs.fastest[row]), int(costs.slowest[row])
        yield Message(
            "By compute unit the mean is {0} ({1}) to {2} ({3}), {4:.2f} times as long.",
            count(round(units.mean[fast])),
            unit(fast),
            count(round(units.mean[slow])),
            unit(slow),
            float(costs.spread[row]),
        )
    if costs.fast_engine_mean[row] < costs.slow_engine_mean[row]:
        yield Message(
            "By shader engine it is {0} (SE{1}) to {2} (SE{3}).",
            count(round(costs.fast_engine_mean[row])),
            int(costs.fast_engine[row]),
            count(round(costs.slow_engine_mean[row])),
            int(costs.slow_engine[row]),
        )
    source = spans.sources[int(costs.name_id[row])]
    if source:
        yield Message("It begins at {0}.", source)


def _longest(inputs: FindingInputs, spans: MarkerSpans, costs: ScopeCosts, row: int) -> Evidence:
    """The longest entry of a scope, as a range of time."""
    rows = np.flatnonzero(spans.name_id == costs.name_id[row])
    one = int(rows[np.argmax((spans.end - spans.begin)[rows])])
    numbers = (int(getattr(spans, name)[one]) for name in ("se", "sa", "cu", "simd", "slot"))
    place = place_name(*numbers, unit=inputs.trace.architecture.unit_name)
    text = Message("the longest, on {0}", place)
    return Evidence("window", text, begin=int(spans.begin[one]), end=int(spans.end[one]))
