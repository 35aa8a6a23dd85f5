"""An open capture: every analysis of it, and the files that can be written from it."""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from rcv_py.analysis.compare.changes import BY as CHANGED_BY
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.compare import compare as compare_costs
from rcv_py.analysis.compare.costs import MEASURES, CaptureCosts, costs_from, explained_costs_from
from rcv_py.analysis.compare.programs import ProgramChange, program_change
from rcv_py.analysis.compare.work import work_costs
from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.counters.derived_counters import CounterRow, derived_counters, derived_rows, raw_rows
from rcv_py.analysis.counters.formula.evaluate import read_definitions
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.findings.detect import findings_from
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.predicted import of_kernel
from rcv_py.analysis.health.capture_health import OF_WAVES, health_notes
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.health.replicates import fingerprint
from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.overview.roofline import Roofline, roofline
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.live_registers import LiveRegisters, live_registers
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.analysis.waves.populations import WORKING, chosen_rows
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.block_schedule import BlockSchedule, block_schedules
from rcv_py.analysis.whatif.critical_path import PathTable
from rcv_py.analysis.whatif.experiments import EVERYTHING, sample, usual_experiments
from rcv_py.analysis.whatif.predict import Prediction
from rcv_py.api.capture_code import CaptureCode
from rcv_py.api.capture_tables import OccupancyBy, TableName, Waves, checked_word, is_population
from rcv_py.api.table import Answer, Table
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.base.whole_files import whole_file
from rcv_py.export.interactive.page import interactive_page
from rcv_py.export.report.files import PAGES, check_form, write_page, write_report
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.tables import FORMATS, TABLES, write_tables
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.features.compare import program_result as builds
from rcv_py.features.compare.result import change_table, flat_facts, work_table
from rcv_py.features.counters import result as counted
from rcv_py.features.findings import result as findings
from rcv_py.features.health import result as health
from rcv_py.features.occupancy import result as occupancy
from rcv_py.features.registers import result as registers
from rcv_py.features.roofline.result import roofline_facts, roofline_table
from rcv_py.features.whatif.result import facts as whatif_facts
from rcv_py.features.whatif.result import path_facts, path_rows, prediction_table
from rcv_py.features.whatif.schedule_result import schedule_table
from rcv_py.formats.notes.store import NotePlaces
from rcv_py.results.tables import CURVE
from rcv_py.work import packing
from rcv_py.work.library import launch_ns
from rcv_py.work.occupancy import OccupancyRow, limits_of, mixed_rows, occupancy_rows
from rcv_py.work.whatif import quick_player, with_predictions

COMPARED = (*CHANGED_BY, "work")
OCCUPANCY_BY = get_args(OccupancyBy)
_TO = ("perfetto", "speedscope", *FORMATS)
P = ParamSpec("P")
T = TypeVar("T")


def takes_arguments_of(method: Callable[P, Any]) -> Callable[[Callable[..., T]], Callable[P, T]]:
    """Let a method take the arguments of another one, which alone declares them."""

    def declare(function: Callable[..., T]) -> Callable[P, T]:
        returned = signature(function).return_annotation
        shown = signature(method).replace(return_annotation=returned)
        function.__signature__ = shown  # type: ignore[attr-defined]  # any function may have it
        return function

    return declare


