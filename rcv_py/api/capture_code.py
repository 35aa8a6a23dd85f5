"""An open capture: which code costs how much, and why waves stalled and idled."""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import Callable
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution
from rcv_py.analysis.attribution.wait_costs import WAITS, WaitSummary
from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.core.occupancy import waves_of_unit
from rcv_py.analysis.cost.distribution import LineHits, hits_of
from rcv_py.analysis.cost.pc_samples import SampledShares, StallReasons, stall_reasons
from rcv_py.analysis.cost.ranking import BY, Ranked
from rcv_py.analysis.flame.flame import FlameTree
from rcv_py.analysis.flame.flame_frames import CONTENTS, METRICS, flame_tree
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.analysis.iterations.loop_summary import LOOP_TOTALS, LoopSummary
from rcv_py.analysis.iterations.segments import between_of
from rcv_py.analysis.latency.access_holds import HOLDS, AccessHolds
from rcv_py.analysis.latency.address_access import ADDRESSES, AddressAccesses, has_addresses
from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.analysis.latency.code_fetches import FETCHES, CodeFetches
from rcv_py.analysis.latency.hidden_latency import HIDDEN, HiddenLatency, hidden_table, why_not_hidden
from rcv_py.analysis.latency.memory_latency import MEMORY, MemoryLatency
from rcv_py.analysis.overview.device_summary import DeviceSummary, summary_by
from rcv_py.analysis.overview.range_costs import RangeCosts, range_costs_of
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.analysis.waits.load_order import LOAD_ORDER, LoadOrder
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.analysis.whatif.experiments import EVERYTHING, sample
from rcv_py.analysis.whatif.hoist import predicted_moves
from rcv_py.analysis.whatif.predict import Player
from rcv_py.api.capture_tables import CaptureTables, LoopTable, Rule, Waves, checked_word
from rcv_py.api.table import Answer
from rcv_py.api.waves import THEMES, Timeline, timeline
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.features.flame.result import frames
from rcv_py.features.hotspot.result import ranking_table, totals
from rcv_py.features.isa.help_result import asked, help_table
from rcv_py.features.isa.result import LISTED, IsaListing, listing
from rcv_py.features.isa.static_result import program_table
from rcv_py.features.latency import result as latency
from rcv_py.features.latency.address_result import address_rows, address_totals
from rcv_py.features.line.result import hit_table, sample_table, spread_facts, spreads
from rcv_py.features.loops import result as loops
from rcv_py.features.loops.static_result import loop_table as static_loop_table
from rcv_py.features.range.result import between_facts, range_facts, range_table
from rcv_py.features.samples.result import ROWS, facts, samples_table
from rcv_py.features.summary.result import summary_table
from rcv_py.features.why import waits_result as waits
from rcv_py.features.why.bubbles_result import bubble_table, sums
from rcv_py.features.why.result import BY as CAUSES
from rcv_py.features.why.result import blamed_table, cause_table, each_table, totals_of
from rcv_py.formats.isa.described import descriptions
from rcv_py.model.modes import SUMS, LatencyMode, ReferenceRule, Sum
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.model.window import TimeWindow
from rcv_py.results import table as results
from rcv_py.work.beside import samples_of_run
from rcv_py.work.whatif import player_of

CAUSES_BY = (*CAUSES, "each")
RULES = get_args(Rule)


