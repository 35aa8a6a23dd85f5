"""`rcv record`: records a kernel with rocprofv3, repeats a truncated or empty capture, and analyses it."""

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count as counted
from itertools import islice
from pathlib import Path
from typing import Any

from rcv_py.analysis.health.capture_health import OF_WAVES, health_notes, verdict
from rcv_py.analysis.health.input_yaml import FILE, job_file
from rcv_py.analysis.health.note import HealthNote, Setting
from rcv_py.base.errors import TraceError, UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural, translated
from rcv_py.cli.answer import CommandAnswer, Facts, put
from rcv_py.cli.commands import view
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import answers
from rcv_py.cli.options.program import ViewOptions
from rcv_py.features.compare import command as compare
from rcv_py.features.compare.options import CompareOptions
from rcv_py.features.findings import command as triage
from rcv_py.features.findings.options import TriageOptions
from rcv_py.features.record import result as recording
from rcv_py.features.record.options import RecordOptions
from rcv_py.formats.open import open_trace
from rcv_py.results.table import ResultTable
from rcv_py.work.recording import recorder as recorded
from rcv_py.work.recording.machine import There, ThisMachine
from rcv_py.work.recording.recorder import PROGRAM, AttachedProcess, Attempt, Recorder, recording_words

AGAIN = 2  # times that a truncated or empty capture is recorded again
SECONDS = 10  # that a running process is recorded
NO_CAPTURE = "no capture was written"
FULL = "The buffer was full"


class CheckedRun(Value):
    """A run of rocprofv3, and the check of its capture."""

    attempt: Attempt
    why: str  # it was recorded; "" of the first run
    notes: tuple[HealthNote, ...]
    has_waves: bool  # the capture to judge

    @property
    def verdict(self) -> str:
        """The check in a sentence."""
        return verdict(self.notes) if self.attempt.capture is not None else f"{NO_CAPTURE.capitalize()}."


def run(options: RecordOptions) -> CommandAnswer | None:
    """Record, check, record again with corrected settings, and analyse the capture; or watch a folder."""
    if options.watch is not None:
        if options.program:
            hint = "Leave out the command, or --watch."
            raise UsageError("--watch records nothing, so it takes no command.", hint=hint)
        _watch(options, options.watch)
        return None
    process = None
    if options.attach is not None:
        process = AttachedProcess(options.attach, options.seconds or SECONDS)
    chosen = _chosen(options)
    settings = {**recorded.DEFAULTS, **chosen}
    if options.yaml:
        # The input file, without recording
        command = options.program or ["./your_program"]
        words = recording_words(options.rocprofv3 or PROGRAM, FILE, command, process)
        text = job_file({**settings, "output_directory": str(options.out)}, [shlex.join(words)], {})
        return CommandAnswer(
            schema=recording.SCHEMA, document=dict, forms={"yaml": lambda: text}, is_written=True
        )
    if options.attach is not None and options.program:
        hint = "Leave out the command, or --attach."
        raise UsageError("--attach records a running process, so it takes no command.", hint=hint)
    if options.attach is None and not options.program:
        hint = "Write it after two dashes: rcv record -- ./my_program."
        raise UsageError("There is no command to record.", hint=hint)
    machine = ThisMachine() if options.host is None else There.parse(options.host)
    tell, limit_s = _teller(options), options.limit
    recorder = Recorder(machine, options.rocprofv3, options.program, tell, process=process, limit_s=limit_s)
    runs = list(_runs(options, recorder, settings, chosen))
    last = runs[-1]
    if last.attempt.capture is None:
        raise last.attempt.why_not()
    return _answer(options, runs, _twin(options, recorder, last) if options.twin else None)


