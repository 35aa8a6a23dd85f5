"""Inputs of the sections of a report: inputs of findings, and analyses that several sections share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.wait_costs import WAITS
from rcv_py.analysis.core.cost_columns import LINES, SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.core.reduction import Analysis, Reduction, Staged
from rcv_py.analysis.cost.distribution import LatencySpread, latency_spreads
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.cost.ranking import Ranked, ranking
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.health.capture_health import OF_WAVES, health_notes
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.iterations.segments import SEGMENTS
from rcv_py.analysis.latency.access_holds import HOLDS
from rcv_py.analysis.latency.bubbles import BUBBLES
from rcv_py.analysis.latency.code_fetches import FETCHES
from rcv_py.analysis.latency.hidden_latency import HIDDEN, why_not_hidden
from rcv_py.analysis.overview.device_summary import DeviceSummary, summary_by
from rcv_py.analysis.waves.wave_facts import WAVE_FACTS, WaveFactColumns
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.analysis.whatif.predict import Player
from rcv_py.base.text import short_paths, short_place
from rcv_py.model.code import CodeTable
from rcv_py.model.ids import WaveId
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.notes import Note
from rcv_py.model.waves import TracedWave

RULE = ReferenceRule.OURS
_HOLDS = (SEGMENTS, HOLDS, FETCHES)
TOP_LINES = 15
T = TypeVar("T")


def _counted(analysis: Reduction[Any, T] | Staged[Any, Any, T]) -> cached_property[T]:
    """The result of an analysis for the waves that count, computed when it is first needed."""
    return cached_property(lambda inputs: inputs.answers.of(analysis, inputs.rows))


class ReportInputs(FindingInputs):
    """The facts of a capture, and whose costs are explained.

    `play` reads the waves to replay, if the report has experiments; `rank` predicts what the remedies of
    findings would gain; `notes` are notes by people and agents about the capture.
    """

    bubbles = _counted(BUBBLES[RULE])  # cycles in which nothing happened on a SIMD
    iterations = _counted(LOOPS)  # loops with each of their iterations
    segments = _counted(SEGMENTS)  # what waves do between barriers
    accesses = _counted(HOLDS)  # how long accesses hold LDS and vector memory
    fetches = _counted(FETCHES)  # code that waves waited for
    hidden = _counted(HIDDEN[RULE])  # cycles that other waves hid
    waits = _counted(WAITS)  # the producers of each wait
    play: Callable[[], Player] | None = None
    rank: Callable[[Findings], Findings] | None = None
    notes: Sequence[Note] = ()

    def ask(self, of_all: Sequence[Analysis] = (), of_counted: Sequence[Analysis] = ()) -> None:
        """Read all waves once for results over all waves, and once for results over the waves that count."""
        self.answers.ask((*self.of_all, *OF_WAVES, WORKGROUPS, WAVE_FACTS, self._spreads, *of_all))
        hidden = () if why_not_hidden(self.trace) else (HIDDEN[RULE],)
        super().ask((), (LINES, WAITS, BUBBLES[RULE], LOOPS, *_HOLDS, *hidden, self._summary, *of_counted))

    @cached_property
    def code(self) -> CodeTable:
        """The program with the totals of the explained waves; of code.json if all are explained."""
        if self.rows is None:
            return self.trace.code
        return self.answers.of(LINES, self.rows).on(self.trace.code)

    @cached_property
    def costs(self) -> CostColumns:
        """Costs of each line, summed over all waves, as `rcv hotspot` prints them."""
        return cost_columns(self.trace.code)

    @cached_property
    def top_lines(self) -> tuple[Ranked, ...]:
        """The costliest instructions, the costliest first; their costs are known before waves are read."""
        return ranking(self.trace.code, self.trace.sources, self.costs)[:TOP_LINES]

    @property
    def spreads(self) -> dict[int, LatencySpread]:
        """Durations of the executions of these, by instruction."""
        return self.answers.of(self._spreads)

    @cached_property
    def _spreads(self) -> Reduction[Any, dict[int, LatencySpread]]:
        return latency_spreads(row.line for row in self.top_lines)

    @property
    def is_sampled(self) -> bool:
        """Whether costs are PC samples."""
        return self.costs.label == SAMPLES

    @property
    def unit(self) -> str:
        """The unit of costs."""
        return SAMPLES if self.is_sampled else "cycles"

    @cached_property
    def summary(self) -> DeviceSummary:
        """The numbers of `rcv summary`."""
        return self.answers.of(self._summary, self.rows)

    @cached_property
    def _summary(self) -> Staged[Any, Any, DeviceSummary]:
        return summary_by(self.rows)

    @cached_property
    def causes(self) -> Attribution | None:
        """Why cycles were spent; None without any wave."""
        return self.attribution if self.waves else None

    @cached_property
    def findings(self) -> Findings:
        """The findings of `rcv triage --all`, with its predictions."""
        found = of_inputs(self)
        if self.rank is None:
            return found
        self.answers.end_processes()  # a replay takes as much memory as they do
        return self.rank(found)

    @cached_property
    def player(self) -> Player | None:
        """The replayer of the recording; None without experiments, or if there is nothing to replay."""
        return None if self.play is None or not len(self.trace.waves) else self.play()

    @cached_property
    def health(self) -> tuple[HealthNote, ...]:
        """The notes of `rcv check`."""
        return health_notes(self.trace, self.answers.of if self.answers.waves else None, self.answers.missing)

    @property
    def lives(self) -> WaveFactColumns:
        """All waves that could be read, by their place in the index."""
        return self.answers.of(WAVE_FACTS)

    def wave(self, id: WaveId) -> TracedWave | None:
        """Read one wave; None if it is missing or damaged."""
        row = self.trace.waves.row(id)
        waves = () if row is None else self.trace.reader.read([row]).waves
        return waves[0] if waves else None

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The innermost source place of each instruction, "" if there is none."""
        return leaf_texts(self.trace.code, self.trace.sources)

    @cached_property
    def short_sources(self) -> tuple[str, ...]:
        """The same with as many folders as distinguish equal names."""
        short = short_paths(place.rpartition(":")[0] for place in self.sources if place)
        return tuple(short_place(place, short) for place in self.sources)
