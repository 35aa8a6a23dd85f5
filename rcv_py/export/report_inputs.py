"""What sections of a report are written from: a capture with its waves, and analyses that several share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.device_summary import DeviceSummary, device_summary
from rcv_py.analysis.wait_summary import WaitSummary, wait_summary
from rcv_py.export.places import leaf_texts, short_places
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
        return device_summary(self.trace, self.batches)

    @cached_property
    def waits(self) -> WaitSummary:
        """Who waited for whom."""
        return wait_summary(self.trace, self.batches)

    @cached_property
    def causes(self) -> Attribution | None:
        """Why cycles were spent; None without any wave."""
        return attribution(self.trace, self.batches) if self.waves else None

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