def _runs(
    options: RecordOptions, recorder: Recorder, settings: dict[str, Setting], chosen: Mapping[str, Setting]
) -> Iterator[CheckedRun]:
    """Record until the capture is complete, no setting can improve it, or the limit of runs is reached."""
    why, reasons = "", dict[str, str]()
    for number in range(1 + (0 if options.once else AGAIN)):
        attempt = recorder.record(_new_folder(options.out), settings, reasons)
        if attempt.capture is None and attempt.trouble is not None:
            raise attempt.why_not()
        if attempt.capture is not None and attempt.late is not None:
            say(options, Message("{0}  The capture holds what was written until then.", attempt.late))
        elif attempt.capture is not None and attempt.code:
            ended = "rocprofv3 ended with {0}; the capture holds what ran until then."
            say(options, Message(ended, attempt.code))
        run = CheckedRun(attempt, why, *_notes(attempt.capture))
        yield run
        trouble, wanted = _trouble(run)
        settings, changes = recorded.mended(settings, chosen, wanted)
        if not trouble:
            return
        if not changes or options.once or number == AGAIN:
            kept = sorted(set(wanted) & set(chosen))
            say(options, f"{trouble}. {_why_not_again(options, run, kept, changes)}")
            return
        why, reasons = trouble, {change.name: trouble for change in changes}
        say(options, Message("{0}; recorded again with {1}.", trouble, ", ".join(map(str, changes))))


def _why_not_again(
    options: RecordOptions, run: CheckedRun, kept: list[str], changes: list[recorded.SettingChange]
) -> str:
    """Why a truncated or empty run is not repeated, and what may help."""
    if options.once:
        return "It is not recorded again: --once."
    if changes:
        return Message("It was recorded again {0} times; {1} may help.", AGAIN, ", ".join(map(str, changes)))
    if kept:
        return Message("What would help was already set: {0}.", ", ".join(kept))
    is_cut = run.attempt.is_full or run.has_waves
    may = "a shorter launch may fit" if is_cut else "more workgroups or --engines may reach a traced unit"
    return Message("No setting of rocprofv3 is known to help; {0}.", may)


def _notes(capture: Path | None) -> tuple[tuple[HealthNote, ...], bool]:
    """The check of a capture, and whether any wave was traced."""
    if capture is None:
        return (), False
    try:
        trace = open_trace(capture)
    except TraceError as error:
        what = Message("What was recorded cannot be opened: {0}", error)
        raise UsageError(what, hint=error.hint) from error
    found = answers(trace, OF_WAVES)
    has_waves = bool(found.waves)
    return health_notes(trace, found.of if has_waves else None, found.missing), has_waves


def _trouble(run: CheckedRun) -> tuple[str, dict[str, Setting]]:
    """Why to repeat a run ("" for no), and with which settings."""
    if run.attempt.late is not None:
        return "", {}  # it would hang again
    if run.attempt.capture is None:
        # A program that failed fails again; one that ran may have met no traced shader engine.
        return ("", {}) if run.attempt.code else ("No capture was written", dict(recorded.EMPTY))
    trouble, wanted = recorded.recommended(run.notes)
    if run.attempt.is_full:
        return trouble or FULL, {**recorded.FULL, **wanted}
    return trouble, wanted


def _twin(options: RecordOptions, recorder: Recorder, run: CheckedRun) -> Path | None:
    if not run.has_waves:
        say(options, "There is no twin: a capture without traced waves measures no noise.")
        return None
    say(options, "Recorded again as it was, for a twin.")
    attempt = recorder.record(_new_folder(options.out), run.attempt.settings, {})
    if attempt.capture is None:
        say(options, Message("There is no twin: {0}.", NO_CAPTURE))
    return attempt.capture


