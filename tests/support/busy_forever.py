"""Work that never ends and never lets Python look up: what processes may be doing when one ends them."""

import os
import re
from pathlib import Path

_TAKES_FOREVER = re.compile("(a|aa)+$")


class BusyReader:
    """A reader of waves that keeps its process, and the interpreter's lock, forever."""

    base_clock = 4

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def columns(self, rows: list[int]) -> None:
        """Note that it has begun, and never return."""
        stay(self.notes / f"begun {rows[0]}")

    def read(self, rows: list[int]) -> None:
        """The same."""
        self.columns(rows)


def spin(*_: object) -> None:
    """Match an expression that takes longer than the universe is old, in C."""
    _TAKES_FOREVER.search("a" * 3000 + "b")


def stay(note: Path) -> None:
    """Write down which process never ends from now on."""
    part = note.with_suffix(f".{os.getpid()}.part")
    part.write_text(str(os.getpid()))
    part.rename(note)
    spin()


def begun(notes: Path) -> list[int]:
    """The processes that have noted in a folder that they never end."""
    return [int(note.read_text()) for note in notes.iterdir() if note.suffix != ".part"]
