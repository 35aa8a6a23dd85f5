"""Open the capture of a path on the command line, its waves, and the waves that count.

`--waves`, `--wave`, `--se`, `--from` and `--to` choose whose costs a table sums.  Waves that do not count
still occupy units and hide cycles, so all waves are read.  Totals come from reductions, which keep no waves.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.reduction import Analysis, Answers, Reduction, Staged, firsts
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.health.missing import UNMATCHED
from rcv_py.analysis.program.code_match import CONSEQUENCE, MATCH, REMEDY
from rcv_py.analysis.waves.populations import ALL, POPULATIONS, WORKING, Populations, WaveChoice, wave_choice
from rcv_py.base.errors import NotATrace, UsageError
from rcv_py.base.record import Record
from rcv_py.base.text import Message, count, join_texts, plural, translated
from rcv_py.cli.options.option import written
from rcv_py.cli.options.shared import OfCapture, OfWaves, OverCaptures, WithRunFiles
from rcv_py.cli.terminal import complain, progress, watched
from rcv_py.formats.locate import MAX_DEPTH, locate
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.work.opening import open_trace

Part = TypeVar("Part")
Answer = TypeVar("Answer")
PROBED_WAVES = 4  # that are compared with the instructions: a wave has hundreds of executions
MAX_PROBED_BYTES = 4 << 20  # of the file of such a wave
NO_CODE = (
    "The instructions of the capture could not be read: costs of instructions, loops, causes, waits and the "
    "work of the MFMA unit are not known, and zeros of them mean nothing."
)


def opened(options: OfCapture, path: Path | None = None) -> Trace:
    """Open the capture of a command, or another one."""
    return open_trace(path or options.folder, cache=options.cache)


def captures(path: Path) -> tuple[Path, ...] | None:
    """Return the captures below a folder; None if the path is itself a capture or contains none."""
    located = locate(path)
    if located.error is not None or located.is_capture:  # opening it reports why
        return None
    return located.captures() or None


def all_captures(paths: Iterable[Path]) -> list[Path]:
    """Return the captures at or below the paths, each once; a path without a capture is kept."""
    return list(dict.fromkeys(found for path in paths for found in captures(path) or (locate(path).folder,)))


def captures_below(folders: Sequence[Path], depth: int = MAX_DEPTH) -> tuple[Path, list[Path], list[str]]:
    """Return the common folder of the paths, and the captures up to `depth` folders below them, each once.

    The third are sentences about folders that may not be read, which are also printed.  Raise TraceError if
    there is no capture.
    """
    one = len(folders) == 1
    root = folders[0] if one else Path(os.path.commonpath([folder.absolute() for folder in folders]))
    closed: list[Path] = []
    paths = list(dict.fromkeys(path for folder in folders for path in locate(folder).captures(depth, closed)))
    problems = [Message("{0} may not be read.", path) for path in closed]
    for problem in problems:
        complain(problem)
    if not paths:
        raise NotATrace(root, Message("no capture lies up to {0} folders below it", depth))
    return root, paths, [*problems]


def below(root: Path, path: Path) -> str:
    """Return the path of a capture below a folder, for people; its name if it lies elsewhere."""
    try:
        return str(path.resolve().relative_to(root.resolve()))
    except ValueError:
        return path.name


def facts_of(trace: Trace, options: WithRunFiles) -> RunFacts:
    """Return the facts of the tables of the run, from `--run-files` if given; raise UsageError."""
    return facts_about(trace, options.run_files or ())


def batches(trace: Trace, rows: Collection[int] | None = None) -> Iterator[WaveBatch]:
    """Read waves, all by default, in batches and in order, and show progress.

    For callers that need instructions and not only sums: they take what they need from each batch.
    """
    from rcv_py.work import load  # noqa: PLC0415 - commands that read no waves do not wait for the pool

    jobs = load.plan(trace.waves, range(len(trace.waves)) if rows is None else sorted(rows))
    read = map(trace.reader.read, jobs)
    return watched(read, load.STAGE, sum(map(len, jobs)), lambda one: len(one.waves) + len(one.missing))


def markers(trace: Trace) -> MarkerSpans:
    """Return the scopes of markers; waves are read for them if there is any shader data."""
    from rcv_py.analysis.events.marker_spans import MARKERS, marker_spans  # noqa: PLC0415 - few captures need it

    analysis = MARKERS[ReferenceRule.OURS]
    return answers(trace, (analysis,)).of(analysis) if trace.has_shader_data else marker_spans(trace, ())


def warn(trace: Trace) -> str:
    """Warn on stderr if instruction texts are missing or of other code; return the warning, "" if none."""
    if len(trace.waves) and not len(trace.code):
        complain(NO_CODE)
        return NO_CODE
    size = np.where(trace.waves.size <= MAX_PROBED_BYTES, trace.waves.size, 0)
    rows = np.argsort(-size, kind="stable")[:PROBED_WAVES]
    rows = rows[size[rows] > 0]
    some = [trace.reader.read(np.sort(rows).tolist())] if len(rows) else []
    if lost := UNMATCHED.of(trace, some).sentence:
        complain(lost)
    match = MATCH.of(trace, some)
    if not match.is_wrong:
        return ""
    remedy = f"{translated(CONSEQUENCE)} {translated(REMEDY)}"
    complain(f"{match.sentence} {match.examples_text(trace.code)}", remedy)
    return match.sentence


UNREADABLE = "No wave could be read; `rcv info --read` says why."


class ChosenWaves(Record):
    """A capture of which some waves count: the trace, the results over its waves, and which waves count."""

    trace: Trace
    alarm: str  # warning that instruction texts are of other code, "" if they fit
    answers: Answers | None = None  # None: no wave was read, all of them count
    choice: WaveChoice | None = None
    is_selected: bool = False  # whether options name waves by what they are, not by a population

    def of(self, analysis: Reduction[Part, Answer] | Staged[Any, Part, Answer]) -> Answer:
        """Return the answer of an analysis for the waves that count."""
        if self.answers is None:
            return answers(self.trace, (analysis,)).of(analysis)
        return self.answers.of(analysis, self.rows)

    def of_all(self, analysis: Reduction[Part, Answer] | Staged[Any, Part, Answer]) -> Answer:
        """Return the answer of an analysis for all waves."""
        return replace(self, choice=None).of(analysis)

    @property
    def populations(self) -> Populations | None:
        """The paths that waves took; None if no wave was read."""
        return None if self.answers is None else self.answers.of(POPULATIONS)

    @property
    def rows(self) -> frozenset[int] | None:
        """Rows of the wave index that count, None for all."""
        return None if self.choice is None else self.choice.rows

    @property
    def read(self) -> int:
        """How many waves were read."""
        return 0 if self.answers is None else self.answers.read

    @cached_property
    def code(self) -> CodeTable:
        """The program with the totals of the waves that count; the totals of code.json if all do."""
        is_all = self.rows is None and self.read == len(self.trace.waves) and self.trace.code.hits.any()
        if self.answers is None or is_all:
            return self.trace.code
        return self.of(LINES).on(self.trace.code)

    @property
    def missing(self) -> str:
        """Which waves could not be read, a sentence; "" if all could."""
        return "" if self.populations is None else missing_text(self.read, len(self.trace.waves))

    @property
    def heading(self) -> str:
        """Which waves the table covers, and which are missing or may be wrong; "" if it covers all."""
        if self.choice is None or self.populations is None or self.answers is None:
            return ""
        is_part = self.rows is not None or (self.read and not self.populations.has_working)
        is_all = self.choice.name == ALL or self.rows is None or self.is_selected
        hint = "" if is_all else "; --waves all sums all of them"
        is_named = is_part and (self.choice.name != ALL or self.rows is not None)
        of = Message("Of {0}{1}.", self.choice.text, hint) if is_named else ""
        return join_texts(" ", filter(None, [of, self.missing, self.answers.doubt]))

    @property
    def whose(self) -> str:
        """The waves that count, for a sentence about a sum over them."""
        return "all waves" if self.rows is None and self.choice is None else "these waves"

    @property
    def about(self) -> dict[str, Any] | None:
        """The choice for a JSON document."""
        return None if self.choice is None else wave_facts(self.choice, len(self.trace.waves))

    def why_none(self, subject: str) -> str:
        """Why nothing is known about a subject: no wave was traced or readable; "" if a wave was read."""
        if self.trace.is_static:
            return Message("This program has not run, so nothing is known about {0}.", subject)
        if not len(self.trace.waves):
            return Message("The capture has no traced waves, so nothing is known about {0}.", subject)
        return "" if self.read else UNREADABLE


def refuse_unrun(trace: Trace, subject: str) -> None:
    """Raise UsageError if a table of costs is asked of a compiled program that has not run."""
    if trace.is_static:
        text = Message("This program has not run, so nothing is known about {0}.", subject)
        hint = "Read it with `rcv isa`, `rcv registers`, `rcv loops` and `rcv schedule`, or record it."
        raise UsageError(text, hint=hint)


def choose_waves(
    options: OfWaves, explaining: Sequence[Analysis] = (), wanted: Sequence[Analysis] = ()
) -> ChosenWaves:
    """Open a capture, read its waves and choose those that count; raise UsageError for unknown ones.

    They are read once, for the analyses `explaining` the waves that count and the analyses `wanted` of all
    waves.
    """
    trace = opened(options)
    return chosen(trace, options, warn(trace), explaining, wanted)


def counted_waves(options: OfWaves, explaining: Sequence[Analysis] = ()) -> ChosenWaves:
    """Open a capture for a table of totals over the chosen waves, by default all.

    Without a choice, and for all waves, totals come from code.json; then no wave is read, and nothing is
    explained.
    """
    trace = opened(options)
    alarm = warn(trace)
    has_costs = not len(trace.waves) or not len(trace.code) or trace.code.hits.any()
    if options.waves in (None, ALL) and not selection(options) and has_costs:
        return ChosenWaves(trace, alarm)
    refuse(trace, options, "the capture has no traced waves.")
    counted = chosen(trace, options, alarm, (LINES, *explaining))
    return replace(counted, trace=replace(trace, code=counted.code))


def selection(options: OfWaves) -> str:
    """Return the options that choose waves by what they are, as they are written; "" without any."""
    values = {name: vars(options)[name] for name in options.chosen_by}
    return " ".join(written(name, value) for name, value in values.items() if value is not None)


def chosen(
    trace: Trace,
    options: OfWaves,
    alarm: str = "",
    explaining: Sequence[Analysis] = (),
    wanted: Sequence[Analysis] = (),
) -> ChosenWaves:
    """Read all waves and choose those that count: by default the usual ones of the command.

    A wave that is named counts whether it works or not.
    """
    inside: set[int] | None = None  # rows of the waves that --wave, --se, --from and --to leave
    if selection(options):
        check_engine(trace, options.se, "traced")
        inside = counted_rows(trace.waves, options.se, trace.within(options.clock))
        inside &= inside if options.wave is None else {trace.wave_row(options.wave)}
    with looking(trace) as found:
        likely = () if found.is_kept or inside is not None else explaining
        plain = [one for one in likely if isinstance(one, Reduction)]
        found.ask((POPULATIONS, *wanted, *firsts(explaining), *plain))
        choice = _choice(found, options, inside)
        found.ask(explaining, choice.rows)
    return ChosenWaves(trace, alarm, found, choice, inside is not None)


def answers(trace: Trace, wanted: Sequence[Analysis], rows: Iterable[int] | None = None) -> Answers:
    """Run analyses over waves, all by default, and show progress."""
    with looking(trace, rows) as found:
        found.ask(wanted)
    return found


@contextmanager
def looking(trace: Trace, rows: Iterable[int] | None = None) -> Iterator[Answers]:
    """Provide answers about waves, all by default, and show progress in the block."""
    from rcv_py.work.reduce import Reducer  # noqa: PLC0415 - commands that read no waves do not wait for the pool

    with progress() as report, Reducer(trace, rows, report=report) as found:
        yield found


@contextmanager
def announced(waves: ChosenWaves, options: OfWaves) -> Iterator[Answers]:
    """Provide answers about all waves, for a command whose totals need no wave.

    After the block it reports which waves could not be read or may be wrong: above a table, and on stderr for
    output that programs read.
    """
    if waves.answers is not None:  # for chosen waves the heading reports it
        yield waves.answers
        return
    with looking(waves.trace) as found:
        yield found
    lost = missing_text(found.read, len(waves.trace.waves))
    if lost and not options.form:
        lost = Message("{0} Results that need them cover the other waves.", lost)
    for said in filter(None, (lost, found.doubt)):
        if options.form:
            complain(said)
        else:
            print(translated(said) + "\n")


def _choice(found: Answers, options: OfWaves, inside: set[int] | None) -> WaveChoice:
    usual = ALL if options.wave is not None else options.usual_waves or WORKING
    choice = wave_choice(found.of(POPULATIONS), options.waves or usual)
    if inside is None:
        return choice
    rows = frozenset(inside - found.missing.keys())
    rows = rows if choice.rows is None else rows & choice.rows
    what = "working " if choice.name == WORKING and choice.rows is not None else ""
    text = Message("{0:,} {1}{2} of {3:,}", len(rows), what, "wave" if len(rows) == 1 else "waves", choice.of)
    return replace(choice, rows=rows, waves=len(rows), text=f"{text} ({selection(options)})")


def refuse(trace: Trace, options: OfWaves, why: str) -> None:
    """Raise UsageError if waves are chosen in a capture without waves; `why` is a sentence."""
    words = written("waves", options.waves) if options.waves not in (None, ALL) else selection(options)
    if words and not len(trace.waves):
        name = words.split()[0]
        text = Message("{0} cannot be honoured here: {1}", name, why)
        raise UsageError(text, hint=Message("Leave {0} out.", name))


def missing_text(read: int, of: int) -> str:
    """Return a sentence that some waves could not be read; "" if all could."""
    if read >= of:
        return ""
    files = "its file is" if of - read == 1 else "their files are"
    gone, waves = count(of - read), plural(of, "traced wave")
    return Message("{0} of {1} could not be read: {2} missing or damaged.", gone, waves, files)


def wave_facts(choice: WaveChoice, traced: int) -> dict[str, Any]:
    """Return the description of the covered waves for a JSON document."""
    return {
        "chosen": choice.name,
        "counted": choice.waves,
        "read": choice.of,
        "traced": traced,
        "text": choice.text,
    }


def refuse_for_one(options: OverCaptures) -> None:
    """Raise UsageError for options about many captures if there is only one."""
    for flag in ("jobs", "cluster"):
        if flag in options.given:
            hint = "Name a folder that holds them, or leave it out."
            raise UsageError(Message("--{0} is about several captures.", flag), hint=hint)


def ends_of(window: TimeWindow | None) -> list[int] | None:
    """Return a window as documents hold it."""
    return None if window is None else [window.begin, window.end]


def check_engine(trace: Trace, se: int | None, which: str) -> None:
    """Raise UsageError if no traced, or no resident, wave ran on the shader engine."""
    there = np.unique(trace.waves.se if which == "traced" else trace.occupancy.se).tolist()
    if se is not None and there and se not in there:
        text = Message("No {0} wave is on shader engine {1}.", which, se)
        raise UsageError(text, hint=Message("There are: {0}.", ", ".join(map(str, there))))


def wave_of(trace: Trace, name: str) -> TracedWave:
    """Read one wave; raise UsageError if no wave has that name, or if it cannot be read."""
    batch = trace.reader.read([trace.wave_row(name)])
    if not batch.waves:
        why = next((text for _, text in batch.missing), "")
        raise UsageError(Message("The wave {0} cannot be read.", name), hint=why)
    return batch.waves[0]


def check_hit(hit: int | None, hits: int) -> None:
    """Raise UsageError for an execution, from 0, that is not one of so many."""
    if hit is not None and hit >= hits:
        raise UsageError(Message("There is no hit {0}.", hit + 1), hint=Message("The last one is {0}.", hits))
