"""What sections of a report are written from: a capture with its waves, and analyses that several share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, all_lines, cost_columns
from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.health.capture_health import HealthNote, capture_health
from rcv_py.analysis.iterations.loop_summary import LoopSummary
from rcv_py.analysis.overview.device_summary import DeviceSummary, device_summary
from rcv_py.analysis.waits.wait_latency import WaitSummary, wait_summary
from rcv_py.analysis.waves.populations import WORKING, Populations, populations
from rcv_py.analysis.waves.wave_choice import WaveChoice, wave_choice
from rcv_py.export.report.places import short_places
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import LatencyMode
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """A capture and all its waves; `facts` are of the tables that lie beside it, if anybody looked."""

    trace: Trace
    batches: tuple[WaveBatch, ...]
    facts: RunFacts | None = None
    wanted: str = WORKING  # whose costs are explained: `working`, `all`, or a population

    @cached_property
    def populations(self) -> Populations:
        """The ways that waves took through the code."""
        return populations(self.trace, self.batches)

    @cached_property
    def choice(self) -> WaveChoice:
        """Which waves are explained; the others occupy units all the same."""
        return wave_choice(self.populations, self.wanted)

    @property
    def rows(self) -> frozenset[int] | None:
        """Rows of the wave index whose costs are explained, None for all."""
        return self.choice.rows

    @cached_property
    def code(self) -> CodeTable:
        """The program with the totals of the waves that are explained; those of code.json if all are."""
        if self.rows is None:
            return self.trace.code
        return all_lines(self.batches, len(self.trace.code), self.rows).on(self.trace.code)

    @cached_property
    def costs(self) -> CostColumns:
        """Costs of each line, summed over all waves, as `rcv hotspot` tells them."""
        return cost_columns(self.trace.code, LatencyMode.SUM_ALL, None, None)

    @property
    def is_sampled(self) -> bool:
        """Whether costs are PC samples."""
        return self.costs.label == SAMPLES

    @cached_property
    def summary(self) -> DeviceSummary:
        """The numbers of `rcv summary`."""
        return device_summary(self.trace, self.batches, self.rows)

    @cached_property
    def waits(self) -> WaitSummary:
        """Who waited for whom."""
        return wait_summary(self.trace, self.batches, self.rows)

    @cached_property
    def causes(self) -> Attribution | None:
        """Why cycles were spent; None without any wave."""
        return attribution(self.trace, self.batches, self.rows) if self.waves else None

    @cached_property
    def looked_at(self) -> FindingInputs:
        """The bundle that findings are told from, which has loops and limits too."""
        return FindingInputs(
            self.trace,
            self.batches,
            facts=self.facts,
            table=self.causes,
            ways=self.populations,
            waves=self.wanted,
        )

    @cached_property
    def findings(self) -> Findings:
        """What `rcv triage --all` tells."""
        return of_inputs(self.looked_at)

    @cached_property
    def health(self) -> tuple[HealthNote, ...]:
        """What `rcv check` tells."""
        return capture_health(self.trace, self.batches)

    @property
    def loops(self) -> LoopSummary:
        """Loops, phases and iterations."""
        return self.looked_at.loops

    @cached_property
    def waves(self) -> tuple[Wave, ...]:
        """All waves that could be read, by their place in the index."""
        found = {wave.row: wave for batch in self.batches for wave in batch.waves}
        return tuple(found[row] for row in sorted(found))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The innermost source place of each line, "" where there is none."""
        return leaf_texts(self.trace.code, self.trace.sources)

    @cached_property
    def short_sources(self) -> tuple[str, ...]:
        """The same without folders that tell nothing apart."""
        return short_places(self.sources)

    def ns(self, cycles: float) -> float | None:
        """A duration in nanoseconds, None if the clock is not known."""
        return self.trace.clock.ns(cycles)


def report_inputs(
    trace: Trace, batches: Iterable[WaveBatch], facts: RunFacts | None = None, waves: str = WORKING
) -> ReportInputs:
    """Return the inputs with waves in the order of the index, however they were read.

    A tie, such as between two equally slow executions, then ends the same way each time.  `waves` says whose
    costs are explained: `working`, `all`, or a population; raise UsageError for another word.
    """
    found = sorted(batches, key=lambda batch: batch.waves[0].row if batch.waves else -1)
    rows = [wave.row for batch in found for wave in batch.waves]
    if any(late <= early for early, late in pairwise(rows)):
        found = _regrouped(found)
    made = ReportInputs(trace, tuple(found), facts, waves)
    assert made.choice
    return made


def _regrouped(batches: list[WaveBatch]) -> list[WaveBatch]:
    """One batch with each wave once; what is missing is told as before."""
    waves = {wave.row: wave for batch in batches for wave in batch.waves}
    missing = sorted({gone for batch in batches for gone in batch.missing})
    return [batch_of([waves[row] for row in sorted(waves)], tuple(missing))]
