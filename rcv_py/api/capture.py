"""An open capture: every analysis of it, and the files that can be written from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution
from rcv_py.analysis.compare.changes import BY as CHANGED_BY
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.compare import compare as compare_costs
from rcv_py.analysis.compare.costs import MEASURES, CaptureCosts, costs_from, explained_costs_from
from rcv_py.analysis.compare.work import work_costs
from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.cost.distribution import LineHits, hits_of
from rcv_py.analysis.cost.ranking import BY, Ranked
from rcv_py.analysis.cost.stall_reasons import StallReasons, stall_reasons
from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.counters.derived_counters import CounterRow, derived_counters, derived_rows, raw_rows
from rcv_py.analysis.counters.formula.evaluate import read_definitions
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.analysis.events.marker_spans import MarkerSpans, has_values
from rcv_py.analysis.findings.detect import findings_from
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.flame.flame import FlameTree
from rcv_py.analysis.flame.flame_frames import CONTENTS, METRICS, flame_tree
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.analysis.health.capture_health import OF_WAVES, health_notes
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.health.replicates import fingerprint
from rcv_py.analysis.iterations.between import between_of
from rcv_py.analysis.iterations.loop_summary import LOOP_TOTALS, LOOPS, LoopSummary
from rcv_py.analysis.latency.access_holds import HOLDS, AccessHolds
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.analysis.latency.code_fetches import FETCHES, CodeFetches
from rcv_py.analysis.latency.hidden_latency import HIDDEN, HiddenLatency, hidden_table, why_not_hidden
from rcv_py.analysis.latency.memory_latency import MEMORY, MemoryLatency
from rcv_py.analysis.overview.device_summary import DeviceSummary, summary_by
from rcv_py.analysis.overview.range_costs import RangeCosts, range_costs_of
from rcv_py.analysis.overview.roofline import Roofline, roofline
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.live_registers import LiveRegisters, live_registers
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.analysis.timeline.wave_places import waves_of_unit
from rcv_py.analysis.waits.load_order import LOAD_ORDER, LoadOrder
from rcv_py.analysis.waits.wait_latency import WAITS, WaitSummary
from rcv_py.analysis.waves.populations import WORKING, chosen_rows
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.block_schedule import BlockSchedule, block_schedules
from rcv_py.analysis.whatif.critical_path import PathTable
from rcv_py.analysis.whatif.experiments import EVERYTHING, Experiment, ranked, sample, usual_experiments
from rcv_py.analysis.whatif.hoist import predicted_moves
from rcv_py.analysis.whatif.predict import Player, Prediction
from rcv_py.api.capture_tables import (
    CaptureTables,
    LoopTable,
    OccupancyBy,
    Rule,
    TableName,
    Waves,
    check_line,
    is_population,
    one_of,
)
from rcv_py.api.table import Answer, Table
from rcv_py.api.timeline import THEMES, Timeline, timeline
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.base.whole_files import whole_file
from rcv_py.export.interactive.page import interactive_page
from rcv_py.export.report.files import PAGES, check_form, write_page, write_report
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.table_files import FORMATS, write_tables
from rcv_py.export.tables import TABLES
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.features.compare.result import change_table, work_table
from rcv_py.features.counters.result import counter_table
from rcv_py.features.findings.result import finding_table
from rcv_py.features.flame.result import frames
from rcv_py.features.health.result import NOTE_ROWS, note_table
from rcv_py.features.health.result import facts as health_facts
from rcv_py.features.hotspot.result import ranking_table, totals
from rcv_py.features.isa.help_result import asked, help_table
from rcv_py.features.isa.result import LISTED, IsaListing, listing
from rcv_py.features.latency import result as latency
from rcv_py.features.line.result import hit_table, sample_table, spread_facts, spreads
from rcv_py.features.loops import result as loops
from rcv_py.features.occupancy.result import curve_table, limit_document, limit_table, step_table
from rcv_py.features.range.result import between_facts, range_facts, range_table
from rcv_py.features.registers.result import (
    file_table,
    instruction_table,
    main_use,
    place_table,
    register_facts,
)
from rcv_py.features.roofline.result import roofline_facts, roofline_table
from rcv_py.features.summary.result import summary_table
from rcv_py.features.whatif.result import facts as whatif_facts
from rcv_py.features.whatif.result import path_facts, path_rows, prediction_table
from rcv_py.features.whatif.schedule_result import SCHEDULES, schedule_table
from rcv_py.features.why import waits_result as waits
from rcv_py.features.why.bubbles_result import bubble_table
from rcv_py.features.why.result import BY as CAUSES
from rcv_py.features.why.result import blamed_table, cause_table, each_table
from rcv_py.formats.isa.kept_docs import descriptions
from rcv_py.formats.notes.store import NotePlaces
from rcv_py.model.modes import SUMS, LatencyMode, ReferenceRule, Sum
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.results import table as results
from rcv_py.results.tables import CURVE
from rcv_py.work import packing
from rcv_py.work.builds import launch_ns
from rcv_py.work.occupancy import OccupancyRow, limits_of, occupancy_rows
from rcv_py.work.whatif import player_of, quick_player, with_predictions

COMPARED = (*CHANGED_BY, "work")
CAUSES_BY = (*CAUSES, "each")
OCCUPANCY_BY = get_args(OccupancyBy)
RULES = get_args(Rule)
_TO = ("perfetto", "speedscope", *FORMATS)


class Capture(CaptureTables):
    """One capture.  Tables are read-only; waves are read when they are first needed.

    `trace` is the loader's object, for data without a table.
    """

    # -- which code costs how much -------------------------------------------------------------------------

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
        one_of("by", by, BY)
        one_of("sort", sort, SUMS)
        costs = cost_columns(self._counted(waves).code, LatencyMode.SUM_ALL, None, None)
        table, rows = ranking_table(self.trace, costs, by, sort)
        return Answer.of(table, rows, {"measure": costs.label, "totals": totals(costs)})

    def isa(
        self, kind: Literal["instructions", "blocks", "branches"] = "instructions", waves: Waves = None
    ) -> Answer[IsaListing]:
        """Return the `lines` of the listing with their blocks, its basic `blocks`, or its `branches`.

        Numbers cover all waves unless `waves` names some.
        """
        one_of("kind", kind, LISTED)
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
            check_line(self.trace, of)
        texts = asked(self.trace, str(of))
        file = None if isa_xml is None else Path(isa_xml)
        table = help_table(self.trace, texts, descriptions(self.trace.target, texts, file))
        return Answer.of(table, tuple(texts), {"target": self.trace.target})

    def line(self, line: int, waves: Waves = WORKING) -> Answer[LineHits]:
        """Return every execution of a code line; `facts` has spreads of latency, stall, idle and distance.

        By default executions of the working waves.  Raises UsageError if there is no such line.  PC samples
        have no executions: see `samples`.
        """
        check_line(self.trace, line)
        hits = self._of(hits_of(line), waves)
        return Answer.of(hit_table(self.trace, hits), hits, spread_facts(spreads(hits)))

    def samples(self, line: int | None = None) -> Answer[StallReasons]:
        """Return how many PC samples of a code line (None: of all) issued, and why the others did not."""
        if line is not None:
            check_line(self.trace, line)
        found = stall_reasons(self.trace.code, slice(None) if line is None else slice(line, line + 1))
        return Answer.of(sample_table(found), found, {"stalled": found.stalled})

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
            raise UsageError(f"The range ends at {last}, not after its begin, {first}.")
        if between is not None and not all(0 <= row < len(self.trace.code) for row in between):
            raise UsageError(
                f"The program has {plural(len(self.trace.code), 'instruction')}, counted from 0.",
                hint="`isa` lists them.",
            )
        found = self._explained(range_costs_of(TimeWindow(first, last)), waves)
        steps = None if between is None else self._explained(between_of(*between), waves)
        facts = range_facts(self.trace, found)
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
        one_of("content", content, CONTENTS)
        one_of("metric", metric, tuple(METRICS))
        one_of("order", order, tuple(known.value for known in SiblingOrder))
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
        one_of("theme", theme, THEMES)
        if not (16 <= width <= 8_000 and 3 <= row_height <= 200):
            raise UsageError(f"A picture {width} pixels wide with rows of {row_height} cannot be drawn.")
        rows = self.chosen(waves)
        if waves is None and len(self.trace.waves):
            rows = waves_of_unit(self.trace, 0).tolist()
        found = tuple(self._cache.batches(rows))
        lives = [wave for batch in found for wave in batch.waves]
        first = min((wave.begin for wave in lives), default=0) if begin is None else begin
        last = max((wave.end for wave in lives), default=first + 1) if end is None else end
        if last <= first:
            raise UsageError(f"The range ends at {last}, not after its begin, {first}.")
        span = TimeWindow(first, last)
        return timeline(self.trace, found, span, width=width, row_height=row_height, theme=theme)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.waves._repr_html_()}"

    # -- why waves stalled and idled -----------------------------------------------------------------------

    def causes(
        self, by: Literal["cause", "instruction", "producer", "each"] = "cause", waves: Waves = WORKING
    ) -> Answer[Attribution]:
        """Return why waves stalled and idled, `by` cause, late instruction, producer, or `each` combination.

        Cycles are attribution, summed over waves; several waves stall at the same time.  `share_of_stall` is
        of all stall, `guessed` counts cycles whose producer is a guess among several that fit.  Waves
        that are not chosen are read too, and count as competitors.
        """
        one_of("by", by, CAUSES_BY)
        found = self._explained(ATTRIBUTION, waves)
        total = found.total_stall
        facts = {
            "waves": found.waves,
            "stall": total,
            "idle": found.total_idle,
            "explained_share_of_stall": found.explained,
            "explained_share_of_idle": found.explained_idle,
            "assumption": found.assumption,
        }
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
        """Return one row per wait and instruction it waited for; a wait's stall is charged to the newest."""
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
        return Answer.of(
            waits.load_table(self.trace, found, attempt), found, waits.load_facts(found, attempt)
        )

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
        one_of("show", show, tuple(loops.TABLES))
        rows = self.chosen(waves)
        inputs = self._once(
            "loops",
            waves,
            lambda: loops.Inputs(self._looking(), None if rows is None else frozenset(rows)),
        )
        return Answer.of(loops.TABLES[show][1](inputs), inputs.loops, loops.facts(inputs))

    def bubbles(self, waves: Waves = WORKING) -> Answer[Bubbles]:
        """Return the instructions that waves waited in while nothing happened on their SIMD, worst first."""
        found, use = self._explained(BUBBLES[ReferenceRule.OURS], waves), self._explained(MATRIX)
        facts = {
            "waves": found.waves,
            "simd_cycles": found.resident,
            "issuing": found.issuing,
            "no_issue": found.no_issue,
            "mfma": found.matrix,
            "bubbles": found.bubble,
            "issuing_share_of_simd_cycles": found.busy_share,
            "mfma_busy": use.busy,
            "mfma_share_of_simd_cycles": use.share,
            "assumption": use.assumption,
        }
        return Answer.of(bubble_table(self.trace, found), found, facts)

    def hidden_latency(self, rule: Rule = "ours", waves: Waves = WORKING) -> Answer[HiddenLatency]:
        """Return how much of each instruction's latency other waves hide (estimate); most unhidden first."""
        one_of("rule", rule, RULES)
        found = self._explained(HIDDEN[ReferenceRule(rule)], waves)
        table = latency.hidden_rows(self.trace, hidden_table(self._counted(waves).code, found))
        facts: dict[str, Any] = {"assumption": found.assumption, "reason": why_not_hidden(self.trace)}
        facts |= {name: sum(table.plain(name)) for name in ("total", "not_hidden", "hidden")}
        return Answer.of(table, found, facts)

    def memory_latency(self, rule: Rule = "ours") -> Answer[MemoryLatency]:
        """Return how long memory took to answer, by counters; `facts["reason"]` says why not."""
        one_of("rule", rule, RULES)
        found = self._explained(MEMORY[ReferenceRule(rule)])
        facts = {"assumption": found.assumption, "reason": found.reason}
        return Answer.of(latency.memory_rows(self.trace, found), found, facts)

    def memory_accesses(self, waves: Waves = WORKING) -> Answer[AccessHolds]:
        """Return how long LDS and vector memory instructions held their unit: `rcv latency --by access`.

        Much longer than their width needs points to bank conflicts, or to lanes that lie apart; inferred.
        """
        found = self._explained(HOLDS, waves)
        return Answer.of(
            latency.access_rows(self.trace, found), found, latency.access_totals(self.trace, found)
        )

    def code_fetches(self, waves: Waves = WORKING) -> Answer[CodeFetches]:
        """Return code lines that were not in the instruction cache: `rcv latency --by fetch`."""
        found, loops = self._explained(FETCHES, waves), self._explained(LOOP_TOTALS, waves)
        facts = latency.fetch_totals(self.trace, found, loops.found.table)
        return Answer.of(latency.fetch_rows(self.trace, found), found, facts)

    # -- what happened around the waves --------------------------------------------------------------------

    def occupancy_numbers(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return mean, peak, tail and ramp of resident waves: in total, then by `se`, `kernel` or `state`."""
        rows = self._occupancy(by)
        table = curve_table("name", [row.name for row in rows], [row.numbers for row in rows])
        return Answer.of(table, rows, {"ns_per_cycle": self.trace.clock.ns(1.0)})

    def occupancy_curves(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return how many waves were resident from each cycle on; the curve `all` is the total."""
        rows = self._occupancy(by)
        return Answer.of(step_table([row.name for row in rows], [row.steps for row in rows]), rows)

    def _occupancy(self, by: OccupancyBy) -> list[OccupancyRow]:
        one_of("by", by, OCCUPANCY_BY)
        return self._once(
            ("occupancy", by),
            None,
            lambda: occupancy_rows(self.trace, by, self._of),
        )

    def schedules(self, waves: Waves = WORKING) -> Answer[tuple[BlockSchedule, ...]]:
        """Return how long the costliest blocks take as ordered and in a better order: `rcv schedule`.

        `result` has the best order of each, and the loads that gain when each alone is moved up.
        """
        code = self._counted(waves).code
        known = self._explained(WAITS, waves).latency
        found = block_schedules(self.trace, code, known, self._explained(BRANCHES, waves))
        total = int((code.latency + code.idle)[~code.is_label].sum())
        return Answer.of(schedule_table(self.trace, found, total), found, {"note": SCHEDULES.note})

    def roofline(self, waves: Waves = WORKING) -> Answer[Roofline]:
        """Return how near the kernel and its loops are to the peaks of a compute unit and of memory.

        Rates are per compute unit and cycle; `result` has operations by unit and type.
        """
        widths = self._explained(WIDTHS, waves)
        found = roofline(self.trace, widths, self._explained(LOOPS, waves))
        facts = roofline_facts(self.trace, found, self.facts, widths.lanes)
        return Answer.of(roofline_table(self.trace, found), found, facts)

    def registers(
        self, by: Literal["file", "instruction"] = "file", *, line: int | None = None
    ) -> Answer[LiveRegisters]:
        """Return how many registers hold values still needed, one row per register `file` or `instruction`.

        With `line`, an instruction, returns which are held and which are free there.  `result` has the sets
        of registers of each instruction.  Raises UsageError if there is no such instruction.
        """
        one_of("by", by, ("file", "instruction"))
        found = live_registers(self.trace.code)
        if line is not None:
            check_line(self.trace, line)
            return Answer.of(place_table(found, main_use(self.trace), line), found, {})
        if by == "instruction":
            return Answer.of(instruction_table(self.trace, found), found, {})
        limits = limits_of(self.trace, self.facts)
        return Answer.of(file_table(self.trace, found, limits), found, register_facts(limits))

    def occupancy_limits(self) -> Answer[OccupancyLimits]:
        """Return how many waves of a SIMD each resource allows, and what the next step requires."""
        found = limits_of(self.trace, self.facts)
        document = limit_document(self.trace, found)
        names = ("waves_per_simd", "max_waves_per_simd", "binding", "next_step", "resident", "notes")
        facts = {name: document[name] for name in names}
        return Answer.of(limit_table(found), found, facts)

    def counter_numbers(
        self,
        formulas: str | Sequence[str] = (),
        *,
        se: Collection[int] | None = None,
        cu: Collection[int] | None = None,
    ) -> Answer[tuple[CounterRow, ...]]:
        """Return smallest, mean, largest value and total of each counter, and of formulas over them.

        `formulas` are lines such as `hit_rate = 100 * TCC_HIT / TCC_REQ`, in addition to the built-in ones;
        `se` and `cu` choose shader engines and compute units.  Raises UsageError for a formula with an error.
        """
        text = formulas if isinstance(formulas, str) else "\n".join(formulas)
        trace, found = self.trace, counters(self.trace)
        rows: tuple[CounterRow, ...] = ()
        if found.raw:
            files = (read_definitions(text, "formulas"),) if text else ()
            derived = derived_counters(found, trace.clock, files, trace.architecture, engines=se, units=cu)
            for _, mistake in derived.mistakes:
                raise UsageError(f"A formula has a mistake: {mistake}", hint=mistake.picture(text))
            rows = raw_rows(found, se, cu) + derived_rows(derived)
        facts = {
            "notes": list(found.notes),
            "engines": list(found.engines()),
            "units": list(found.units()),
            "reason": "" if found.raw else how_to_record(trace.architecture),
        }
        return Answer.of(counter_table(rows), rows, facts)

    def counter_curve(self, name: str, formulas: str | Sequence[str] = ()) -> Table:
        """Return the curve of a counter or formula: a value holds until the time of the next row."""
        row = next((row for row in self.counter_numbers(formulas).result if row.name == name), None)
        if row is None:
            text = f"Nothing is counted by the name {name}."
            raise UsageError(text, hint="counter_numbers lists what there is.")
        return Table({"time": row.curve.time, "value": row.curve.value}, spec=CURVE)

    # -- what to think of it -------------------------------------------------------------------------------

    def triage(
        self, *, every_wave: bool = False, waves: str = WORKING, predict: bool = False
    ) -> Answer[Findings]:
        """Return the findings, by the most that the kernel's duration can gain.

        `facts["class"]` says what limits the kernel, with the numbers that support it; `facts["alarm"]` is
        not empty if nothing may be concluded from the capture.  With more than 48 MB of waves, some whole
        shader engines are analysed, or parts of the time of a larger one, unless `every_wave`.  `waves` says
        whose costs are ranked: `working`, `all`, or the id of a population.  With `predict` each remedy is
        replayed, and findings are ranked by the predicted gain.
        """
        rows = None if every_wave else chosen_rows(self.trace.waves)
        found = self._once(
            ("triage", every_wave, waves),
            None,
            lambda: findings_from(self._looking(rows), facts=self.facts, waves=waves),
        )
        if predict:
            plain = found
            found = self._once(
                ("predicted", every_wave, waves), None, lambda: with_predictions(self.trace, plain)
            )
        facts = {
            "alarm": found.alarm,
            "class": None if found.bound_class is None else found.bound_class.as_json(),
            "headline": found.headline,
            "waves": found.waves,
            "counted": found.waves if found.choice is None else found.choice.waves,
            "missing": found.unread,
            "simd_cycles": found.resident,
            "no_issue": found.no_issue,
            "bubbles": found.bubbles,
            "below_threshold": len(found.small),
            "numbers": {number.id: number.text for number in found.numbers},
            "assumption": found.assumption,
            "predictions_assume": list(found.guesses),
            "note": found.why,
        }
        return Answer.of(finding_table(found.findings), found, facts)

    def check(self, twin: Capture | None = None) -> Answer[tuple[HealthNote, ...]]:
        """Return reasons not to trust the capture, the most severe first; no row if there are none.

        `twin` is another capture of the same instructions; its differences are noise.  Raises UsageError if
        its instructions differ.
        """
        other = None if twin is None else twin.trace
        if other is not None and fingerprint(self.trace.code) != fingerprint(other.code):
            text = f"{other.name} is no replicate of {self.name}: their instructions differ."
            hint = "A replicate is another capture of the same binary; library() names those it finds."
            raise UsageError(text, hint=hint)
        seen = self._looking()
        seen.ask(OF_WAVES)
        notes = health_notes(self.trace, seen.of if seen.read else None, seen.missing, other)
        return Answer.of(note_table(notes, NOTE_ROWS), notes, health_facts(self.trace, notes))

    def compare(
        self,
        other: Capture,
        by: Literal["instruction", "source", "block", "class", "work"] = "instruction",
        *,
        measure: Literal["cost", "latency", "stall"] = "cost",
        least: float | None = None,
        twin: Capture | None = None,
        seed: int = 0,
        waves: Waves = WORKING,
    ) -> Answer[Comparison]:
        """Compare another capture with this one as the baseline, by instruction, source line, block or class.

        Columns of this capture end in `_a`, of the other in `_b`; cycles are per wave, at the executions of
        this capture.  A difference of the kernel below the share `least` is not reported; `twin` is another
        capture of this build.  `facts["verdict"]` is about the launch if both captures have its duration,
        else about cycles per wave or per hit (`facts["per"]`).  `work` is what operations, bytes and the
        launch cost in both, which also holds if tiles differ.
        """
        one_of("by", by, COMPARED)
        one_of("measure", measure, MEASURES)
        a, b = self.line_costs(waves), other.line_costs(waves)
        replicate = None if twin is None else twin.line_costs(waves)
        found = compare_costs(a, b, seed, measure=measure, threshold=least, replicate=replicate)
        if by == "work":
            table = work_table(
                *(work_costs(side, launch_ns(of.trace, side)) for of, side in ((self, a), (other, b)))
            )
            return Answer.of(table, found, _compared(found))
        return Answer.of(change_table(found, by), found, _compared(found))

    def line_costs(self, waves: Waves = WORKING) -> CaptureCosts:
        """Return the cost of each instruction in each group of waves, the input of comparisons."""
        return self._once(
            "line costs",
            waves,
            lambda: (
                explained_costs_from(self._looking(), str(waves))
                if is_population(waves)
                else costs_from(self._looking(), self._rows(waves))
            ),
        )

    # -- what if -------------------------------------------------------------------------------------------

    def whatif(
        self,
        *,
        latency: Mapping[str | int, float] | None = None,
        move: Sequence[tuple[int, int]] = (),
        relax: Sequence[tuple[int, int]] = (),
        only: Sequence[tuple[int, int]] = (),
        dpp: Sequence[int] = (),
        merge: Sequence[tuple[int, int]] = (),
        free: Sequence[int] = (),
        no_barriers: bool = False,
        more_waves: int = 0,
        every: bool = False,
    ) -> Answer[tuple[Prediction, ...]]:
        """Return what changes would gain, all together; without any, the standard experiments, each alone.

        The recording is replayed to predict them.  `latency` has factors for `vmem`, `lds`, `smem`, `memory`
        or an instruction; `move` pairs of an instruction and the instruction to place it before; `relax`
        waits and how many more operations they leave outstanding; `only` waits and the single load that they
        wait for; `dpp` moves across lanes that become operands of arithmetic; `merge` accesses and others
        that become part of them; `free` instructions that take no time.  For a large capture some shader
        engines are replayed, or part of the time of one, unless `every` is set.
        """
        asked = ChangeRequest(
            latency=[(str(what), factor) for what, factor in (latency or {}).items()],
            move=move,
            relax=relax,
            only=only,
            dpp=dpp,
            merge=merge,
            free=free,
            no_barriers=no_barriers,
            more_waves=more_waves,
        )
        changes = asked.changes(self.trace.code)
        played = sample(self.trace, EVERYTHING) if every else sample(self.trace)
        player = self._player(every=every)
        tried = [Experiment(tuple(changes))] if changes else usual_experiments(player, self.trace.code)
        found = ranked(player, tried)
        return Answer.of(prediction_table(found), tuple(found), whatif_facts(found, played))

    def critical_path(
        self,
        *,
        latency: Mapping[str | int, float] | None = None,
        move: Sequence[tuple[int, int]] = (),
        relax: Sequence[tuple[int, int]] = (),
        only: Sequence[tuple[int, int]] = (),
        dpp: Sequence[int] = (),
        merge: Sequence[tuple[int, int]] = (),
        free: Sequence[int] = (),
        no_barriers: bool = False,
        more_waves: int = 0,
        every: bool = False,
    ) -> Answer[PathTable]:
        """Return the makeup of the span of the compute units: instructions and causes on the critical path.

        Instructions off it follow with their slack.  Takes the arguments of `whatif`: with changes it returns
        the predicted path of the changed kernel.
        """
        asked = ChangeRequest(
            latency=[(str(what), factor) for what, factor in (latency or {}).items()],
            move=move,
            relax=relax,
            only=only,
            dpp=dpp,
            merge=merge,
            free=free,
            no_barriers=no_barriers,
            more_waves=more_waves,
        )
        changes = asked.changes(self.trace.code)
        found = self._player(every=every).path(changes)
        return Answer.of(path_rows(self.trace, found), found, path_facts(found, self.trace))

    def _player(self, *, every: bool = False) -> Player:
        """Return the recordings that experiments replay, made once."""
        played = sample(self.trace, EVERYTHING) if every else sample(self.trace)
        return self._once(("player", every), None, lambda: player_of(self.trace, played))

    # -- files ---------------------------------------------------------------------------------------------

    def report(
        self,
        path: str | PathLike[str],
        *,
        waves: str = WORKING,
        predict: bool = False,
        interactive: bool = False,
    ) -> Path:
        """Write the report, a name ending in .html or .md; raise UsageError or ExportError.

        `waves` says whose costs are explained: `working`, `all`, or the id of a population.  With `predict`
        it has the predicted gains of remedies, and the critical path.  `interactive` writes an interactive
        page of HTML: timelines, listing, sources and findings.
        """
        target = Path(path)
        inputs = ReportInputs(self._looking(), facts=self.facts, waves=waves)
        inputs.play = partial(quick_player, self.trace) if predict else None
        inputs.notes = self.notes.result
        assert inputs.choice  # another word is refused before anything is written
        if not interactive:
            write_report(inputs, target)
            return target
        check_form(target, PAGES)
        write_page(interactive_page(inputs), target)
        return target

    def export(
        self,
        path: str | PathLike[str],
        to: Literal["perfetto", "speedscope", "csv", "parquet"],
        *,
        waves: Waves = None,
        table: TableName | Literal[""] = "",
        cycles: bool = False,
    ) -> Path:
        """Write files for other tools: `perfetto`, `speedscope`, `csv` or `parquet`.

        Tables go into a folder, or into one file if `table` names one.  speedscope gets profiles of the
        chosen waves, by default of the first; `cycles` writes a cycle of Perfetto's trace as one nanosecond.
        Raises UsageError, ExportError.
        """
        one_of("to", to, _TO)
        if table:
            one_of("table", table, tuple(TABLES))
        target, rows = Path(path), self.chosen(waves)
        if to in FORMATS:
            if table and target.is_dir():
                raise UsageError(f"{target} is a folder.", hint="Name a file to write.")
            names = (table,) if table else tuple(TABLES)
            paths = {str(name): target if table else target / f"{name}.{to}" for name in names}
            spans = self._spans if "events" in paths else None
            write_tables(self.trace, self._cache.in_turn(rows), paths, to, rows=rows, spans=spans)
            return target
        with whole_file(target) as stream:
            if to == "perfetto":
                read = self.batches(waves)
                write_perfetto(self.trace, read, stream, rows=rows, spans=self._spans, cycles=cycles)
            else:
                chosen = self._all(waves if waves is not None or not len(self.waves) else [0])
                write_speedscope(self.trace, [wave for batch in chosen for wave in batch.waves], stream)
        return target

    def pack(self, path: str | PathLike[str], *, sources: bool = True, notes: bool = False) -> Path:
        """Write the capture into one small file that `open` takes, a name ending in .rcvz.

        It includes facts from the tables of the run; the text of source files only if `sources` is set, and
        notes about the capture only with `notes`.  Raises UsageError for another name, and ExportError.
        """
        target = Path(path)
        data = NotePlaces.of(self.trace).packed(self.notes.result) if notes else b""
        packing.pack(self.trace, target, packing.columns_of(self.trace), has_sources=sources, notes=data)
        return target

    def unpack(self, path: str | PathLike[str]) -> Path:
        """Write the capture, packed, raw or decoded, as a `ui_output` folder that other tools open.

        Raises UsageError unless the folder is new or empty, and ExportError.
        """
        target = Path(path)
        packing.unpack(self.trace, target, packing.columns_of(self.trace))
        return target

    @property
    def _spans(self) -> MarkerSpans | None:
        return self.markers if has_values(self.trace) else None


def _compared(found: Comparison) -> dict[str, Any]:
    """The facts of a comparison."""
    facts: dict[str, Any] = {
        "verdict": found.verdict.value,
        "sentence": found.judgement.sentence,
        "per": found.judgement.basis,
        "notes": list(found.notes),
        "is_same_program": found.align.is_same,
    }
    if found.kernel is None:
        return facts
    facts |= {
        "cycles_per_wave": found.kernel.per_wave,
        "cycles_per_hit": found.kernel.per_hit,
        "ratio_at_equal_hits": found.kernel.at_equal_hits.value,
        "ratio_per_wave": found.kernel.a_wave.value,
    }
    launch = found.kernel.launch
    if launch is not None:
        facts |= {
            "launch_duration": (launch.a.duration, launch.b.duration),
            "launched_waves": (launch.a.waves, launch.b.waves),
            "ratio_of_launches": launch.duration.value,
        }
    return facts
