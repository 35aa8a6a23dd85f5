"""Findings of captures with markers alone: what scopes cost, and how compute units and engines differ."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.events.marker_spans import MARKERS, MarkerSpans
from rcv_py.analysis.events.scope_costs import ScopeCosts, scope_costs
from rcv_py.analysis.findings.finding import SCOPES, Evidence, Finding, KeyNumber
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.base.text import Message, count, join_texts, plural
from rcv_py.model.ids import place_name
from rcv_py.model.modes import ReferenceRule

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
    units = plural(
        len(set(zip(spans.se.tolist(), spans.sa.tolist(), spans.cu.tolist(), strict=True))), "compute unit"
    )
    yield KeyNumber(
        "scopes",
        "In scopes",
        plural(int(costs.own.sum()), "wave cycle"),
        Message(
            "{0} of {1}, on {2}",
            plural(int(costs.entries[scopes].sum()), "entry", "entries"),
            plural(int(scopes.sum()), "scope"),
            units,
        ),
        "Cycles of all waves inside of scopes of markers.",
    )


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
        "Entered {0}, on {1}: {2} cycles in the mean, {3} to {4}.",
        plural(int(costs.entries[row]), "time"),
        plural(int(costs.units[row]), "compute unit"),
        count(round(costs.mean[row])),
        count(int(costs.shortest[row])),
        count(int(costs.longest[row])),
    )
    units = costs.by_unit
    if costs.units[row] > 1:
        fast, slow = int(costs.fastest[row]), int(costs.slowest[row])
        yield Message(
            "By compute unit the mean is {0} ({1}) to {2} ({3}), {4:.2f} times as long.",
            count(round(units.mean[fast])),
            _unit(inputs, *(int(column[fast]) for column in (units.se, units.sa, units.cu))),
            count(round(units.mean[slow])),
            _unit(inputs, *(int(column[slow]) for column in (units.se, units.sa, units.cu))),
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
    place = place_name(
        *(int(getattr(spans, name)[one]) for name in ("se", "sa", "cu", "simd", "slot")),
        unit=inputs.trace.architecture.unit_name,
    )
    return Evidence(
        "window", Message("the longest, on {0}", place), begin=int(spans.begin[one]), end=int(spans.end[one])
    )


def _unit(inputs: FindingInputs, se: int, sa: int, cu: int) -> str:
    return place_name(se, sa, cu, unit=inputs.trace.architecture.unit_name)
