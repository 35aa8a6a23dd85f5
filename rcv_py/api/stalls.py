"""Tables of why waves did not go on: causes, waits, loops, bubbles, and latency that others hide."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.analysis.latency.bubbles import bubbles as simd_bubbles
from rcv_py.analysis.latency.hidden_latency import HiddenLatency, why_not_hidden
from rcv_py.analysis.latency.latency_tables import hidden_table
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.latency.memory_latency import memory_latency as counted_latency
from rcv_py.analysis.program.matrix_passes import matrix_use
from rcv_py.analysis.waits.wait_latency import WaitSummary
from rcv_py.api.answer import Answer
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.bubbles import bubble_table
from rcv_py.results.causes import blamed_table, cause_table, each_table
from rcv_py.results.latency import hidden_rows, memory_rows
from rcv_py.results.waits import latency_table, producer_table, totals, wait_table

RULES = tuple(rule.value for rule in ReferenceRule)
CAUSES_BY = ("cause", "line", "producer", "each")


def causes(trace: Trace, found: Attribution, by: str) -> Answer[Attribution]:
    """Return cycles by cause, late line, producer, or each of all these."""
    facts = {
        "waves": found.waves,
        "stall": found.total_stall,
        "idle": found.total_idle,
        "explained": found.explained,
        "explained_idle": found.explained_idle,
        "assumption": found.assumption,
    }
    whole = found.total_stall
    if by == "each":
        return Answer.of(each_table(trace, found, whole), found, facts)
    if by == "producer":
        return Answer.of(blamed_table(trace, found.by_producer(), whole), found, facts)
    groups = found.by_cause() if by == "cause" else found.by_line()
    return Answer.of(cause_table(trace, groups, by, whole), found, facts)


def wait_costs(trace: Trace, found: WaitSummary) -> Answer[WaitSummary]:
    """Return one row a wait instruction."""
    return Answer.of(wait_table(trace, found), found, _wait_facts(found))


def wait_producers(trace: Trace, found: WaitSummary) -> Answer[WaitSummary]:
    """Return one row a wait and an instruction that it waited for."""
    return Answer.of(producer_table(trace, found), found, _wait_facts(found))


def wait_latency(trace: Trace, found: WaitSummary) -> Answer[WaitSummary]:
    """Return one row an instruction that was waited for."""
    return Answer.of(latency_table(trace, found), found, _wait_facts(found))


def _wait_facts(found: WaitSummary) -> dict[str, int]:
    return {"waves": found.waves, **totals(found)}


def bubbles(trace: Trace, batches: Sequence[WaveBatch], rows: Collection[int] | None) -> Answer[Bubbles]:
    """Return one row an instruction that waves waited in while nothing happened on their SIMD."""
    found, use = simd_bubbles(trace, batches, rows), matrix_use(trace, batches)
    facts = {
        name: getattr(found, name)
        for name in ("waves", "resident", "issuing", "no_issue", "matrix", "bubble", "busy_share")
    }
    facts |= {"matrix_busy": use.busy, "matrix_share": use.share, "assumption": use.assumption}
    return Answer.of(bubble_table(trace, found), found, facts)


def hidden_latency(trace: Trace, code: CodeTable, found: HiddenLatency) -> Answer[HiddenLatency]:
    """Return one row a line; `code` has the costs of the chosen waves."""
    table = hidden_rows(trace, hidden_table(code, found))
    facts: dict[str, Any] = {"assumption": found.assumption, "reason": why_not_hidden(trace)}
    facts |= {name: sum(table.plain(name)) for name in ("total", "not_hidden", "hidden")}
    return Answer.of(table, found, facts)


def memory_latency(trace: Trace, batches: Sequence[WaveBatch], rule: ReferenceRule) -> Answer[MemoryLatency]:
    """Return one row a line whose answers were counted."""
    found = counted_latency(trace, batches, rule)
    facts = {"assumption": found.assumption, "reason": found.reason}
    return Answer.of(memory_rows(trace, found), found, facts)
