"""What is done with each of several captures in tests: processes import this and not pytest."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from rcv_py.base.errors import RcvError
from tests.support.processes import wait_until


def name_of(path: Path) -> str:
    """Return the name of a capture."""
    return path.name


def deadly(path: Path, times: int, only: str = "two") -> str:
    """End this process the first times that it is asked for a capture."""
    if path.name == only and len(list(path.iterdir())) < times:
        (path / f"died{os.getpid()}").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def mistaken(path: Path) -> str:
    """Make a mistake that nobody expects."""
    raise ZeroDivisionError(path.name)


def held(path: Path) -> str:
    """Wait until it may end, but for the first capture."""
    if path.name != "one":
        wait_until((path.parent / "released").exists, "the end of a call")
    return path.name


def waiting(path: Path, caller: int) -> str:
    """Note that a capture was begun, ask the caller to stop if it is the first, and wait until it may end."""
    (path / "begun").mkdir()
    with suppress(FileExistsError):
        (path.parent / "asked").mkdir()
        os.kill(caller, signal.SIGINT)
    wait_until((path.parent / "released").exists, "the end of a call")
    return path.name


def lost(path: Path, error: RcvError) -> str:
    """Return what stands for a capture without an answer."""
    return f"{path.name}: {error}"
