"""Results of analyses of the waves of a capture, in memory or read from files.

A caller that knows all the analyses it needs requests them together, so that waves are read once; any other
analysis runs when its result is first used.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from rcv_py.analysis.core.reduction import Reduction, Staged
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import CancelFlag, Report, silent, stoppable
from rcv_py.base.text import Message
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

AnyReduction = Reduction[Any, Any]
Analysis = AnyReduction | Staged[Any, Any, Any]
Part = TypeVar("Part")
Answer = TypeVar("Answer")
Rows = frozenset[int] | None  # of the wave index, whose costs count; None: all


class Answers(ABC):
    """The results for the waves that could be read, each computed once."""

    def __init__(self, trace: Trace, waves: int, cancel: CancelFlag | None = None) -> None:
        self.trace, self._cancel = trace, cancel or CancelFlag()
        self.waves = waves  # how many there are to read
        self.missing: dict[int, str] = {}  # rows of waves that could not be read, ascending, and why
        self.errors: list[RcvError] = []  # why some waves were dropped
        self._staged: dict[Staged[Any, Any, Any], AnyReduction] = {}
        self._parts: dict[tuple[AnyReduction, Rows], Any] = {}
        self._answers: dict[tuple[AnyReduction, Rows], Any] = {}

    @property
    def read(self) -> int:
        """How many waves were read."""
        return self.waves - len(self.missing)

    @property
    def is_kept(self) -> bool:
        """Whether waves are read only once, for any number of requests."""
        return True

    def ask(self, analyses: Iterable[Analysis], rows: Rows = None) -> None:
        """Run the analyses without a result yet in one pass over all waves; the costs of `rows` count.

        Request the first results of staged analyses beforehand, else they cost another pass.
        """
        analyses = list(analyses)
        self._ask(firsts(analyses), None)
        self._ask([self._plain(one) for one in analyses], rows)

    def of(self, analysis: Reduction[Part, Answer] | Staged[Any, Part, Answer], rows: Rows = None) -> Answer:
        """Return the result of an analysis of all waves; the costs of `rows` count."""
        reduction = self._plain(analysis)
        key = reduction, rows
        if key not in self._answers:
            self._ask([reduction], rows)
            with stoppable(self._cancel):
                self._answers[key] = reduction.finish(self.trace, self._parts.pop(key))
        answer: Answer = self._answers[key]
        return answer

    def part(self, reduction: Reduction[Part, Any], rows: Rows = None) -> Part:
        """Return the part of all waves, to be merged with other parts; the costs of `rows` count."""
        self._ask([reduction], rows)
        part: Part = self._parts.pop((reduction, rows))
        return part

    def _plain(self, analysis: Analysis) -> AnyReduction:
        if isinstance(analysis, Reduction):
            return analysis
        if analysis not in self._staged:
            self._staged[analysis] = analysis.then(self.of(analysis.first))
        return self._staged[analysis]

    def _ask(self, reductions: Iterable[AnyReduction], rows: Rows) -> None:
        unknown = [
            one
            for one in dict.fromkeys(reductions)
            if (one, rows) not in self._parts and (one, rows) not in self._answers
        ]
        if unknown:
            with stoppable(self._cancel):
                parts = self._look(unknown, rows)
            self._parts.update(((one, rows), part) for one, part in zip(unknown, parts, strict=True))

    @abstractmethod
    def _look(self, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        """Return the part that each reduction makes of all waves."""


def firsts(analyses: Iterable[Analysis]) -> list[AnyReduction]:
    """Return the first results that the staged analyses need of all waves."""
    return [one.first for one in analyses if isinstance(one, Staged)]


class InMemory(Answers):
    """Results for waves that are in memory.  A request raises Cancelled soon after `cancel` is set.

    `report` gets the name of the pass over all waves, and how many waves were read.
    """

    def __init__(
        self,
        trace: Trace,
        batches: Iterable[WaveBatch],
        cancel: CancelFlag | None = None,
        report: Report = silent,
    ) -> None:
        self._report, self._looks = report, 0
        self.batches = tuple(batches)
        read = {wave.row for batch in self.batches for wave in batch.waves}
        lost = (one for batch in self.batches for one in batch.missing)
        missing = {row: text for row, text in lost if row not in read}
        super().__init__(trace, len(read) + len(missing), cancel)
        self.missing = dict(sorted(missing.items()))

    def _look(self, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        parts = []
        for one in reductions:
            self._looks += 1
            name = "waves" if self._looks == 1 else Message("step {0}, waves", self._looks)
            each = one.each(self.trace, self.batches, rows, report=self._report, name=name)
            parts.append(one.merge(list(each)))
        return parts
