"""What sections of a report are written from: the inputs of findings, and analyses that several share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.core.answers import Answers, InMemory
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, all_lines, cost_columns
from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.health.capture_health import capture_health
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.overview.device_summary import DeviceSummary, device_summary
from rcv_py.analysis.waits.wait_latency import WaitSummary, wait_summary
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.analysis.waves.wave_facts import WAVE_FACTS, WaveFacts
from rcv_py.base.text import short_paths, short_place
from rcv_py.model.code import CodeTable
from rcv_py.model.ids import WaveId
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch


class ReportInputs(FindingInputs):
    """A capture, all its waves, and whose costs are explained."""

    @cached_property
    def code(self) -> CodeTable:
        """The program with the totals of the waves that are explained; those of code.json if all are."""
        if self.rows is None:
            return self.trace.code
        return all_lines(self.batches, len(self.trace.code), self.rows).on(self.trace.code)

    @cached_property
    def costs(self) -> CostColumns:
        """Costs of each line, summed over all waves, as `rcv hotspot` prints them."""
        return cost_columns(self.trace.code)

    @property
    def is_sampled(self) -> bool:
        """Whether costs are PC samples."""
        return self.costs.label == SAMPLES

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return SAMPLES if self.is_sampled else "cycles"

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
        return self.attribution if self.waves else None

    @cached_property
    def findings(self) -> Findings:
        """The findings of `rcv triage --all`."""
        return of_inputs(self)

    @cached_property
    def health(self) -> tuple[HealthNote, ...]:
        """The notes of `rcv check`."""
        return capture_health(self.trace, self.batches)

    @cached_property
    def answers(self) -> Answers:
        """What analyses say about the waves."""
        return InMemory(self.trace, self.batches)

    @property
    def lives(self) -> WaveFacts:
        """All waves that could be read, by their place in the index."""
        return self.answers.of(WAVE_FACTS)

    def wave(self, id: WaveId) -> Wave | None:
        """Read one wave; None if it is not there or damaged."""
        row = self.trace.waves.row(id)
        waves = () if row is None else self.trace.reader.read([row]).waves
        return waves[0] if waves else None

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The innermost source place of each line, "" where there is none."""
        return leaf_texts(self.trace.code, self.trace.sources)

    @cached_property
    def short_sources(self) -> tuple[str, ...]:
        """The same with as many folders as tell equal names apart."""
        short = short_paths(place.rpartition(":")[0] for place in self.sources if place)
        return tuple(short_place(place, short) for place in self.sources)


def report_inputs(
    trace: Trace, batches: Iterable[WaveBatch], facts: RunFacts | None = None, waves: str = WORKING
) -> ReportInputs:
    """Return the inputs with waves in the order of the index, however they were read.

    A tie, such as between two equally slow executions, then ends the same way each time.  `waves` says whose
    costs are explained: `working`, `all`, or a population; raise UsageError for another word.
    """
    ordered = sorted(batches, key=lambda batch: batch.waves[0].row if batch.waves else -1)
    rows = [wave.row for batch in ordered for wave in batch.waves]
    if any(late <= early for early, late in pairwise(rows)):
        by_row = {wave.row: wave for batch in ordered for wave in batch.waves}  # each wave once
        missing = tuple(sorted({row for batch in ordered for row in batch.missing}))
        ordered = [batch_of([by_row[row] for row in sorted(by_row)], missing)]
    inputs = ReportInputs(trace, ordered, facts=facts, waves=waves)
    assert inputs.choice
    return inputs