def _chosen(options: RecordOptions) -> dict[str, Setting]:
    values: dict[str, Setting | None] = {
        "kernel_include_regex": options.kernel,
        "kernel_iteration_range": None if options.launch is None else f"[{options.launch}]",
        "selected_regions": options.regions or None,
        "marker_trace": options.regions or None,  # without it rocprofv3 does not see the calls
        # rocprofv3 counts the launch that it looks for, too.
        "att_consecutive_kernels": None if options.consecutive is None else 1 + options.consecutive,
        "att_gpu_index": None if options.gpu is None else str(options.gpu),
        "att_target_cu": options.cu,
        "att_shader_engine_mask": options.engines,
        "att_simd_select": options.simds,
        "att_buffer_size": None if options.buffer is None else hex(options.buffer),
        "att_activity": options.activity,
        "att_perfcounter_target_only": options.target_counters or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _new_folder(out: Path) -> Path:
    """The first of `out/1`, `out/2`, … that does not exist."""
    try:
        return next(folder for number in counted(1) if not (folder := out / str(number)).exists())
    except OSError as error:
        what = Message("{0} cannot be used: {1}.", out, error.strerror)
        raise UsageError(what, hint="Choose another --out.") from error


def _teller(options: RecordOptions) -> Any:
    """The printer for output of the program: stderr if documents are printed."""
    stream = sys.stderr if options.form else sys.stdout
    return lambda line: print(translated(line), file=stream, flush=True)


def say(options: RecordOptions, sentence: str) -> None:
    """Print a sentence of rcv."""
    _teller(options)(f"rcv: {sentence}")


def _answer(options: RecordOptions, runs: list[CheckedRun], twin: Path | None) -> CommandAnswer:
    last = runs[-1]
    capture = last.attempt.capture
    assert capture is not None
    is_serious = any(note.is_serious for note in last.notes)
    rows = []
    for number, run in enumerate(runs, 1):
        tried = run.attempt
        path = None if tried.capture is None else str(tried.capture)
        rows.append((number, run.why, str(tried.folder), path, tried.captures, tried.code, run.verdict))

    def document() -> dict[str, Any]:
        settings = [dict(run.attempt.settings) for run in runs]
        described = [(*row, chosen) for row, chosen in zip(rows, settings, strict=True)]
        return {
            "capture": str(capture),
            "replicate": None if twin is None else str(twin),
            "is_serious": is_serious,
            "command": list(last.attempt.words),
            "runs": ResultTable.of_rows(recording.DOCUMENT, described).rows(),
        }

    facts = [("verdict", last.verdict)]
    if last.attempt.captures > 1:
        captures = plural(last.attempt.captures, "capture")
        facts.append(("captures", Message("{0} were written; this capture has most waves", captures)))
    if twin is not None:
        facts.append(("twin", str(twin)))
    if options.view and not options.form:
        put(Message("Recorded: {0}", capture))
        view.run(ViewOptions(folder=capture))
    elif not options.form:
        _show_limits(capture, facts)
    return CommandAnswer(
        schema=recording.SCHEMA,
        document=document,
        csv=lambda: ResultTable.of_rows(recording.RUNS, rows).csv(),
        code=ExitCode.STRICT if options.strict and is_serious else ExitCode.DONE,
        is_written=True,
    )


def _show_limits(capture: Path, facts: Sequence[tuple[str, str]], before: Path | None = None) -> None:
    """Show what limits a capture, and how it differs from the previous one."""
    put(Message("\nRecorded: {0}", capture))
    put(Facts(facts))
    shown = TriageOptions(folder=capture)
    triage.run(shown).show(shown)
    if before is not None:
        put("")
        pair = CompareOptions(folder=before, other=capture)
        compare.run(pair).show(pair)


def _watch(options: RecordOptions, folder: Path) -> None:
    """Analyse each new capture in a folder, and compare it with the previous one of the same kernel."""
    last = recorded.newest(folder)
    about = "" if folder.exists() else ", which is not there yet"
    if last is not None:
        about = Message("; the last one is {0}", last)
    say(options, Message("Waiting for captures in {0}{1}.  Ctrl+C ends it.", folder, about))
    for path in islice(recorded.appearing(folder, lambda: time.sleep(recorded.EVERY_S)), options.times):
        try:
            is_same = last is not None and open_trace(last).kernel_name == open_trace(path).kernel_name
            before = last if is_same else None
            if options.view:
                _open(path, before)
            else:
                _show_limits(path, [], before)
        except (TraceError, UsageError) as error:  # the next one may be better
            say(options, Message("{0} is skipped: {1}", path, error))
            continue
        last = path


def _open(path: Path, before: Path | None) -> None:
    """Open a window without blocking; a running window opens the capture itself."""
    beside = () if before is None else ("--compare", str(before))
    subprocess.Popen([sys.executable, "-m", "rcv_py", "view", str(path), *beside], start_new_session=True)
