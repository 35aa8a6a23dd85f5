"""Analyses of why waves did not go on: waits, causes, loops, bubbles, and latency that others hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.iterations.loop_summary import LoopSummary, loop_summary
from rcv_py.analysis.latency.bubbles import WAYS, Bubbles, bubbles
from rcv_py.analysis.latency.hidden_latency import HiddenLatency, hidden_latency, why_not_hidden
from rcv_py.analysis.latency.latency_tables import hidden_table
from rcv_py.analysis.latency.memory_latency import MemoryLatency, memory_latency
from rcv_py.analysis.program.matrix_passes import matrix_use
from rcv_py.analysis.waits.wait_summary import WaitSummary, wait_summary
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.api.answer import Answer
from rcv_py.api.choice import one_of
from rcv_py.api.costs import Costs
from rcv_py.api.reading import Waves
from rcv_py.export.tables import Column
from rcv_py.model.modes import ReferenceRule
from rcv_py.results import loops as loop_results
from rcv_py.results.table import Words

_BY = ("cause", "line", "producer", "each")
_RULES = tuple(rule.value for rule in ReferenceRule)
_SUMS = ("stall", "idle", "count", "guessed")


class Stalls(Costs):
    """Why waves stalled and idled."""

    def causes(self, by: str = "cause", waves: Waves = WORKING) -> Answer[Attribution]:
        """Return why waves stalled and idled, `by` cause, late line, producer to blame, or `each` of all.

        Cycles are attribution, summed over waves; several waves stall at once.  `share` is of all stall,
        `guessed` counts cycles of which the producer is one of several that fit.
        Waves that are not chosen are read too, and count as competitors.
        """
        one_of("by", by, _BY)
        rows = self._rows(waves)
        found = self._once(
            "causes",
            waves,
            lambda: attribution(self.trace, self._all(), rows),
        )
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
        return Answer(f"causes by {by}", self._cause_names(table, by) | numbers, found, facts)

    def _cause_names(self, table: Attribution, by: str) -> dict[str, Column]:
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
        lines = {"line": table.line, **self._line(table.line)}
        blamed = {"producer_line": table.producer, **self._line(table.producer, "producer_")}
        if by == "each":
            return lines | cause | blamed
        return lines if by == "line" else blamed

    def wait_costs(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row a wait instruction that ran, most stall first: `rcv waits`."""
        found = self._waits(waves)
        table = found.blocking
        columns = {
            "line": table.line,
            **self._line(table.line),
            "hits": table.hits,
            "stall": table.stall,
            "share": table.stall / max(1, int(table.stall.sum())),
            "exact": table.blocked,
        }
        return Answer("wait_costs", columns, found, self._wait_facts(found))

    def wait_producers(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row a wait and an instruction it waited for; a wait's stall is charged to the newest."""
        found = self._waits(waves)
        table = found.blocking
        wait = np.repeat(np.arange(len(table)), np.diff(table.first))
        line, latency = table.line[wait], found.latency
        order = np.argsort(latency.line)
        place = np.searchsorted(latency.line[order], table.producer)
        known = np.append(latency.line[order], -1)[place] == table.producer
        median = np.append(latency.median[order], np.nan)[place]
        columns = {
            "line": line,
            **self._line(line),
            "producer_line": table.producer,
            **self._line(table.producer, "producer_"),
            "n": table.n,
            "stall": table.charged,
            "share": table.charged / np.maximum(1, table.stall[wait]),
            "median_latency": np.where(known, median, np.nan),
        }
        return Answer("wait_producers", columns, found, self._wait_facts(found))

    def wait_latency(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return how long instructions took to answer, told by the waits for them: `rcv waits --latency`."""
        found = self._waits(waves)
        table = found.latency
        numbers = {name: getattr(table, name) for name in ("p10", "median", "p90", "mean")}
        columns = {
            "line": table.line,
            **self._line(table.line),
            "exact": table.exact,
            "bounds": table.censored,
        }
        return Answer("wait_latency", columns | numbers, found, self._wait_facts(found))

    def _waits(self, waves: Waves) -> WaitSummary:
        return self._once("wait summary", waves, lambda: wait_summary(self.trace, self.batches(waves)))

    def _wait_facts(self, found: WaitSummary) -> dict[str, int]:
        table = found.blocking
        sums = {name: int(getattr(table, name).sum()) for name in ("hits", "stall", "charged")}
        return {"waves": found.waves, "waits": len(table), **sums}

    def loops(self, show: str = "loops", waves: Waves = WORKING) -> Answer[LoopSummary]:
        """Return a table about loops; columns such as `kinds_VALU` are cycles by kind of instruction.

        `show` is `loops`, their `iterations`, `phases` of waves, costs of `first` executions, `distance` from
        loads to their waits, `chains` of cross-lane operations, or skew of `barriers`.
        """
        one_of("show", show, tuple(loop_results.TABLES))
        read, rows = list(self._all()), self._rows(waves)
        summary = self._once("loops", waves, lambda: loop_summary(self.trace, read, rows))
        inputs = loop_results.Inputs(self.trace, read, rows, summary)
        table = loop_results.TABLES[show][1](inputs)
        return Answer.of(table, summary, loop_results.facts(inputs))

    def bubbles(self, waves: Waves = WORKING) -> Answer[Bubbles]:
        """Return the instructions that waves waited in while nothing happened on their SIMD, worst first."""
        return self._once("bubbles", waves, lambda: self._bubbles(waves))

    def _bubbles(self, waves: Waves) -> Answer[Bubbles]:
        read = self._all()
        found, use = bubbles(self.trace, read, self._rows(waves)), matrix_use(self.trace, read)
        columns: dict[str, Column] = {
            "line": found.line,
            **self._line(found.line),
            "cycles": found.total,
            "share": found.total / max(1, found.bubble),
            **{way: getattr(found, way) for way in WAYS},
        }
        facts = {
            name: getattr(found, name)
            for name in ("waves", "resident", "issuing", "no_issue", "matrix", "bubble", "busy_share")
        }
        facts |= {"matrix_busy": use.busy, "matrix_share": use.share, "assumption": use.assumption}
        return Answer("bubbles", columns, found, facts)

    def hidden_latency(self, rule: str = "ours", waves: Waves = WORKING) -> Answer[HiddenLatency]:
        """Return what of each line's latency other waves hide, an estimate; what nothing hides first."""
        one_of("rule", rule, _RULES)
        found = self._once(
            ("hidden", rule),
            waves,
            lambda: hidden_latency(self.trace, self._all(), ReferenceRule(rule), self._rows(waves)),
        )
        table = hidden_table(self._counted(waves).code, found)
        columns: dict[str, Column] = {
            "line": table.line,
            **self._line(table.line),
            "total": table.total,
            "not_hidden": table.seen,
            "hidden": table.hidden,
            **{f"hidden_{name}": getattr(table, name) for name in ("idle", "stall", "issue")},
            "share": table.share,
        }
        sums = {"total": table.total, "not_hidden": table.seen, "hidden": table.hidden}
        facts: dict[str, Any] = {"assumption": found.assumption, "reason": why_not_hidden(self.trace)}
        facts |= {name: int(column.sum()) for name, column in sums.items()}
        return Answer("hidden_latency", columns, found, facts)

    def memory_latency(self, rule: str = "ours") -> Answer[MemoryLatency]:
        """Return how long memory took to answer, told by counters; `facts["reason"]` says why not."""
        one_of("rule", rule, _RULES)
        found = memory_latency(self.trace, self._all(), ReferenceRule(rule))
        numbers: Sequence[str] = ("mean", "error", "std", "samples")
        columns: dict[str, Column] = {
            "line": found.line,
            **self._line(found.line),
            "counter": list(found.unit),
        }
        columns |= {name: getattr(found, name) for name in numbers}
        columns |= {"in_flight": found.censored, "issue": found.issue, "stall": found.stall}
        return Answer(
            "memory_latency", columns, found, {"assumption": found.assumption, "reason": found.reason}
        )
