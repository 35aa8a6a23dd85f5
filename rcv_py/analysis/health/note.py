"""A note about a capture's quality: evidence, consequence and remedy."""

from collections.abc import Iterable, Mapping

from msgspec import field

from rcv_py.base.problems import Problem, Severity
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, count, join_texts, percent

Setting = str | int | bool

RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Measured(Value):
    """A number that supports a note; `text` is the value as shown, with its unit and its whole."""

    name: str
    value: int | float | str
    text: str


def part(name: str, number: int, total: int, more: str = "") -> Measured:
    """Return a number with its total: `17 of 4,948 (0.3 %)`."""
    text = Message("{0} of {1}{2} ({3})", count(number), count(total), more, percent(number, total))
    return Measured(name, number, text)


def share(name: str, value: float, of: str = "") -> Measured:
    """Return a share, 0 to 1, as `4.7 %`, followed by its whole."""
    return Measured(name, value, Message("{0}{1}", percent(value, 1), of))


def number(name: str, value: float, text: str = "{0}", *more: object) -> Measured:
    """Return a number in a text with other values: `4,948 cycles`."""
    return Measured(name, value, Message(text, count(round(value)), *more))


class HealthNote(Record):
    """A finding about the recording, not about the kernel's speed.

    The severities: ERROR, numbers are wrong or missing; WARNING, a conclusion drawn from them may be wrong;
    INFO, nothing is wrong, but the reader should know.  `settings` are options of rocprofv3 by their name in
    an input file, such as `att_buffer_size`; empty if no setting of the profiler helps.
    """

    name: str
    title: str  # without a full stop
    evidence: tuple[Measured, ...]
    consequence: str  # a sentence
    remedy: str  # a sentence
    severity: Severity = Severity.WARNING
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def is_serious(self) -> bool:
        """Whether a reader could be misled."""
        return self.severity is not Severity.INFO

    def number(self, name: str) -> int | float | str | None:
        """The value of a piece of evidence, None if the note has no such name."""
        return next((fact.value for fact in self.evidence if fact.name == name), None)

    def problem(self, where: str) -> Problem:
        """Return the note as an entry of the list of problems."""
        return Problem(self.severity, where, f"{self.title}. {self.consequence}", self.remedy)

    @property
    def evidence_text(self) -> str:
        """All evidence on one line."""
        return join_texts("; ", (Message("{0}: {1}", fact.name, fact.text) for fact in self.evidence))


def ranked(notes: Iterable[HealthNote | None]) -> tuple[HealthNote, ...]:
    """Return the notes without None, worst first; notes of equal severity keep their order."""
    return tuple(sorted((note for note in notes if note is not None), key=lambda note: RANK[note.severity]))
