"""The machine that records a program: this machine, or another machine by `ssh`.

Programs get their arguments unchanged, never through a shell of this machine; on the other machine each
argument is quoted, since `ssh` starts programs by a shell.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message

OnLine = Callable[[str], object]  # called with each line that a program prints
LINE = 4096  # characters of a line at most: a program may print no line feed at all
EXIT_GRACE_S = 10.0  # seconds for a program and its children to end after SIGTERM
LOOK_S = 0.05  # seconds between two looks whether they have
NO_PROGRAM = (126, 127)  # exit codes of shells: not executable, not found
NO_QUESTION = ("-o", "BatchMode=yes")  # no prompts: the terminal is not available to ssh
WITH_TERMINAL = ("-tt",)  # without one a program there keeps running when ssh ends
_FOLDER = re.compile(r"/[A-Za-z0-9._/-]{1,200}")  # the output of `mktemp -d`


class RanTooLong(UsageError):
    """A program did not end in time, and was ended with its children."""


class ThisMachine(Value):
    """This machine: captures are written directly into the target folder."""

    def run(self, words: Sequence[str], on_line: OnLine, limit_s: float) -> int:
        """Run a program, call `on_line` with each line that it prints, and return its exit code.

        Raise RanTooLong if it did not end in time.
        """
        return run_program(words, on_line, limit_s)

    def folder(self, target: Path) -> str:
        """Make an empty folder for the capture that `target` is to hold: itself; return its path."""
        _made(target)
        return str(target.absolute())

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        Path(path).write_text(text, encoding="utf-8")

    def fetch(self, folder: str, target: Path) -> None:
        """Move the contents of a folder into `target`: they are in place."""


class There(Value):
    """Another machine, by the programs `ssh` and `scp` with the user's keys and settings."""

    host: str  # as ssh knows it
    work: str = ""  # the folder that programs run in; "": the login folder

    @classmethod
    def parse(cls, text: str) -> There:
        """Read `HOST` or `HOST:FOLDER`; raise UsageError for a host that ssh would take for an option."""
        host, _, work = text.partition(":")
        if not host or host.startswith("-"):
            raise UsageError(Message("{0} does not name a machine.", text), hint="Write HOST or HOST:FOLDER.")
        return cls(host, work)

    def run(self, words: Sequence[str], on_line: OnLine, limit_s: float) -> int:
        """Run a program there."""
        command = f"{self._enter}exec {shlex.join(words)}"
        return run_program(self._words(command, *WITH_TERMINAL), on_line, limit_s)

    def folder(self, target: Path) -> str:
        """Make a new temporary folder there, and the parent of `target` here; check that ssh works."""
        _made(target.parent)
        lines: list[str] = []
        code = run_program(self._words(f"{self._enter}mktemp -d"), lines.append)
        found = next((line for line in reversed(lines) if _FOLDER.fullmatch(line)), None)
        if code or found is None:
            said = Message(" It said: {0}", lines[-1]) if lines else ""
            trial = shlex.join(["ssh", self.host, f"{self._enter}true"])
            hint = Message("Does `{0}` work without a question?", trial)
            raise UsageError(Message("{0} cannot be used.{1}", self.host, said), hint=hint)
        return found

    def write(self, path: str, text: str) -> None:
        """Write a file there."""
        command = f"cat > {shlex.quote(path)}"
        done = subprocess.run(self._words(command), input=text.encode(), capture_output=True, check=False)
        if done.returncode:
            text = Message("{0} cannot be written on {1}.", path, self.host)
            raise UsageError(text, hint=done.stderr.decode("utf-8", "replace"))

    def fetch(self, folder: str, target: Path) -> None:
        """Copy the capture, and remove it there."""
        words = ["scp", "-rqp", *NO_QUESTION, "--", f"{self.host}:{folder}", str(target)]
        if run_program(words, lambda _: None):
            text = Message("What was recorded cannot be copied from {0}.", self.host)
            raise UsageError(text, hint=Message("It lies in {0} there.", folder))
        run_program(self._words(f"rm -rf {shlex.quote(folder)}"), lambda _: None)

    @property
    def _enter(self) -> str:
        """The prefix of each command there."""
        return f"cd {shlex.quote(self.work)} && " if self.work else ""

    def _words(self, command: str, *options: str) -> list[str]:
        return ["ssh", *NO_QUESTION, *options, "--", self.host, command]


