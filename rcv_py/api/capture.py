"""A capture, opened: its tables, its analyses, and the files that can be written from it.

Plain functions make the answers: those of tables, costs, stalls, device and judgements.  Here it is decided
which waves they are of, and what is made only once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.compare.changes import BY as COMPARED
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.compare import compare as compare_costs
from rcv_py.analysis.compare.costs import MEASURES, CaptureCosts, capture_costs, explained_costs
from rcv_py.analysis.core.cost_columns import all_lines
from rcv_py.analysis.cost.distribution import LineHits
from rcv_py.analysis.cost.ranking import Ranked
from rcv_py.analysis.cost.stall_reasons import StallReasons
from rcv_py.analysis.counters.counter_summary import CounterRow
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.analysis.findings.engine_choice import chosen_rows
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.flame.flame import FlameTree
from rcv_py.analysis.health.capture_health import HealthNote
from rcv_py.analysis.health.check import check_waves
from rcv_py.analysis.iterations.loop_summary import LoopSummary, loop_summary
from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.analysis.latency.hidden_latency import HiddenLatency, hidden_latency
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.overview.device_summary import DeviceSummary
from rcv_py.analysis.overview.summary import info
from rcv_py.analysis.waits.wait_latency import WaitSummary, wait_summary
from rcv_py.analysis.waves.populations import WORKING, Populations, populations
from rcv_py.analysis.waves.wave_choice import WaveChoice, wave_choice
from rcv_py.api import costs, device, judgements, stalls, tables
from rcv_py.api.answer import Answer
from rcv_py.api.arguments import (
    LoopTable,
    OccupancyBy,
    Rule,
    TableName,
    Waves,
    check_line,
    index_row,
    index_rows,
    is_population,
    one_of,
)
from rcv_py.api.errors import noted
from rcv_py.api.table import Table
from rcv_py.api.wave import Wave
from rcv_py.api.wave_cache import DEFAULT_GB, WaveCache, in_order
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import plural
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.files import write_report
from rcv_py.export.report.inputs import report_inputs
from rcv_py.export.table_files import FORMATS, write_tables
from rcv_py.export.tables import TABLES
from rcv_py.export.traces.perfetto import TraceChoices, write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.model.ids import WaveId
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results import loops as loop_results
from rcv_py.results import waves as wave_results
from rcv_py.results.isa import Listing
from rcv_py.work.limits import limits_of
from rcv_py.work.occupancy_rows import OccupancyRow, occupancy_rows

_TO = ("perfetto", "speedscope", *FORMATS)
T = TypeVar("T")


class Capture:
    """One capture.  Tables are read-only; waves are read when they are first needed.

    `trace` is the loader's object, for what has no table.
    """

    def __init__(
        self,
        path: str | PathLike[str] | CaptureEntry,
        *,
        memory_gb: float = DEFAULT_GB,
        workers: int | None = None,
        run_files: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    ) -> None:
        place = path.path if isinstance(path, CaptureEntry) else Path(path)
        try:
            self.trace: Trace = open_trace(place)
        except RcvError as error:
            noted(error)
            raise
        self.budget = memory_gb * 1e9  # bytes of waves that are kept, and of a table made of them
        given = [run_files] if isinstance(run_files, str | PathLike) else run_files
        self._run_files = tuple(map(Path, given))
        self._cache = WaveCache(self.trace, self.budget, workers)
        self._answers: dict[object, Any] = {}

    def __repr__(self) -> str:
        kernel = f", {self.kernel}" if self.kernel else ""
        return f"<Capture {self.name}{kernel}: {plural(len(self.trace.waves), 'wave')}>"

    @property
    def name(self) -> str:
        """The name of the capture's folder."""
        return self.trace.name

    @property
    def path(self) -> Path:
        """The capture's folder."""
        return self.trace.path

    @property
    def kernel(self) -> str:
        """The kernel with most traced cycles, "" if it is not known."""
        return self.trace.kernel_name

    @property
    def facts(self) -> RunFacts:
        """What the profiler's tables beside the capture tell: registers, sizes, the device."""
        trace, files = self.trace, self._run_files
        try:
            return self._once(
                "facts", None, lambda: run_facts(trace.path, trace.kernel_name, trace.target, files)
            )
        except UsageError as error:
            raise noted(error) from None

    def info(self) -> dict[str, Any]:
        """Return what the capture holds as plain values, as `rcv info --json`; no wave is read."""
        return info(self.trace)

    # -- waves -------------------------------------------------------------------------------------------

    def wave(self, wave: str | int | WaveId) -> Wave:
        """Return one wave with its tables `tokens`, `states` and `waits`.

        Raises UsageError for a wave that does not exist or cannot be read.
        """
        row = index_row(self.trace, wave)
        for batch in self._cache.batches([row]):
            for found in batch.waves:
                return Wave(self.trace, found)
        why = self._cache.unreadable.get(row, "its file is missing")
        raise noted(
            UsageError(
                f"{self.trace.waves.id(row)} could not be read: {why}", hint="The table problems tells more."
            )
        )

    def batches(self, waves: Waves = None) -> Iterator[WaveBatch]:
        """Yield the waves (None: all), some hundred at a time, in no particular order.

        They stay in memory until the capture's budget is full; what does not fit is read again each time.
        Waves that cannot be read are left out; the table `problems` lists them from then on.
        """
        return self._cache.batches(self.chosen(waves))

    def chosen(self, waves: Waves) -> list[int] | None:
        """Return the places in the index of the waves that are meant, None for all.

        `working` are those that do the work of the kernel (all if none does), `all` is all of them, and the
        id of a population stands for those that took its way: see `populations`.  A wave is its name
        (`se0/simd2/slot5/wv3`), its place in `waves`, or a WaveId; several are a list of these, a mask over
        the table `waves`, or any table with a column `wave`.  Raises UsageError.
        """
        if not is_population(waves):
            return index_rows(self.trace, waves)
        try:
            rows = self.choice(str(waves)).rows
        except UsageError as error:
            text = f"{waves!r} does not name a wave, nor a population of waves."
            raise noted(UsageError(text, hint=error.hint)) from None
        return None if rows is None else sorted(rows)

    def choice(self, waves: str = WORKING) -> WaveChoice:
        """Return the waves that `working`, `all` or the id of a population stands for; raise UsageError."""
        try:
            return wave_choice(self.ways, waves)
        except UsageError as error:
            raise noted(error) from None

    @property
    def ways(self) -> Populations:
        """The ways that waves took through the code: the result that `populations` makes a table of."""
        return self._once("ways", None, lambda: populations(self.trace, self.batches()))

    def populations(self) -> Answer[Populations]:
        """Return the ways that waves took through the code, and which work: `rcv waves --populations`.

        The argument `waves` of analyses takes their ids; reads all waves.
        """
        facts = wave_results.population_facts(self.trace, self.ways)
        return Answer.of(wave_results.population_table(self.ways), self.ways, facts)

    # -- tables; cycles are on one clock for the whole capture ---------------------------------------------

    @property
    def code(self) -> Table:
        """The program: one row a line, with its costs over all traced waves and its source."""
        return self._whole("code")

    @property
    def waves(self) -> Table:
        """One row a traced wave; no wave file is opened for it."""
        return self._whole("waves")

    @property
    def occupancy(self) -> Table:
        """One row for each time a wave began or ended, anywhere on the traced shader engines."""
        return self._whole("occupancy")

    @property
    def events(self) -> Table:
        """Dispatches, hardware events, markers and values of shader data, by time."""
        return self._whole("events")

    @property
    def counters(self) -> Table:
        """One row a sample of a hardware counter."""
        return self._whole("counters")

    @property
    def markers(self) -> MarkerSpans:
        """Scopes and points of markers; waves are read for them if there is any shader data."""
        return self._once(
            "markers", None, lambda: marker_spans(self.trace, self._all() if self._has_data else ())
        )

    @property
    def _has_data(self) -> bool:
        return any(len(data.time) for data in self.trace.shader_data)

    @property
    def sources(self) -> Table:
        """The source files that instructions come from; `Capture.source` gives the lines of one."""
        return tables.sources(self.trace)

    def source(self, path: str) -> tuple[str, ...]:
        """Return the lines of a source file by its path, or the end of it; UsageError if there is no copy."""
        return tables.source_lines(self.trace, path)

    @property
    def problems(self) -> Table:
        """What is wrong with the capture's files, and the waves that could not be read so far."""
        return tables.file_problems(self.trace, self._cache.unreadable)

    def verify(self) -> Table:
        """Read every wave and return what contradicts itself, as `rcv info --check` tells."""
        return self._once(
            "verify", None, lambda: tables.problem_table(check_waves(self.trace, self.batches()))
        )

    def tokens(self, waves: Waves = None) -> Table:
        """One row an executed instruction, wave after wave, in order of time."""
        return self._of_waves("tokens", waves)

    def states(self, waves: Waves = None) -> Table:
        """One row a segment of a wave's timeline: what the wave was doing."""
        return self._of_waves("states", waves)

    def waits(self, waves: Waves = None) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return self._of_waves("waits", waves)

    def parts(self, name: Literal["tokens", "states", "waits"], waves: Waves = None) -> Iterator[Table]:
        """Yield `tokens`, `states` or `waits` piece by piece, for captures larger than memory."""
        one_of("name", name, tables.OF_WAVES)
        return (tables.of_batch(self.trace, name, batch) for batch in self.batches(waves) if batch.waves)

    def _whole(self, name: str) -> Table:
        table = TABLES[name]
        assert table.whole is not None
        make, spans = table.whole, self.markers if name == "events" else None
        return self._once(name, None, lambda: Table(make(self.trace, spans), name, table.spec))

    def _of_waves(self, name: str, waves: Waves) -> Table:
        return self._once(
            name, waves, lambda: tables.of_batches(self.trace, name, self._all(waves), self.budget)
        )

    # -- which code costs how much -------------------------------------------------------------------------

    def summary(self, waves: Waves = WORKING) -> Answer[DeviceSummary]:
        """Return the page of `rcv summary` as one long table; `result` has its parts.

        Lives, states and cycles are those of `waves`; SIMDs are busy with all of them.
        """
        return self._once("summary", waves, lambda: costs.summary(self.trace, self._all(), self._rows(waves)))

    def hotspot(
        self,
        by: Literal["line", "source", "kind", "class"] = "line",
        sort: Literal["latency", "stall", "idle", "hits"] = "latency",
        waves: Waves = None,
    ) -> Answer[tuple[Ranked, ...]]:
        """Return the most expensive code, the first first, by `line`, `source`, `kind` or `class`.

        `sort` is `latency`, `stall`, `idle` or `hits`; `share` is the part of it.  Sums over all traced
        waves unless `waves` names some, not elapsed time; `facts["measure"]` says whether they are cycles or
        PC samples.
        """
        return costs.hotspot(self.trace, self._counted(waves).code, by, sort)

    def isa(
        self, kind: Literal["lines", "blocks", "branches"] = "lines", waves: Waves = None
    ) -> Answer[Listing]:
        """Return the `lines` of the listing with their blocks, its basic `blocks`, or its `branches`.

        Numbers are those of all waves unless `waves` names some.
        """
        return costs.isa(self._counted(waves), kind, lambda: self._all(waves))

    def line(self, line: int, waves: Waves = WORKING) -> Answer[LineHits]:
        """Return every execution of a code line; `facts` tell how latency, stall, idle and distance spread.

        By default executions of the waves that work.
        Raises UsageError if there is no such line.  PC samples know no executions: see `samples`.
        """
        check_line(self.trace, line)
        return costs.line(self.trace, self._all(waves), line)

    def samples(self, line: int | None = None) -> Answer[StallReasons]:
        """Return how often PC samples of a code line (None: of all) issued, and why the others did not."""
        if line is not None:
            check_line(self.trace, line)
        return costs.samples(self.trace.code, line)

    def flame(
        self,
        content: Literal["source", "kernel", "markers", "both"] = "source",
        metric: Literal["total", "nonhidden", "stall", "hits"] = "total",
        order: Literal["heavy", "execution", "name"] = "heavy",
    ) -> Answer[FlameTree]:
        """Return the flamegraph: one row a frame, `parent` is the row of the frame around it, -1 for none.

        `content` is `source`, `kernel`, `markers` or `both`; `metric` is `total`, `nonhidden`, `stall` or
        `hits`; `order` is `heavy`, `execution` or `name`.  Raises UsageError where the capture cannot tell.
        """
        return costs.flame(self.trace, content, metric, order, self._all)

    # -- why waves stalled and idled -----------------------------------------------------------------------

    def causes(
        self, by: Literal["cause", "line", "producer", "each"] = "cause", waves: Waves = WORKING
    ) -> Answer[Attribution]:
        """Return why waves stalled and idled, `by` cause, late line, producer to blame, or `each` of all.

        Cycles are attribution, summed over waves; several waves stall at once.  `share` is of all stall,
        `guessed` counts cycles of which the producer is one of several that fit.
        Waves that are not chosen are read too, and count as competitors.
        """
        one_of("by", by, stalls.CAUSES_BY)
        found = self._once("causes", waves, lambda: attribution(self.trace, self._all(), self._rows(waves)))
        return stalls.causes(self.trace, found, by)

    def wait_costs(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row a wait instruction that ran, most stall first: `rcv waits`."""
        return stalls.wait_costs(self.trace, self._wait_summary(waves))

    def wait_producers(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return one row a wait and an instruction it waited for; a wait's stall is charged to the newest."""
        return stalls.wait_producers(self.trace, self._wait_summary(waves))

    def wait_latency(self, waves: Waves = WORKING) -> Answer[WaitSummary]:
        """Return how long instructions took to answer, told by the waits for them: `rcv waits --latency`."""
        return stalls.wait_latency(self.trace, self._wait_summary(waves))

    def _wait_summary(self, waves: Waves) -> WaitSummary:
        return self._once("wait summary", waves, lambda: wait_summary(self.trace, self.batches(waves)))

    def loops(self, show: LoopTable = "loops", waves: Waves = WORKING) -> Answer[LoopSummary]:
        """Return a table about loops; columns such as `kinds_VALU` are cycles by kind of instruction.

        `show` is `loops`, their `iterations`, `phases` of waves, costs of `first` executions, `distance` from
        loads to their waits, `chains` of cross-lane operations, or skew of `barriers`.
        """
        one_of("show", show, tuple(loop_results.TABLES))
        read, rows = list(self._all()), self._rows(waves)
        found = self._once("loops", waves, lambda: loop_summary(self.trace, read, rows))
        inputs = loop_results.Inputs(self.trace, read, None if rows is None else set(rows), found)
        return Answer.of(loop_results.TABLES[show][1](inputs), found, loop_results.facts(inputs))

    def bubbles(self, waves: Waves = WORKING) -> Answer[Bubbles]:
        """Return the instructions that waves waited in while nothing happened on their SIMD, worst first."""
        return self._once(
            "bubbles",
            waves,
            lambda: stalls.bubbles(self.trace, self._all(), self._rows(waves)),
        )

    def hidden_latency(self, rule: Rule = "ours", waves: Waves = WORKING) -> Answer[HiddenLatency]:
        """Return what of each line's latency other waves hide, an estimate; what nothing hides first."""
        one_of("rule", rule, stalls.RULES)
        found = self._once(
            ("hidden", rule),
            waves,
            lambda: hidden_latency(self.trace, self._all(), ReferenceRule(rule), self._rows(waves)),
        )
        return stalls.hidden_latency(self.trace, self._counted(waves).code, found)

    def memory_latency(self, rule: Rule = "ours") -> Answer[MemoryLatency]:
        """Return how long memory took to answer, told by counters; `facts["reason"]` says why not."""
        one_of("rule", rule, stalls.RULES)
        return stalls.memory_latency(self.trace, self._all(), ReferenceRule(rule))

    # -- what happened around the waves --------------------------------------------------------------------

    def occupancy_numbers(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return mean, peak, tail and ramp of resident waves: of all, then by `se`, `kernel` or `state`."""
        return device.occupancy_numbers(self.trace, self._occupancy(by))

    def occupancy_curves(self, by: OccupancyBy = "se") -> Answer[list[OccupancyRow]]:
        """Return how many waves were resident from each cycle on; the curve `all` is the sum."""
        return device.occupancy_curves(self._occupancy(by))

    def _occupancy(self, by: OccupancyBy) -> list[OccupancyRow]:
        one_of("by", by, device.OCCUPANCY_BY)
        return self._once(("occupancy", by), None, lambda: occupancy_rows(self.trace, by, self._all))

    def occupancy_limits(self) -> Answer[OccupancyLimits]:
        """Return how many waves of a SIMD each resource allows, and what the next step takes."""
        return device.occupancy_limits(limits_of(self.trace, self.facts))

    def counter_numbers(
        self,
        formulas: str | Sequence[str] = (),
        *,
        se: Collection[int] | None = None,
        cu: Collection[int] | None = None,
    ) -> Answer[tuple[CounterRow, ...]]:
        """Return smallest, mean, largest value and total of each counter, and of formulas over them.

        `formulas` are lines such as `hit_rate = 100 * TCC_HIT / TCC_REQ`, beside the built-in ones; `se` and
        `cu` choose shader engines and compute units.  Raises UsageError for a formula with a mistake.
        """
        return device.counter_numbers(self.trace, formulas, se, cu)

    def counter_curve(self, name: str, formulas: str | Sequence[str] = ()) -> Table:
        """Return the curve of a counter or formula: a value holds until the time of the next row."""
        return device.counter_curve(self.counter_numbers(formulas).result, name)

    # -- what to think of it -------------------------------------------------------------------------------

    def triage(self, *, every_wave: bool = False, waves: str = WORKING) -> Answer[Findings]:
        """Return the findings, by what the kernel's duration can gain at most.

        `facts["class"]` says what limits the kernel, with the numbers that show it; `facts["alarm"]` is not
        empty if nothing may be concluded from the capture.
        Of more than 48 MB of waves some whole shader engines are looked at, unless `every_wave`.  `waves`
        says whose costs are ranked: `working`, `all`, or the id of a population.
        """
        rows = None if every_wave else chosen_rows(self.trace.waves)
        return self._once(
            ("triage", every_wave, waves),
            None,
            lambda: judgements.triage(self.trace, self._all(rows), self.facts, waves),
        )

    def check(self, twin: Capture | None = None) -> Answer[tuple[HealthNote, ...]]:
        """Return what speaks against trusting the capture, worst first; no row if nothing does.

        `twin` is another capture of the same instructions; what it differs by is noise.  Raises UsageError if
        its instructions differ.
        """
        return judgements.check(self.trace, self._all(), None if twin is None else twin.trace)

    def compare(
        self,
        other: Capture,
        by: Literal["line", "source", "block", "class"] = "line",
        *,
        measure: Literal["cost", "latency", "stall"] = "cost",
        least: float | None = None,
        twin: Capture | None = None,
        seed: int = 0,
        waves: Waves = WORKING,
    ) -> Answer[Comparison]:
        """Compare another capture with this one as the baseline, by `line`, `source`, `block` or `class`.

        Columns of this one end in `_a`, of the other in `_b`; cycles are those a wave, at the executions of
        this one.  `least` is the share below which a difference of the kernel is never told, `twin` another
        capture of this build.  `facts["verdict"]` is about the launch where both captures say how long it
        took, else about cycles a wave or a hit (`facts["per"]`).
        """
        one_of("by", by, COMPARED)
        one_of("measure", measure, MEASURES)
        third = None if twin is None else twin.line_costs(waves)
        found = compare_costs(
            self.line_costs(waves), other.line_costs(waves), seed, measure=measure, least=least, twin=third
        )
        return judgements.compare(found, by)

    def line_costs(self, waves: Waves = WORKING) -> CaptureCosts:
        """Return what each instruction costs in each group of waves: what comparisons are made from."""
        return self._once(
            "line costs",
            waves,
            lambda: (
                explained_costs(self.trace, self._all(), str(waves))
                if is_population(waves)
                else capture_costs(self.trace, self._all(), self._rows(waves))
            ),
        )

    # -- files ---------------------------------------------------------------------------------------------

    def report(self, path: str | PathLike[str], *, waves: str = WORKING) -> Path:
        """Write the report, a name ending in .html or .md; raise UsageError or ExportError.

        `waves` says whose costs are explained: `working`, `all`, or the id of a population.
        """
        target = Path(path)
        write_report(report_inputs(self.trace, self._all(), self.facts, waves), target)
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
        """Write what other tools read: `perfetto`, `speedscope`, `csv` or `parquet`.

        Tables go into a folder, or into one file if `table` names one.  speedscope gets profiles of the
        chosen waves, by default of the first; `cycles` writes a cycle of Perfetto's trace as one nanosecond.
        Raises UsageError, ExportError.
        """
        one_of("to", to, _TO)
        if table:
            one_of("table", table, tuple(TABLES))
        target = Path(path)
        if to in FORMATS:
            if table and target.is_dir():
                raise noted(UsageError(f"{target} is a folder.", hint="Name a file to write."))
            names = [table] if table else list(TABLES)
            paths = {str(name): target if table else target / f"{name}.{to}" for name in names}
            spans = self._spans if "events" in paths else None
            write_tables(self.trace, self._all(waves), paths, to, rows=self.chosen(waves), spans=spans)
            return target
        with whole_file(target) as stream:
            if to == "perfetto":
                rows, choices = self.chosen(waves), TraceChoices(cycles=cycles)
                write_perfetto(
                    self.trace, self.batches(waves), stream, rows=rows, spans=self._spans, choices=choices
                )
            else:
                chosen = self._all(waves if waves is not None or not len(self.waves) else [0])
                write_speedscope(self.trace, [wave for batch in chosen for wave in batch.waves], stream)
        return target

    @property
    def _spans(self) -> MarkerSpans | None:
        return self.markers if self._has_data else None

    # -- what methods share --------------------------------------------------------------------------------

    def _once(self, key: object, waves: Waves, make: Callable[[], T]) -> T:
        """Return what was made before for all waves or for waves with a name, else make it."""
        if isinstance(waves, str):  # a population that all waves are of is kept as all waves are
            key = key if self.chosen(waves) is None else (key, waves)
        elif waves is not None:
            return make()
        if key not in self._answers:
            self._answers[key] = make()
        found: T = self._answers[key]
        return found

    def _rows(self, waves: Waves) -> frozenset[int] | None:
        """Rows of the wave index that are meant, None for all."""
        rows = self.chosen(waves)
        return None if rows is None else frozenset(rows)

    def _all(self, waves: Waves = None) -> tuple[WaveBatch, ...]:
        return in_order(self.batches(waves))

    def _counted(self, waves: Waves) -> Trace:
        """The trace with the totals of some waves; as it is for all of them."""
        rows = self._rows(waves)
        if rows is None:
            return self.trace
        stats = all_lines(self._all(waves), len(self.trace.code))
        return replace(self.trace, code=stats.on(self.trace.code))

    @property
    def _texts(self) -> tables.CodeTexts:
        return self._once("texts", None, lambda: tables.code_texts(self.trace))