class CaptureCode(CaptureTables):
    """The analyses of a capture that are about its code and its waits."""

    def summary(self, waves: Waves = WORKING) -> Answer[DeviceSummary]:
        """Return the page of `rcv summary` as one long table; `result` has its parts.

        Lifetimes, states and cycles are of `waves`; SIMDs are busy with all waves.
        """
        found = self._once("summary", waves, lambda: self._of(summary_by(self._rows(waves)), waves))
        table = summary_table(found)
        texts = {name: [*map(str, table.plain(name))] for name in ("value", "unit")}
        table = results.ResultTable(table.spec, {**table.columns, **texts})
        return Answer.of(table, found, {fact.id: fact.value for fact in found.facts})

    def hotspot(
        self,
        by: Literal["instruction", "source", "kind", "class"] = "instruction",
        sort: Sum = "latency",
        waves: Waves = None,
    ) -> Answer[tuple[Ranked, ...]]:
        """Return the most expensive code, the costliest first, by `instruction`, `source`, `kind` or `class`.

        `sort` is `latency`, `stall`, `idle` or `hits`; `share_of_total` is the part of its total.  Sums over
        all traced waves unless `waves` names some, not elapsed time; `facts["measure"]` says whether they are
        cycles or PC samples.
        """
        checked_word("by", by, BY)
        checked_word("sort", sort, SUMS)
        costs = cost_columns(self._counted(waves).code, LatencyMode.SUM_ALL, None, None)
        table, rows = ranking_table(self.trace, costs, by, sort)
        return Answer.of(table, rows, {"measure": costs.label, "totals": totals(costs)})

    def isa(
        self, kind: Literal["instructions", "blocks", "branches"] = "instructions", waves: Waves = None
    ) -> Answer[IsaListing]:
        """Return the `lines` of the listing with their blocks, its basic `blocks`, or its `branches`.

        Numbers cover all waves unless `waves` names some.  A program that has not run has modelled cycles of
        blocks, and instructions with what they wait for.
        """
        checked_word("kind", kind, LISTED)
        if self.trace.is_static and kind != "branches":
            table = program_table(self.trace, kind.removesuffix("s"))
            return Answer.of(table, IsaListing(table, np.zeros(len(table), dtype=np.int64), NOT_RUN), {})
        found = listing(self._counted(waves), kind, lambda: self._explained(BRANCHES, waves))
        return Answer.of(found.table, found, {"measure": found.measure})

    def instruction_help(
        self, of: int | str, isa_xml: str | PathLike[str] | None = None
    ) -> Answer[tuple[str, ...]]:
        """Return what instructions do, by index or prefix of their mnemonic: unit, passes, distances.

        `isa_xml` is a machine-readable ISA file from AMD, for its descriptions; None: the file that
        `rcv isa-docs add` stored for the GPU's family.  `result` has the instructions.  Raises UsageError for
        an unknown index, and for any other file.
        """
        if isinstance(of, int):
            self.trace.check_line(of)
        texts = asked(self.trace, str(of))
        file = None if isa_xml is None else Path(isa_xml)
        table = help_table(self.trace, texts, descriptions(self.trace.target, texts, file))
        return Answer.of(table, tuple(texts), {"target": self.trace.target})

    def line(self, line: int, waves: Waves = WORKING) -> Answer[LineHits]:
        """Return every execution of a code line; `facts` has spreads of latency, stall, idle and distance.

        By default executions of the working waves.  Raises UsageError if there is no such line.  PC samples
        have no executions: see `samples`.
        """
        self.trace.check_line(line)
        hits = self._of(hits_of(line), waves)
        return Answer.of(hit_table(self.trace, hits), hits, spread_facts(spreads(hits)))

    def samples(self, line: int | None = None) -> Answer[StallReasons]:
        """Return how many PC samples of a code line (None: of all) issued, and why the others did not."""
        if line is not None:
            self.trace.check_line(line)
        found = stall_reasons(self.trace.code, slice(None) if line is None else slice(line, line + 1))
        return Answer.of(sample_table(found), found, {"stalled": found.stalled})

    def sampled(
        self, file: str | PathLike[str] | None = None, by: Literal["instruction", "source"] = "instruction"
    ) -> Answer[SampledShares | None]:
        """Return PC samples by instruction or source line, beside the cycles of the traced waves.

        `file` holds the samples, by default the capture, else a file beside it.  `facts` has the agreement of
        both, the rows that differ beyond chance, and why nothing is known.  Raises a TraceError for a file
        that cannot be read.
        """
        checked_word("by", by, ("instruction", "source"))
        found = samples_of_run(self.trace, None if file is None else Path(file))
        if found.rows is None or found.why:
            return Answer.of(results.ResultTable.of_rows(ROWS, []), None, facts(found, None))
        table, shares = samples_table(self.trace, found.rows, by)
        return Answer.of(table, shares, facts(found, shares))

    def range(
        self,
        begin: int | None = None,
        end: int | None = None,
        between: tuple[int, int] | None = None,
        *,
        top: int | None = None,
        waves: Waves = WORKING,
    ) -> Answer[RangeCosts]:
        """Return what waves did from one cycle to another, by default in the whole capture.

        Rows are causes, instructions, source lines and units, at most `top` of each (None: all).  `facts` has
        the sums, with FLOP of matrix and vector instructions; `facts["between"]` is the time from one
        instruction to the next execution of another (indices), if `between` names two.  Raises UsageError for
        a range that ends before it begins, and for unknown instructions.
        """
        span = self.trace.span
        first, last = span.begin if begin is None else begin, span.end if end is None else end
        if last <= first:
            raise UsageError(Message("The range ends at {0}, not after its begin, {1}.", last, first))
        self.trace.check_line(*between or ())
        found = self._explained(range_costs_of(TimeWindow(first, last)), waves)
        steps = None if between is None else self._explained(between_of(*between), waves)
        facts = range_facts(self.trace, found, is_read=len(self.trace.waves) > 0)
        facts["between"] = None if between is None or steps is None else between_facts(between, steps)
        return Answer.of(range_table(self.trace, found, top), found, facts)

    def flame(
        self,
        content: Literal["source", "kernel", "markers", "both"] = "source",
        metric: Literal["total", "nonhidden", "stall", "hits"] = "total",
        order: Literal["heavy", "execution", "name"] = "heavy",
    ) -> Answer[FlameTree]:
        """Return the flamegraph: one row per frame, `parent` is the row of the enclosing frame, -1 for none.

        `content` is `source`, `kernel`, `markers` or `both`; `metric` is `total`, `nonhidden`, `stall` or
        `hits`; `order` is `heavy`, `execution` or `name`.  Raises UsageError if the capture lacks the data.
        """
        checked_word("content", content, CONTENTS)
        checked_word("metric", metric, tuple(METRICS))
        checked_word("order", order, tuple(known.value for known in SiblingOrder))
        measure = METRICS[metric]
        tree, note = flame_tree(self.trace, content, measure, self._looking)
        facts = {"total": tree.whole(measure), "unit": tree.unit, "note": note}
        return Answer.of(frames(self.trace, tree, measure, SiblingOrder(order)), tree, facts)

    def timeline(
        self,
        begin: int | None = None,
        end: int | None = None,
        waves: Waves = None,
        *,
        width: int = 1000,
        row_height: int = 14,
        theme: Literal["light", "dark"] = "light",
    ) -> Timeline:
        """Return a picture of what waves did from one cycle to another, which notebooks show.

        A row is a slot of a SIMD, at most 64 of them.  Without `waves` it shows the compute unit of the first
        wave; without cycles, the whole lifetimes.  Raises UsageError for a range that ends before it begins,
        and for a picture that is not 16 to 8,000 pixels wide, with rows of 3 to 200.
        """
        checked_word("theme", theme, THEMES)
        if not (16 <= width <= 8_000 and 3 <= row_height <= 200):
            text = Message("A picture {0} pixels wide with rows of {1} cannot be drawn.", width, row_height)
            raise UsageError(text)
        rows = self.chosen(waves)
        if waves is None and len(self.trace.waves):
            rows = waves_of_unit(self.trace, 0).tolist()
        found = tuple(self._cache.batches(rows))
        lives = [wave for batch in found for wave in batch.waves]
        first = min((wave.begin for wave in lives), default=0) if begin is None else begin
        last = max((wave.end for wave in lives), default=first + 1) if end is None else end
        if last <= first:
            raise UsageError(Message("The range ends at {0}, not after its begin, {1}.", last, first))
        span = TimeWindow(first, last)
        return timeline(self.trace, found, span, width=width, row_height=row_height, theme=theme)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.waves._repr_html_()}"

    def causes(
        self, by: Literal["cause", "instruction", "producer", "each"] = "cause", waves: Waves = WORKING
    ) -> Answer[Attribution]:
        """Return why waves stalled and idled, `by` cause, late instruction, producer, or `each` combination.

        Cycles are attribution, summed over waves; several waves stall at the same time.  `share_of_stall` is
        of all stall, `guessed` counts cycles whose producer is a guess among several that fit.  Waves
        that are not chosen are read too, and count as competitors.
        """
        checked_word("by", by, CAUSES_BY)
        found = self._explained(ATTRIBUTION, waves)
        total = found.total_stall
        facts = {"waves": found.waves, **totals_of(found), "assumption": found.assumption}
        if by == "each":
            return Answer.of(each_table(self.trace, found, total), found, facts)
        if by == "producer":
            return Answer.of(blamed_table(self.trace, found.by_producer(), total), found, facts)
        groups = found.by_cause() if by == "cause" else found.by_line()
        return Answer.of(cause_table(self.trace, groups, by, total), found, facts)

    def wait_costs(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row per wait instruction that ran, most stall first: `rcv waits`."""
        return self._waits(waits.wait_table, waves)

    def wait_producers(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row per wait and instruction it waited for; its stall is charged to what ended it."""
        return self._waits(waits.producer_table, waves)

    def wait_latency(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return how long instructions took to answer, by the waits for them: `rcv waits --latency`."""
        return self._waits(waits.latency_table, waves)

    def load_order(self, waves: Waves = WORKING, *, predict: bool = True) -> Answer[LoadOrder]:
        """Return waits for loads issued after loads that are needed later: `rcv waits --inverted`.

        One row per wait and load to move; with `predict`, `predicted` is what the moves would change, by
        replaying the recording.
        """
        found = self._explained(LOAD_ORDER, waves)
        attempt = predicted_moves(self._player(), found) if predict and len(found) else None
        table = waits.load_table(self.trace, found, attempt)
        return Answer.of(table, found, waits.load_facts(found, attempt))

    def _waits(
        self, make: Callable[[Trace, WaitSummary], results.ResultTable], waves: Waves
    ) -> Answer[WaitSummary]:
        found = self._explained(WAITS, waves)
        return Answer.of(make(self.trace, found), found, {"waves": found.waves, **waits.totals(found)})

    def loops(self, show: LoopTable = "loops", waves: Waves = WORKING) -> Answer[LoopSummary]:
        """Return a table about loops; columns such as `kinds_VALU` are cycles by kind of instruction.

        `show` is `loops`, their `iterations`, `phases` of waves, costs of `first` executions, `distance` from
        loads to their waits, `chains` of cross-lane operations, skew of `barriers`, or `segments` between
        barriers.
        """
        checked_word("show", show, tuple(loops.TABLES))
        inputs = self._once("loops", waves, lambda: loops.Inputs(self._looking(), self._rows(waves)))
        is_program = self.trace.is_static and show == "loops"
        table = static_loop_table(self.trace) if is_program else loops.TABLES[show][1](inputs)
        return Answer.of(table, inputs.loops, loops.facts(inputs))

    def bubbles(self, waves: Waves = WORKING) -> Answer[Bubbles]:
        """Return the instructions that waves waited in while nothing happened on their SIMD, worst first."""
        found, use = self._explained(BUBBLES[ReferenceRule.OURS], waves), self._explained(MATRIX)
        facts = {"waves": found.waves, **sums(found)}
        facts |= {"mfma_busy": use.busy, "mfma_share_of_simd_cycles": use.share, "assumption": use.assumption}
        return Answer.of(bubble_table(self.trace, found), found, facts)

    def hidden_latency(self, rule: Rule = "ours", waves: Waves = WORKING) -> Answer[HiddenLatency]:
        """Return how much of each instruction's latency other waves hide (estimate); most unhidden first."""
        checked_word("rule", rule, RULES)
        found = self._explained(HIDDEN[ReferenceRule(rule)], waves)
        table = latency.hidden_rows(self.trace, hidden_table(self._counted(waves).code, found))
        facts: dict[str, Any] = {"assumption": found.assumption, "reason": why_not_hidden(self.trace)}
        facts |= {name: sum(table.plain(name)) for name in ("total", "not_hidden", "hidden")}
        return Answer.of(table, found, facts)

    def memory_latency(self, rule: Rule = "ours") -> Answer[MemoryLatency]:
        """Return how long memory took to answer, by counters; `facts["reason"]` says why not."""
        checked_word("rule", rule, RULES)
        found = self._explained(MEMORY[ReferenceRule(rule)])
        facts = {"assumption": found.assumption, "reason": found.reason}
        return Answer.of(latency.memory_rows(self.trace, found), found, facts)

    def memory_accesses(self, waves: Waves = WORKING) -> Answer[AccessHolds]:
        """Return how long LDS and vector memory instructions held their unit: `rcv latency --by access`.

        Much longer than their width needs points to bank conflicts, or to lanes that lie apart: inferred,
        unless the kernel wrote the addresses of its lanes.
        """
        found = self._explained(HOLDS, waves)
        known = self._explained(ADDRESSES) if has_addresses(self.trace) else None
        table = latency.access_rows(self.trace, found, known)
        return Answer.of(table, found, latency.access_totals(self.trace, found))

    def lane_addresses(self) -> Answer[AddressAccesses]:
        """Return what recorded addresses of lanes touch: `rcv latency --by address`."""
        found = self._explained(ADDRESSES)
        return Answer.of(address_rows(self.trace, found), found, address_totals(found))

    def code_fetches(self, waves: Waves = WORKING) -> Answer[CodeFetches]:
        """Return code lines that were not in the instruction cache: `rcv latency --by fetch`."""
        found, loops = self._explained(FETCHES, waves), self._explained(LOOP_TOTALS, waves)
        facts = latency.fetch_totals(self.trace, found, loops.loops.table)
        return Answer.of(latency.fetch_rows(self.trace, found), found, facts)

    def _player(self, *, every: bool = False) -> Player:
        """Return the recordings that experiments replay, made once."""
        played = sample(self.trace, EVERYTHING) if every else sample(self.trace)
        return self._once(("player", every), None, lambda: player_of(self.trace, played))
