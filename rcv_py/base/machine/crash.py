"""Stack traces of a crash, such as a fault in Qt: read at the next start.

On a fault Python writes the stack of every thread into a file, which a normal end removes.  So a file that no
running program locks is from a crash.  Nothing is sent anywhere.
"""

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rcv_py.base.log import without_home
from rcv_py.base.machine.user_folders import is_locked_here

NAME = "fault-*.txt"
MAX_BYTES = 64 << 10


@contextmanager
def noted_faults(folder: Path) -> Iterator[None]:
    """Record faults in a file of the folder while the block runs, if the file can be written."""
    path = folder / NAME.replace("*", str(os.getpid()))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    except OSError:
        yield
        return
    with file:
        with suppress(OSError):
            is_locked_here(file)
        was_enabled = faulthandler.is_enabled()
        faulthandler.enable(file)
        try:
            yield
        finally:
            faulthandler.disable()
            if was_enabled:  # Python's previous setting
                faulthandler.enable()
    with suppress(OSError):
        path.unlink()


def left_faults(folder: Path) -> tuple[str, ...]:
    """Return the recorded crashes in the folder, and remove them."""
    found = []
    for path in sorted(folder.glob(NAME)):
        with suppress(OSError), path.open("rb") as file:
            if not is_locked_here(file):
                continue
            text = file.read(MAX_BYTES).decode("utf-8", "replace").strip()
            path.unlink()
            if text:  # empty after a kill, which is not a fault
                found.append(without_home(text))
    return tuple(found)