Machine = ThisMachine | There  # which can run rocprofv3


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = Message("{0} cannot be made: {1}.", folder, error.strerror)
        raise UsageError(text, hint="Choose another --out.") from error


def run_program(words: Sequence[str], on_line: OnLine, limit_s: float | None = None) -> int:
    """Run a program here, call `on_line` with each line of output, and return its exit code.

    It inherits our standard input, unless that is a terminal.  If this process is ended, so are the program
    and its children.  Raise UsageError if it cannot be started, RanTooLong if it or what writes to its
    standard output has not ended after `limit_s` seconds.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            process_group=0 if os.name == "posix" else None,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(Message("{0} cannot be started: {1}.", words[0], why)) from error
    assert process.stdout is not None
    with process.stdout:
        try:
            for line in _lines(process, None if limit_s is None else time.monotonic() + limit_s):
                on_line(line.decode("utf-8", "replace").rstrip("\r"))
        except BaseException as error:
            _end(process)
            if isinstance(error, TimeoutError):
                text = Message("{0} did not end in {1:,.0f} s, and was ended.", words[0], limit_s)
                raise RanTooLong(text) from error
            raise
    return process.returncode


def _lines(process: subprocess.Popen[bytes], deadline: float | None) -> Iterator[bytes]:
    """Each line of output until it is closed and the program has ended; TimeoutError at the deadline."""
    assert process.stdout is not None
    rest = b""
    stream = process.stdout.fileno()
    while True:
        # Windows, whose pipes cannot be asked, knows no deadline here.
        if os.name == "posix" and not select.select([stream], [], [], _left(deadline))[0]:
            raise TimeoutError
        if not (data := os.read(stream, LINE)):
            break
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        if len(rest) > LINE:
            yield rest
            rest = b""
    if rest:
        yield rest
    try:
        process.wait(_left(deadline))
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error


def _left(deadline: float | None) -> float | None:
    """Seconds until a time of `time.monotonic`."""
    return None if deadline is None else max(deadline - time.monotonic(), 0)


def find_program(name: str, command: Sequence[str], places: str) -> str | None:
    """Return the path of a program of ROCm for recording a command, None if there is none.

    The ROCm of a Python environment (of the command, the active ones, our own) comes first, since its
    libraries clash with those of another one in the same process; then the search path, then `places`.
    """
    program = shutil.which(command[0]) if command else None
    roots = (program and Path(program).absolute().parent.parent, os.environ.get("VIRTUAL_ENV"))
    for prefix in [Path(root) for root in (*roots, os.environ.get("CONDA_PREFIX"), sys.prefix) if root]:
        for packages in ("lib*/python3*/*-packages", "Lib/site-packages"):
            for folder in sorted(prefix.glob(f"{packages}/_rocm_sdk_core/bin"), reverse=True):
                if found := shutil.which(name, path=str(folder)):
                    return found
    return shutil.which(name) or shutil.which(name, path=places)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and its children by SIGTERM; kill those that do not end."""
    _signal(process, signal.SIGTERM)
    deadline = time.monotonic() + EXIT_GRACE_S
    while (is_alive := process.poll() is None or _signal(process, 0)) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    if is_alive:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    with suppress(subprocess.TimeoutExpired):  # what hangs in a driver does not even end then
        process.wait(EXIT_GRACE_S)


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to a program and its children, 0 for none; return whether any lives."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif number:
            process.send_signal(number)
    except OSError:
        return False
    return os.name == "posix"
