"""Programs of ours in processes of their own: bytes of strangers may end them, or never let them end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic

from rcv_py.base.progress import checkpoint

OWN_PROGRAM = "--own-program"
GRACE = 5.0  # seconds more than ours until a process ends by itself
BEAT = 0.05  # seconds between two looks whether somebody still waits

_unanswered: list[str] = []  # programs that did not answer in time, or could not be started


def answer_of(
    program: str, words: Sequence[str], question: Iterable[bytes], seconds: float, is_bare: bool = False
) -> tuple[bytes, bool] | None:
    """Return what a program of ours answers, and whether it ended well; None if it could not.

    `program` is a module beside this one.  `is_bare` leaves out packages, which take a while to find.  Raises
    Cancelled if nobody waits any more.
    """
    command = [*_command(is_bare), program, str(seconds + GRACE), str(os.getpid()), *words]
    try:
        with TemporaryFile() as given, TemporaryFile() as taken:
            given.writelines(question)
            given.seek(0)
            with subprocess.Popen(command, stdin=given, stdout=taken, stderr=subprocess.DEVNULL) as process:
                try:
                    code = _ended(process, seconds)
                finally:
                    process.kill()
            if code is not None:
                taken.seek(0)
                return taken.read(), code == 0
    except OSError:  # no room for its files, or no process can be started
        pass
    _unanswered.append(program)
    return None


def unanswered() -> int:
    """How many questions of this process had no answer so far, which another time they may have."""
    return len(_unanswered)


def _command(is_bare: bool) -> list[str]:
    """The Python that runs, told to look for modules in no folder of a capture.

    A program that was frozen has none beside it, and runs its own modules when it is asked (`__main__`).
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, OWN_PROGRAM]
    bare = ["-S"] if is_bare else []
    return [sys.executable, "-I", *bare, str(Path(__file__).with_name("alone.py"))]


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    end = monotonic() + seconds
    while monotonic() < end:
        checkpoint()
        try:
            return process.wait(BEAT)
        except subprocess.TimeoutExpired:
            continue
    return None
