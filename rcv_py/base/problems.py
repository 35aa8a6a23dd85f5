"""Problems that did not stop the work."""

from enum import StrEnum

from rcv_py.base.record import Value
from rcv_py.base.text import join_texts


class Severity(StrEnum):
    """Severity of a problem for the reader of the trace."""

    INFO = "info"  # a note: nothing is lost
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


class Problem(Value):
    """One problem: what is wrong, where, and the remedy.

    `text` ends with a full stop and names the file when there is one; `hint` says what to do; `affects` names
    the data whose absence it explains.  `brief`, the short form where the whole is shown elsewhere, is set if
    that is most of the data of a capture.
    """

    severity: Severity
    where: str
    text: str
    hint: str = ""
    affects: tuple[Affects, ...] = ()
    brief: str = ""

    def __str__(self) -> str:
        return join_texts(" ", filter(None, (self.text, self.hint)))


class Problems(list[Problem]):
    """Problems found so far, in order."""

    def inform(self, where: str, text: str, hint: str = "", *affects: Affects, brief: str = "") -> None:
        """Add a note: nothing is lost."""
        self.append(Problem(Severity.INFO, where, text, hint, affects, brief))

    def warn(self, where: str, text: str, hint: str = "", *affects: Affects, brief: str = "") -> None:
        """Add a warning: a part is missing or doubtful."""
        self.append(Problem(Severity.WARNING, where, text, hint, affects, brief))

    def fail(self, where: str, text: str, hint: str = "", *affects: Affects) -> None:
        """Add an error: a file or a view is lost."""
        self.append(Problem(Severity.ERROR, where, text, hint, affects))
