"""What was wrong but did not stop us."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a problem costs the reader of the trace."""

    INFO = "info"  # nothing is lost, but the reader should know
    WARNING = "warning"  # a part is missing or doubtful
    ERROR = "error"  # a file or a view is lost


class Affects(StrEnum):
    """A kind of data that a problem makes missing or doubtful; the window knows which panels show it."""

    WAVES = "waves"  # traced waves and the times of their instructions
    OCCUPANCY = "occupancy"  # when waves ran on all compute units
    CODE = "code"  # instructions and their totals
    SOURCE_LINES = "source lines"  # which source line an instruction belongs to
    SOURCE_TEXT = "source text"  # the files themselves
    COUNTERS = "counters"
    MARKERS = "markers"


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence about one thing that is wrong: what, where, what to do.

    `text` ends with a full stop and names the file when there is one; `hint` says what to do;
    `affects` names the data that it explains the absence of.  `brief` is set where that is most of what a
    capture could hold: all that is said of it where the whole is said elsewhere.
    """

    severity: Severity
    where: str
    text: str
    hint: str = ""
    affects: tuple[Affects, ...] = ()
    brief: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.hint}".strip()


class Problems(list[Problem]):
    """What was found wrong so far, in that order."""

    def inform(self, where: str, text: str, hint: str = "", *affects: Affects, brief: str = "") -> None:
        """Add something that costs the reader nothing."""
        self.append(Problem(Severity.INFO, where, text, hint, affects, brief))

    def warn(self, where: str, text: str, hint: str = "", *affects: Affects, brief: str = "") -> None:
        """Add that a part is missing or doubtful."""
        self.append(Problem(Severity.WARNING, where, text, hint, affects, brief))

    def fail(self, where: str, text: str, hint: str = "", *affects: Affects) -> None:
        """Add that a file or a view is lost."""
        self.append(Problem(Severity.ERROR, where, text, hint, affects))
