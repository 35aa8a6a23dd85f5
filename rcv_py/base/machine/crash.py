"""Where the program was when a fault of the system ended it, such as one in Qt: read at the next start.

Python writes where every thread was, into a file that a tidy end removes.  So a file that is there, and that
no running program holds, is of one that died.  Nothing is sent anywhere.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rcv_py.base.log import without_home
from rcv_py.base.machine.file_locks import is_locked_here

NAME = "fault-*.txt"
MOST_BYTES = 64 << 10


@contextmanager
def noted_faults(folder: Path) -> Iterator[None]:
    """Have a fault noted in a file of the folder while the block runs; where that cannot be written, not."""
    path = folder / NAME.replace("*", str(os.getpid()))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    except OSError:
        yield
        return
    with file:
        _hold(file)
        was_enabled = faulthandler.is_enabled()
        faulthandler.enable(file)
        try:
            yield
        finally:
            faulthandler.disable()
            if was_enabled:  # where Python was told to
                faulthandler.enable()
    with suppress(OSError):
        path.unlink()


def left_faults(folder: Path) -> tuple[str, ...]:
    """Return what programs that died have noted in the folder, and remove it."""
    found = []
    for path in sorted(folder.glob(NAME)):
        with suppress(OSError), path.open("rb") as file:
            if not _hold(file):
                continue
            text = file.read(MOST_BYTES).decode("utf-8", "replace").strip()
            path.unlink()
            if text:  # else it was killed, and that is no fault
                found.append(without_home(text))
    return tuple(found)


def _hold(file: IO[bytes]) -> bool:
    """Hold a file until it is closed; whether nobody else does."""
    try:
        return is_locked_here(file)
    except OSError:
        return False
