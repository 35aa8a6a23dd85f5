"""Whether there is a newer rcv: the user's own pip asks the user's package index, when the user says so.

Nothing here names a host or opens a connection: pip knows where packages come from on this machine.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from tempfile import TemporaryFile
from time import monotonic

from rcv_py import __version__
from rcv_py.base.progress import checkpoint
from rcv_py.base.records import dataclass
from rcv_py.base.text import elide_right, visible

PACKAGE = "rcv-py"
SECONDS = 10.0  # until pip has to answer
BEAT = 0.05  # seconds between two looks whether somebody still waits
_MOST_BYTES = 1 << 16  # of what pip prints
_MOST_LETTERS = 200  # of what it complains
# -P: a folder that somebody stands in is no place to take pip from, least of all a capture.
_ASK = ("-P", "-m", "pip", "index", "versions", PACKAGE)
_PLAINLY = ("--disable-pip-version-check", "--no-input", "--no-color", "--retries", "0")
_NEWEST = re.compile(rf"^{PACKAGE} \(([0-9A-Za-z.!+_-]{{1,60}})\)", re.MULTILINE)
_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}")


@dataclass(frozen=True, slots=True)
class Newest:
    """What is known of newer versions: a sentence, and whether the package index answered."""

    sentence: str
    is_known: bool


def newest_version(command: Sequence[str] = (), seconds: float = SECONDS) -> Newest:
    """Ask pip which version of rcv is the newest; raise Cancelled if nobody waits for it any more.

    `command` is what to start instead of the pip of this Python.
    """
    if not command:
        if why := _why_no_pip():
            return Newest(why, False)
        command = (sys.executable, *_ASK, *_PLAINLY)
    answer = _answer(command, seconds)
    if answer is None:
        return Newest(f"The package index did not answer within {seconds:g} s.", False)
    out, complaint = answer
    found = _NEWEST.search(out)
    if found is None:
        why = f": {complaint}" if complaint else "."
        return Newest(f"pip found no {PACKAGE} at your package index{why}", False)
    return Newest(_sentence(found[1]), True)


def _why_no_pip() -> str:
    """Why pip cannot be asked, and where to look instead; "" if it can."""
    if getattr(sys, "frozen", False):
        return f"This is rcv {__version__}, a package of its own: look for a newer one where you got it."
    if find_spec("pip") is None:
        return (
            f"This is rcv {__version__}, and there is no pip beside it: ask what installed it, "
            f"such as `uv tool upgrade {PACKAGE}`."
        )
    return ""


def _answer(command: Sequence[str], seconds: float) -> tuple[str, str] | None:
    """What a program prints, and the last line of its complaints; None if it takes too long."""
    with TemporaryFile() as taken, TemporaryFile() as said:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=taken, stderr=said)
        except OSError as error:
            return "", visible(f"{error.strerror}.")
        with process:
            try:
                is_done = _is_done(process, seconds)
            finally:
                process.kill()
        if not is_done:
            return None
        texts = []
        for file in (taken, said):
            file.seek(0)
            texts.append(file.read(_MOST_BYTES).decode("utf-8", "replace"))
    out, complaints = texts
    lines = complaints.strip().splitlines()
    return out, elide_right(visible(lines[-1].removeprefix("ERROR: ")), _MOST_LETTERS) if lines else ""


def _is_done(process: subprocess.Popen[bytes], seconds: float) -> bool:
    end = monotonic() + seconds
    while monotonic() < end:
        checkpoint()
        try:
            process.wait(BEAT)
        except subprocess.TimeoutExpired:
            continue
        return True
    return False


def _sentence(newest: str) -> str:
    ours, theirs = _release(__version__), _release(newest)
    if theirs > ours:
        return (
            f"rcv {newest} is there, and this is {__version__}: `pip install --upgrade {PACKAGE}` brings it."
        )
    if theirs < ours:
        return f"This is rcv {__version__}; your package index has {newest}, which is older."
    return f"This is rcv {__version__}, the newest version that your package index has."


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without zeros at the end: 1.2 and 1.2.0 are the same."""
    found = _RELEASE.match(version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
