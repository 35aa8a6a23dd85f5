"""What was wrong but did not stop us."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a problem costs the reader of the trace."""

    INFO = "info"  # nothing is lost, but the reader should know
    WARNING = "warning"  # a part is missing or doubtful
    ERROR = "error"  # a file or a view is lost


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence about one thing that is wrong: what, where, what to do.

    `text` ends with a full stop and names the file when there is one; `hint` says what to do;
    `panels` lists ids of the panels whose empty state should show it.
    """

    severity: Severity
    where: str
    text: str
    hint: str = ""
    panels: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text} {self.hint}".strip()
