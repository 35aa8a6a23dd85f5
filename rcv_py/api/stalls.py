"""Tables of why waves did not go on: causes, waits, loops, bubbles, and latency that others hide."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.analysis.latency.bubbles import bubbles as simd_bubbles
from rcv_py.analysis.latency.hidden_latency import HiddenLatency, why_not_hidden
from rcv_py.analysis.latency.latency_tables import hidden_table
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.latency.memory_latency import memory_latency as counted_latency
from rcv_py.analysis.program.matrix_passes import matrix_use
from rcv_py.analysis.waits.wait_summary import WaitSummary
from rcv_py.api.answer import Answer
from rcv_py.api.tables import CodeTexts
from rcv_py.export.tables import Column
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.bubbles import bubble_table
from rcv_py.results.table import Words

RULES = tuple(rule.value for rule in ReferenceRule)
CAUSES_BY = ("cause", "line", "producer", "each")
_SUMS = ("stall", "idle", "count", "guessed")


def causes(found: Attribution, by: str, texts: CodeTexts) -> Answer[Attribution]:
    """Return cycles by cause, late line, producer, or each of all these."""
    table = found if by == "each" else getattr(found, f"by_{by}")()
    facts = {
        "waves": found.waves,
        "stall": found.total_stall,
        "idle": found.total_idle,
        "explained": found.explained,
        "explained_idle": found.explained_idle,
        "assumption": found.assumption,
    }
    numbers = {name: getattr(table, name) for name in _SUMS}
    numbers["share"] = table.stall / (found.total_stall or np.nan)
    return Answer(f"causes by {by}", _cause_names(table, by, texts) | numbers, found, facts)


def _cause_names(table: Attribution, by: str, code: CodeTexts) -> dict[str, Column]:
    texts = [CAUSE_TEXT[cause] for cause in Cause]
    number = table.cause.astype(np.int64)
    cause: dict[str, Column] = {"cause": Words([one.name.lower() for one in Cause], number)}
    if by == "cause":
        return cause | {
            "name": Words([text.name for text in texts], number),
            "because": Words([text.sentence for text in texts], number),
            "evidence": Words([text.evidence for text in texts], number),
            "is_certain": np.array([text.is_certain for text in texts], dtype=bool)[number],
        }
    lines = {"line": table.line, **code.columns(table.line)}
    blamed = {"producer_line": table.producer, **code.columns(table.producer, "producer_")}
    if by == "each":
        return lines | cause | blamed
    return lines if by == "line" else blamed


def wait_costs(found: WaitSummary, texts: CodeTexts) -> Answer[WaitSummary]:
    """Return one row a wait instruction."""
    table = found.blocking
    columns = {
        "line": table.line,
        **texts.columns(table.line),
        "hits": table.hits,
        "stall": table.stall,
        "share": table.stall / max(1, int(table.stall.sum())),
        "exact": table.blocked,
    }
    return Answer("wait_costs", columns, found, _wait_facts(found))


def wait_producers(found: WaitSummary, texts: CodeTexts) -> Answer[WaitSummary]:
    """Return one row a wait and an instruction that it waited for."""
    table, latency = found.blocking, found.latency
    wait = np.repeat(np.arange(len(table)), np.diff(table.first))
    line = table.line[wait]
    order = np.argsort(latency.line)
    place = np.searchsorted(latency.line[order], table.producer)
    known = np.append(latency.line[order], -1)[place] == table.producer
    median = np.append(latency.median[order], np.nan)[place]
    columns = {
        "line": line,
        **texts.columns(line),
        "producer_line": table.producer,
        **texts.columns(table.producer, "producer_"),
        "n": table.n,
        "stall": table.charged,
        "share": table.charged / np.maximum(1, table.stall[wait]),
        "median_latency": np.where(known, median, np.nan),
    }
    return Answer("wait_producers", columns, found, _wait_facts(found))


def wait_latency(found: WaitSummary, texts: CodeTexts) -> Answer[WaitSummary]:
    """Return one row an instruction that was waited for."""
    table = found.latency
    numbers = {name: getattr(table, name) for name in ("p10", "median", "p90", "mean")}
    columns = {
        "line": table.line,
        **texts.columns(table.line),
        "exact": table.exact,
        "bounds": table.censored,
    }
    return Answer("wait_latency", columns | numbers, found, _wait_facts(found))


def _wait_facts(found: WaitSummary) -> dict[str, int]:
    table = found.blocking
    sums = {name: int(getattr(table, name).sum()) for name in ("hits", "stall", "charged")}
    return {"waves": found.waves, "waits": len(table), **sums}


def bubbles(trace: Trace, batches: Sequence[WaveBatch], rows: Collection[int] | None) -> Answer[Bubbles]:
    """Return one row an instruction that waves waited in while nothing happened on their SIMD."""
    found, use = simd_bubbles(trace, batches, rows), matrix_use(trace, batches)
    facts = {
        name: getattr(found, name)
        for name in ("waves", "resident", "issuing", "no_issue", "matrix", "bubble", "busy_share")
    }
    facts |= {"matrix_busy": use.busy, "matrix_share": use.share, "assumption": use.assumption}
    return Answer.of(bubble_table(trace, found), found, facts)


def hidden_latency(
    trace: Trace, code: CodeTable, found: HiddenLatency, texts: CodeTexts
) -> Answer[HiddenLatency]:
    """Return one row a line; `code` has the costs of the chosen waves."""
    table = hidden_table(code, found)
    columns: dict[str, Column] = {
        "line": table.line,
        **texts.columns(table.line),
        "total": table.total,
        "not_hidden": table.seen,
        "hidden": table.hidden,
        **{f"hidden_{name}": getattr(table, name) for name in ("idle", "stall", "issue")},
        "share": table.share,
    }
    sums = {"total": table.total, "not_hidden": table.seen, "hidden": table.hidden}
    facts: dict[str, Any] = {"assumption": found.assumption, "reason": why_not_hidden(trace)}
    facts |= {name: int(column.sum()) for name, column in sums.items()}
    return Answer("hidden_latency", columns, found, facts)


def memory_latency(
    trace: Trace, batches: Sequence[WaveBatch], rule: ReferenceRule, texts: CodeTexts
) -> Answer[MemoryLatency]:
    """Return one row a line whose answers were counted."""
    found = counted_latency(trace, batches, rule)
    columns: dict[str, Column] = {
        "line": found.line,
        **texts.columns(found.line),
        "counter": list(found.unit),
        **{name: getattr(found, name) for name in ("mean", "error", "std", "samples")},
        "in_flight": found.censored,
        "issue": found.issue,
        "stall": found.stall,
    }
    facts = {"assumption": found.assumption, "reason": found.reason}
    return Answer("memory_latency", columns, found, facts)
