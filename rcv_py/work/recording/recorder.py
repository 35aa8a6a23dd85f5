"""Runs of rocprofv3: settings, input file, arguments, captures, errors, and what to change after a check."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rcv_py.analysis.health.input_yaml import BUFFER, FILE, FORMS, job_file
from rcv_py.analysis.health.note import HealthNote, Setting
from rcv_py.base.errors import TraceError, UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message
from rcv_py.formats.locate import locate
from rcv_py.formats.open import capture_entry
from rcv_py.work.recording.machine import NO_PROGRAM, Machine, OnLine, RanTooLong, ThisMachine, find_program

PROGRAM = "rocprofv3"
EVERY_S = 1.0  # between two looks for new captures
PLACES = "/opt/rocm/bin"  # where it is if it is not in the search path
KEPT = 200  # lines of output that are searched for reasons
SHOWN = 3  # lines that are shown if no reason is known
LIMIT_S = 3600  # seconds for a run of the program
LATE = 124  # exit code of a run that was ended, as of `timeout`
NAME = "out"  # of the files
# Notes about captures that show nothing: their recommendation is worth another run.
AGAIN = ("placeholder", "buffer", "no_working_waves")
FULL = {"att_buffer_size": "0x40000000"}  # when rocprofv3 itself reports a full buffer
EMPTY = {"att_shader_engine_mask": "0x11111111"}  # when it wrote no capture at all
DEFAULTS: Mapping[str, Setting] = {
    "output_file": NAME,
    "output_format": FORMS,
    "kernel_trace": True,
    "advanced_thread_trace": True,
    "att_target_cu": 1,
    "att_shader_engine_mask": "0x1",
    "att_buffer_size": BUFFER,
}


class Trouble(Value):
    """A message of rocprofv3 and its meaning."""

    sign: str  # an expression that is in a line that it prints, in any case
    text: str  # a sentence
    hint: str


TROUBLES = (
    Trouble(
        r"rocprof-trace-decoder library path not found|error loading decoder",
        "rocprofv3 records no thread trace without AMD's trace decoder.",
        "It is public, and ROCm has it from 7.13 on, ROCm 10 as the package rocprof-trace-decoder of some"
        " systems: install it, or name the folder of librocprof-trace-decoder.so in"
        " ROCPROF_ATT_LIBRARY_PATH.  rcv itself needs none: it opens the .att files.",
    ),
    Trouble(
        r"INVALID_SHADER_DATA|agent not supported",
        "rocprofv3 cannot trace on this GPU with this driver: aqlprofile is older than ROCm 7, or the GPU is"
        " not supported.",
        "Update ROCm; thread traces need MI200 and later, or gfx10 and later.",
    ),
    Trouble(
        r"unrecognized arguments|unknown (key|option|attribute).*att_",
        "This rocprofv3 does not know what it was asked for.",
        "Thread traces need ROCm 7, --regions and --target-counters ROCm 7.13, --attach ROCm 10; leave out"
        " what an older one does not know.",
    ),
    Trouble(
        r"ROCP_TOOL_ATTACH|ptrace|rocattach|failed to attach",
        "rocprofv3 cannot attach to this process.",
        "Start it with ROCP_TOOL_ATTACH=1 in its environment, name its own number, not the shell's,"
        " and be its user or root (kernel.yama.ptrace_scope 0; in Docker --cap-add SYS_PTRACE).",
    ),
    Trouble(
        r"/dev/kfd.*(permission denied|unable)|permission denied.*/dev/(kfd|dri)",
        "The GPU may not be used.",
        "Be a member of the groups render and video, or pass /dev/kfd and /dev/dri into the container.",
    ),
    Trouble(
        r"regex_error|in regular expression",
        "rocprofv3 cannot read --kernel as a regular expression.",
        r"Write \( and \[ for these characters themselves.",
    ),
    Trouble(
        r"no (hip|rocm|gpu)[ -]?(capable )?(device|agent)|hipErrorNoDevice",
        "No GPU was found.",
        "Record on the machine that has one: --host HOST.",
    ),
)
FULL_SIGN = re.compile(r"thread trace buffer full", re.IGNORECASE)


class Attempt(Value):
    """The result of a run."""

    folder: Path
    settings: Mapping[str, Setting]
    words: tuple[str, ...]  # the command
    code: int  # exit code of rocprofv3
    capture: Path | None  # the written capture with most waves
    captures: int
    late: RanTooLong | None  # if it had to be ended
    is_full: bool  # rocprofv3 reported a full buffer
    trouble: Trouble | None
    last: tuple[str, ...]  # lines that it printed

    def why_not(self) -> UsageError:
        """The reason for a missing capture."""
        if self.trouble is not None:
            return UsageError(self.trouble.text, hint=self.trouble.hint)
        if self.late is not None:
            return UsageError(
                Message("{0}  No capture was written.", self.late),
                hint="Does the command end without it?  --limit SECONDS waits longer; where rocprofv3 hangs,"
                " fewer GPUs (ROCR_VISIBLE_DEVICES) or another version of ROCm may help.",
            )
        if self.code:
            said = Message(" It said: {0}", " | ".join(self.last)) if self.last else ""
            text = Message("rocprofv3 ended with {0}, and wrote no capture.{1}", self.code, said)
            return UsageError(text, hint="Does the command run without it?")
        is_chosen = {"kernel_include_regex", "kernel_iteration_range"} & self.settings.keys()
        why = "no kernel has the name that was asked for, or ran so often" if is_chosen else "no kernel ran"
        hint = "`{0} --kernel-trace -f csv -- COMMAND` lists what runs; see --kernel and --launch."
        text = Message("rocprofv3 wrote no capture: {0}.", why)
        return UsageError(text, hint=Message(hint, PROGRAM))


class AttachedProcess(Value):
    """A running process to record, and for how long."""

    number: int
    seconds: int


def recording_words(
    program: str, job: str, command: Sequence[str], process: AttachedProcess | None
) -> tuple[str, ...]:
    """Return the command that records a command, or a running process."""
    if process is None:
        return (program, "-i", job, "--", *command)
    how = ("--attach-duration-msec", str(1000 * process.seconds), "--attach-sync-output")
    return (program, "--attach", str(process.number), *how, "-i", job)


class Recorder:
    """Records a command or a running process, with a program that behaves like rocprofv3."""

    def __init__(
        self,
        machine: Machine,
        program: str | None,
        command: Sequence[str],
        tell: OnLine,
        *,
        process: AttachedProcess | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._machine, self._command, self._tell = machine, tuple(command), tell
        self._process, self._limit_s = process, limit_s
        is_here = isinstance(machine, ThisMachine)
        program = program or (find_program(PROGRAM, command, PLACES) if is_here else PROGRAM)
        if program is None:
            raise UsageError(
                Message("{0} is not on this machine.", PROGRAM),
                hint="Install ROCm 7 or later, best 10, name it with --rocprofv3 PATH, or record with"
                " --host HOST.",
            )
        self._program = program

    def record(self, folder: Path, settings: Mapping[str, Setting], why: Mapping[str, str]) -> Attempt:
        """Record once into a new folder; raise UsageError if the program cannot be started."""
        there = self._machine.folder(folder)
        wanted = {**settings, "output_directory": there}
        job = f"{there}/{FILE}"
        words, late = recording_words(self._program, job, self._command, self._process), None
        self._machine.write(job, job_file(wanted, ["Written by rcv record.", " ".join(words)], why))
        last: deque[str] = deque(maxlen=KEPT)

        def hear(line: str) -> None:
            last.append(line)
            self._tell(line)

        try:
            code = self._machine.run(words, hear, self._limit_s)
        except RanTooLong as error:
            code, late = LATE, error
        finally:
            self._machine.fetch(there, folder)
        if code in NO_PROGRAM:
            where = "" if isinstance(self._machine, ThisMachine) else " there"
            text = Message("{0} cannot be run{1}.", self._program, where)
            raise UsageError(text, hint="Name it with --rocprofv3 PATH.")
        best, number = best_capture(folder)
        printed = "\n".join(last)
        return Attempt(
            folder=folder,
            settings=settings,
            words=words,
            code=code,
            capture=best,
            captures=number,
            late=late,
            is_full=FULL_SIGN.search(printed) is not None,
            trouble=next((one for one in TROUBLES if re.search(one.sign, printed, re.IGNORECASE)), None),
            last=tuple(line for line in last if line.strip())[-SHOWN:],
        )


def best_capture(folder: Path) -> tuple[Path | None, int]:
    """Return the capture below a folder with most executed instructions, if any, and their number."""
    paths = _captures(folder)
    if len(paths) < 2:
        return (paths[0] if paths else None), len(paths)
    entries = [capture_entry(path) for path in paths]
    return max(entries, key=lambda entry: (entry.waves, entry.hits, entry.size)).path, len(paths)


class SettingChange(Value):
    """A setting that another run changes."""

    name: str
    before: Setting | None  # None: rocprofv3's own
    after: Setting

    def __str__(self) -> str:
        before = "" if self.before is None else Message(" instead of {0}", self.before)
        return f"{self.name} {self.after}{before}"


def mended(
    settings: Mapping[str, Setting], chosen: Mapping[str, Setting], wanted: Mapping[str, Setting]
) -> tuple[dict[str, Setting], list[SettingChange]]:
    """Return settings with the `wanted` values, and the changes.

    Settings that the user has `chosen` stay.
    """
    new = {name: one for name, one in wanted.items() if name not in chosen and settings.get(name) != one}
    return {**settings, **new}, [SettingChange(name, settings.get(name), one) for name, one in new.items()]


def recommended(notes: Sequence[HealthNote]) -> tuple[str, dict[str, Setting]]:
    """Return why a capture should be recorded again, "" if it should not, and with which settings."""
    grave = [note for note in notes if note.name in AGAIN and note.is_serious]
    wanted: dict[str, Setting] = {}
    for note in reversed(grave):
        wanted |= note.settings
    return (grave[0].title if grave else ""), wanted


Signature = tuple[int, int, int]  # files, bytes, time of the last change in nanoseconds


def appearing(folder: Path, wait: Callable[[], object]) -> Iterator[Path]:
    """Yield captures that appear below a folder, which need not exist yet; `wait` runs between two scans.

    Captures that exist at the beginning are not new.  A capture in progress is yielded when two consecutive
    scans find it unchanged.
    """
    known = set(_captures(folder))
    growing: dict[Path, Signature] = {}
    while True:
        wait()
        for path in _captures(folder):
            if path in known:
                continue
            signature = _signature(path)
            if growing.get(path) == signature:
                known.add(path)
                del growing[path]
                yield path
            else:
                growing[path] = signature


def newest(folder: Path) -> Path | None:
    """Return the capture below a folder that was written last, None without any."""
    return max(_captures(folder), key=lambda path: _signature(path)[2], default=None)


def _captures(folder: Path) -> tuple[Path, ...]:
    try:
        return locate(folder).captures()
    except TraceError:
        return ()


def _signature(path: Path) -> Signature:
    files = size = last = 0
    try:
        with os.scandir(path if path.is_dir() else path.parent) as entries:
            for entry in entries:
                facts = entry.stat()
                files, size, last = files + 1, size + facts.st_size, max(last, facts.st_mtime_ns)
    except OSError:  # it is in progress, or vanished
        return (-1, 0, 0)
    return files, size, last
