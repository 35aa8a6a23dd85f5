"""Health of a capture: whether its numbers can be trusted, and how to record a better one.

Each module checks for one kind of problem and returns a `HealthNote` or None.  The notes are about the
recording, not about what is slow in the kernel.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.health import missing
from rcv_py.analysis.health.buffer import ENDS, buffer
from rcv_py.analysis.health.grid_fill import concurrent_kernels, tail, underfilled
from rcv_py.analysis.health.mapping import collapsed, debug_info, sources
from rcv_py.analysis.health.note import HealthNote, ranked
from rcv_py.analysis.health.replicates import replicate
from rcv_py.analysis.health.representative import hardly_ran, left_early, representative
from rcv_py.analysis.program.branches import ends_of
from rcv_py.analysis.program.code_match import MATCH
from rcv_py.analysis.waves.populations import POPULATIONS
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.model.trace import Trace

HEALTHY = "healthy"
NOTABLE_DRAIN = 0.05  # of the latency
NOT_RUN = "not_run"  # the note about a compiled program
NO_MAP = "debug_info"  # the note about instructions without a source line
# What is checked, for readers if nothing is reported.
CHECKED = (
    "whether waves were traced",
    "whether the instruction texts belong to the trace",
    "whether the record was cut off",
    "whether the traced waves work",
    "files and instructions that do not match",
    "the map to source lines",
    "how the traced compute unit compares with the others",
    "other kernels at the same time",
    "whether markers were lost",
    "how full the device was",
    "hardware counters",
)
OF_WAVES = (MATCH, ENDS, missing.UNMATCHED, POPULATIONS)  # reductions over waves


def health_notes(
    trace: Trace,
    ask: Callable[[Reduction[Any, Any]], Any] | None = None,
    unread: Iterable[int] = (),
    other: Trace | None = None,
) -> tuple[HealthNote, ...]:
    """Return the notes against trusting a capture, worst first; () if there are none.

    `ask` returns the result of each of OF_WAVES; without it only the index, code.json and occupancy.json are
    checked, which takes milliseconds.  `unread` are index rows of waves whose files could not be read;
    `other` is another capture of the same instructions.
    """
    match, ends, lost, ways = (None if ask is None else ask(reduction) for reduction in OF_WAVES)
    of_waves = (missing.placeholder, missing.markers, missing.lost_markers)
    of_tables = (missing.unreadable, missing.no_costs, missing.clocks)
    last = (concurrent_kernels, debug_info, sources, underfilled, tail, missing.counters, missing.not_traced)
    notes = (
        *(check(trace) for check in (*of_waves, *of_tables)),
        None if match is None else missing.wrong_code(trace, match),
        buffer(trace, ends),
        missing.lost_files(trace, unread),
        missing.unmatched(trace, lost),
        None if lost is None else missing.contradicted(trace, lost),
        hardly_ran(trace),
        None if ways is None else left_early(ways),
        collapsed(trace),
        representative(trace, ways.working if ways is not None and ways.has_working else None),
        *(check(trace) for check in last),
        replicate(trace, other),
    )
    return ranked(notes)


def table_problems(trace: Trace) -> tuple[Problem, ...]:
    """Return the problems that show in the tables alone, as sentences for the list of problems."""
    notes = (missing.unreadable(trace), missing.no_costs(trace), hardly_ran(trace), collapsed(trace))
    problems = [note.problem("code.json") for note in notes if note is not None]
    code = trace.code
    cycles, total = int(code.latency[ends_of(code)].sum()), int(code.latency.sum())
    if total and cycles >= NOTABLE_DRAIN * total:
        template = "{0} of the latency is s_endpgm: waves that wait for their last stores."
        text = Message(template, percent(cycles, total))
        hint = "It is counted as issue, but nothing is issued there."
        problems.append(Problem(Severity.INFO, "code.json", text, hint))
    return tuple(problems)


def problems(trace: Trace) -> tuple[Problem, ...]:
    """Return the problems of opening and of the tables, each text once."""
    return tuple({problem.text: problem for problem in (*trace.problems, *table_problems(trace))}.values())


def verdict(notes: Sequence[HealthNote]) -> str:
    """Return the number of notes of each severity: `1 error, 2 warnings`."""
    names = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
    numbers = [(sum(note.severity is severity for note in notes), name) for severity, name in names]
    return join_texts(", ", (plural(number, name) for number, name in numbers if number)) or HEALTHY


def headline(notes: Sequence[HealthNote]) -> str:
    """Return the title of the worst serious note, or a sentence that there is none.

    A capture without any source line is not called healthy: costs are known by instruction only.  Nor is a
    program that has not run.
    """
    serious = [note.title for note in notes if note.is_serious]
    lacking = [note.title for name in (NOT_RUN, NO_MAP) for note in notes if note.name == name]
    return next(iter((*serious, *lacking)), HEALTHY)