class Capture(CaptureCode):
    """One capture.  Tables are read-only; waves are read when they are first needed.

    `trace` is the loader's object, for data without a table.
    """

    def occupancy_numbers(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return mean, peak, tail and ramp of resident waves: in total, then by `se`, `kernel` or `state`."""
        rows = self._occupancy(by)
        names, mixed = [row.name for row in rows], mixed_rows(self.trace, by)
        table = occupancy.curve_table("name", names, [row.numbers for row in rows], mixed)
        return Answer.of(table, rows, {"ns_per_cycle": self.trace.clock.ns(1.0)})

    def occupancy_curves(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return how many waves were resident from each cycle on; the curve `all` is the total."""
        rows = self._occupancy(by)
        return Answer.of(occupancy.step_table([row.name for row in rows], [row.steps for row in rows]), rows)

    def _occupancy(self, by: OccupancyBy) -> list[OccupancyRow]:
        checked_word("by", by, OCCUPANCY_BY)
        return self._once(("occupancy", by), None, lambda: occupancy_rows(self.trace, by, self._of))

    def schedules(self, waves: Waves = WORKING) -> Answer[tuple[BlockSchedule, ...]]:
        """Return how long the costliest blocks take as ordered and in a better order: `rcv schedule`.

        `result` has the best order of each, and the loads that gain when each alone is moved up.
        """
        code = self._counted(waves).code
        known = self._explained(LATENCIES, waves)
        found = block_schedules(self.trace, code, known, self._explained(BRANCHES, waves))
        table = schedule_table(self.trace, found, int((code.latency + code.idle)[~code.is_label].sum()))
        return Answer.of(table, found, {"note": table.spec.note})

    def roofline(self, waves: Waves = WORKING) -> Answer[Roofline]:
        """Return how near the kernel and its loops are to the peaks of a compute unit and of memory.

        Rates are per compute unit and cycle; `result` has operations by unit and type.
        """
        widths = self._explained(WIDTHS, waves)
        found = roofline(self.trace, widths, self._explained(LOOPS, waves), self.facts)
        facts = roofline_facts(self.trace, found, self.facts, widths.lanes)
        return Answer.of(roofline_table(self.trace, found), found, facts)

    def registers(
        self, by: Literal["file", "instruction"] = "file", *, line: int | None = None
    ) -> Answer[LiveRegisters]:
        """Return how many registers hold values still needed, one row per register `file` or `instruction`.

        With `line`, an instruction, returns which are held and which are free there.  `result` has the sets
        of registers of each instruction.  Raises UsageError if there is no such instruction.
        """
        checked_word("by", by, ("file", "instruction"))
        found = live_registers(self.trace.code)
        if line is not None:
            self.trace.check_line(line)
            return Answer.of(registers.place_table(self.trace, found, line), found, {})
        if by == "instruction":
            return Answer.of(registers.instruction_table(self.trace, found), found, {})
        limits = limits_of(self.trace, self.facts)
        table = registers.file_table(self.trace, found, limits)
        return Answer.of(table, found, registers.register_facts(limits))

    def occupancy_limits(self) -> Answer[OccupancyLimits]:
        """Return how many waves of a SIMD each resource allows, and what the next step requires."""
        found = limits_of(self.trace, self.facts)
        document = occupancy.limit_document(self.trace, found)
        names = ("waves_per_simd", "max_waves_per_simd", "binding", "next_step", "resident", "notes")
        return Answer.of(occupancy.limit_table(found), found, {name: document[name] for name in names})

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
                raise UsageError(Message("A formula has a mistake: {0}", mistake), hint=mistake.picture(text))
            rows = raw_rows(found, se, cu) + derived_rows(derived)
        reason = "" if found.raw else how_to_record(trace.architecture)
        return Answer.of(counted.counter_table(rows), rows, {**counted.facts(found), "reason": reason})

    def counter_curve(self, name: str, formulas: str | Sequence[str] = ()) -> Table:
        """Return the curve of a counter or formula: a value holds until the time of the next row."""
        row = next((row for row in self.counter_numbers(formulas).result if row.name == name), None)
        if row is None:
            text = Message("Nothing is counted by the name {0}.", name)
            raise UsageError(text, hint="counter_numbers lists what there is.")
        return Table({"time": row.curve.time, "value": row.curve.value}, spec=CURVE)

    def triage(
        self, *, every_wave: bool = False, waves: str = WORKING, predict: bool | None = None
    ) -> Answer[Findings]:
        """Return the findings, by the most that the kernel's duration can gain.

        `facts["class"]` says what limits the kernel, with the numbers that support it; `facts["alarm"]` is
        not empty if nothing may be concluded from the capture.  With more than 48 MB of waves, some whole
        shader engines are analysed, or parts of the time of a larger one, unless `every_wave`.  `waves` says
        whose costs are ranked: `working`, `all`, or the id of a population.  With `predict` each remedy is
        replayed, and findings ranked by limit, else prediction; None: if that takes less than two seconds.
        """
        rows = None if every_wave else chosen_rows(self.trace.waves)

        def make() -> Findings:
            return findings_from(self._looking(rows), facts=self.facts, waves=waves)

        def predicted() -> Findings:
            return with_predictions(self.trace, plain, self._cache.held, predict=predict)

        plain = found = self._once(("triage", every_wave, waves), None, make)
        if predict is not False:
            found = self._once(("predicted", every_wave, waves, predict), None, predicted)
        return Answer.of(findings.finding_table(found.findings), found, findings.facts(found))

    def check(self, twin: Capture | None = None) -> Answer[tuple[HealthNote, ...]]:
        """Return reasons not to trust the capture, the most severe first; no row if there are none.

        `twin` is another capture of the same instructions; its differences are noise.  Raises UsageError if
        its instructions differ.
        """
        other = None if twin is None else twin.trace
        if other is not None and fingerprint(self.trace.code) != fingerprint(other.code):
            text = Message("{0} is not a replicate of {1}: their instructions differ.", other.name, self.name)
            hint = "A replicate is another capture of the same binary; library() names the replicates."
            raise UsageError(text, hint=hint)
        seen = self._looking()
        seen.ask(OF_WAVES)
        notes = health_notes(self.trace, seen.of if seen.read else None, seen.missing, other)
        return Answer.of(health.note_table(notes, health.NOTE_ROWS), notes, health.facts(self.trace, notes))

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
        checked_word("by", by, COMPARED)
        checked_word("measure", measure, MEASURES)
        a, b = self.line_costs(waves), other.line_costs(waves)
        replicate = None if twin is None else twin.line_costs(waves)
        found = compare_costs(a, b, seed, measure=measure, threshold=least, replicate=replicate)
        if by == "work":
            works = (work_costs(side, launch_ns(of.trace, side)) for of, side in ((self, a), (other, b)))
            return Answer.of(work_table(*works), found, flat_facts(found))
        return Answer.of(change_table(found, by), found, flat_facts(found))

    def compare_build(
        self, build: Capture, by: Literal["instruction", "block", "class"] = "instruction"
    ) -> Answer[ProgramChange]:
        """Return what a build that has not run changes: instructions that differ, blocks, or measures.

        This capture, or build, is A; columns of it end in `_a`.  `facts["worse"]` names what the build is
        worse in: registers, spills and waves.  Raise TraceError if one has no instructions.
        """
        checked_word("by", by, tuple(builds.TABLES))
        found = program_change(self.trace, build.trace, (self.facts, build.facts))
        return Answer.of(builds.TABLES[by](found), found, builds.build_facts(found))

    def line_costs(self, waves: Waves = WORKING) -> CaptureCosts:
        """Return the cost of each instruction in each group of waves, the input of comparisons."""

        def make() -> CaptureCosts:
            if is_population(waves):
                return explained_costs_from(self._looking(), str(waves))
            return costs_from(self._looking(), self._rows(waves))

        return self._once("line costs", waves, make)

    def whatif(
        self,
        *,
        latency: Mapping[str | int, float] | None = None,
        move: Sequence[tuple[int, int]] = (),
        batch: Sequence[int] = (),
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
        or an instruction; `move` pairs of an instruction and the instruction to place it before; `batch`
        waits before which the loads below them are issued, and which leave those outstanding; `relax` waits
        and how many more operations they leave outstanding; `only` waits and the single load that they wait
        for; `dpp` moves across lanes that become operands of arithmetic; `merge` accesses and others that
        become part of them; `free` instructions that take no time.  For a large capture some shader
        engines are replayed, or part of the time of one, unless `every` is set.
        """
        asked = _requested(latency, move, batch, relax, only, dpp, merge, free, no_barriers, more_waves)
        changes = asked.changes(self.trace)
        played = sample(self.trace, EVERYTHING) if every else sample(self.trace)
        player = self._player(every=every)
        tried = [tuple(changes)] if changes else usual_experiments(player, self.trace)
        found, kernel = of_kernel(self.triage(predict=False).result, player, tried)
        return Answer.of(prediction_table(found, kernel), tuple(found), whatif_facts(found, kernel, played))

    @takes_arguments_of(whatif)
    def critical_path(self, *, every: bool = False, **changes: Any) -> Answer[PathTable]:
        """Return the makeup of the span of the compute units: instructions and causes on the critical path.

        Instructions off it follow with their slack.  Takes the arguments of `whatif`: with changes it returns
        the predicted path of the changed kernel.
        """
        found = self._player(every=every).path(_requested(**changes).changes(self.trace))
        return Answer.of(path_rows(self.trace, found), found, path_facts(found, self.trace))

    def report(
        self,
        path: str | PathLike[str],
        *,
        waves: str = WORKING,
        predict: bool | None = None,
        interactive: bool = False,
    ) -> Path:
        """Write the report, a name ending in .html or .md; raise UsageError or ExportError.

        `waves` says whose costs are explained: `working`, `all`, or the id of a population.  With `predict`
        it has the predicted gains of remedies, experiments, and the critical path; None: the gains alone, if
        that takes less than two seconds.  `interactive` writes an interactive page of HTML: timelines,
        listing, sources and findings.
        """
        target = Path(path)

        def rank(found: Findings) -> Findings:
            held = self._cache.held
            return with_predictions(self.trace, found, held, predict=predict, player=inputs.player)

        inputs = ReportInputs(self._looking(), facts=self.facts, waves=waves)
        inputs.play, inputs.rank = partial(quick_player, self.trace) if predict else None, rank
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
        checked_word("to", to, _TO)
        if table:
            checked_word("table", table, tuple(TABLES))
        target, rows = Path(path), self.chosen(waves)
        if to in FORMATS:
            if table and target.is_dir():
                raise UsageError(Message("{0} is a folder.", target), hint="Name a file to write.")
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
        return self.markers if self.trace.has_shader_data else None


def _requested(latency: Mapping[Any, float] | None = None, *changes: Any, **named: Any) -> ChangeRequest:
    named |= zip(ChangeRequest._fields[1:], changes, strict=False)
    return ChangeRequest(latency=[(str(what), factor) for what, factor in (latency or {}).items()], **named)
