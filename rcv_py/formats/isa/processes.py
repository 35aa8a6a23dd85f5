"""Run our programs in separate processes: untrusted bytes may crash or hang them."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic

from rcv_py.base.progress import checkpoint

OWN_PROGRAM = "--own-program"
GRACE = 5.0  # seconds after our time limit until a process ends by itself
BEAT = 0.05  # seconds between two checks for cancellation

_unanswered: list[str] = []  # programs that timed out, or could not be started


def answer_of(
    program: str, words: Sequence[str], question: Iterable[bytes], seconds: float
) -> tuple[bytes, bool] | None:
    """Return the reply of one of our programs, and whether it succeeded; None if it could not run.

    `program` is a module of this package.
    Raises Cancelled if the work is cancelled.
    """
    command = [*_command(), program, str(seconds + GRACE), str(os.getpid()), *words]
    try:
        with TemporaryFile() as given, TemporaryFile() as taken:
            given.writelines(question)
            given.seek(0)
            with subprocess.Popen(command, stdin=given, stdout=taken, stderr=subprocess.DEVNULL) as process:
                try:
                    code = ended(process, seconds)
                finally:
                    process.kill()
            if code is not None:
                taken.seek(0)
                return taken.read(), code == 0
    except OSError:  # no space for its files, or no process can be started
        pass
    _unanswered.append(program)
    return None


def unanswered() -> int:
    """Number of requests of this process without a reply so far; they may succeed another time."""
    return len(_unanswered)


def _command() -> list[str]:
    """The command of the running Python, which must not import modules from a folder of a capture.

    A frozen program has no Python, and runs its own modules on request (`__main__`).
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, OWN_PROGRAM]
    # -S: without site packages, which take a while to find.
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("alone.py"))]


def ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process; return its exit code, None if it takes longer.  Raises Cancelled."""
    end = monotonic() + seconds
    while monotonic() < end:
        checkpoint()
        try:
            return process.wait(BEAT)
        except subprocess.TimeoutExpired:
            continue
    return None
