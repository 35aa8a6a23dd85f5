"""What reductions said about the waves of a trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.errors import RcvError
from rcv_py.model.trace import Trace

AnyReduction = Reduction[Any, Any]
Part = TypeVar("Part")
Answer = TypeVar("Answer")
Rows = frozenset[int] | None  # of the wave index; None: all


@dataclass(eq=False)
class Answers:
    """The answers for the waves that could be read; each is finished when it is first asked for."""

    trace: Trace
    of: int  # waves that were to be read
    rows: Rows = None  # whose costs count for the reductions that explain
    missing: dict[int, str] = field(default_factory=dict)  # rows of waves that could not be read, and why
    errors: list[RcvError] = field(default_factory=list)  # why strips were given up
    parts: dict[AnyReduction, Any] = field(default_factory=dict)
    _answers: dict[AnyReduction, Any] = field(default_factory=dict)

    @property
    def read(self) -> int:
        """How many waves were read."""
        return self.of - len(self.missing)

    def __contains__(self, reduction: AnyReduction) -> bool:
        """Whether a reduction was answered."""
        return reduction in self.parts

    def __getitem__(self, reduction: Reduction[Part, Answer]) -> Answer:
        """Return the answer of a reduction; KeyError if it was not wanted."""
        if reduction not in self._answers:
            self._answers[reduction] = reduction.finish(self.trace, self.parts[reduction])
        answer: Answer = self._answers[reduction]
        return answer
