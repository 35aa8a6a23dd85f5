"""Readers of waves that fail, and end their process: those import this and not pytest."""

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.trace import WaveReader
from rcv_py.model.waves import WaveBatch, WaveColumns
from rcv_py.work import load, pool, shared

MOMENTS = (
    "as it begins",
    "when it has read",
    "with half a block",
    "before the descriptor",
    "when it has answered",
)


class Deadly:
    """A reader whose process dies at some waves, and that fails at others."""

    base_clock = 4

    def __init__(self, files: WaveFiles, deadly: Iterable[int] = (), failing: Iterable[int] = ()) -> None:
        self.files, self.deadly, self.failing = files, {*deadly}, {*failing}

    def columns(self, rows: list[int]) -> WaveColumns:
        """Read, if it comes to that."""
        if self.deadly & {*rows}:
            os._exit(1)
        if self.failing & {*rows}:
            raise ZeroDivisionError("a bug")
        return self.files.columns(rows)


class Mortal:
    """A reader whose process dies at some waves: once for each, or always."""

    def __init__(self, below: WaveReader, deadly: set[int], marks: Path | None) -> None:
        self.below, self.base_clock = below, below.base_clock
        self.deadly, self.marks = deadly, marks

    def read(self, rows: list[int]) -> WaveBatch:
        """Read, unless this process dies of it."""
        for row in self.deadly & {*rows}:
            try:
                if self.marks is not None:
                    (self.marks / str(row)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os._exit(1)
        return self.below.read(rows)


class Doomed:
    """A reader whose process is killed once at some moment of some jobs; which were is noted in a folder."""

    base_clock = 4

    def __init__(self, files: WaveFiles, notes: Path, moments: dict[int, str]) -> None:
        self.files, self.notes, self.moments = files, notes, moments

    def columns(self, rows: list[int]) -> WaveColumns:
        """Read, and arrange for the end of this process."""
        note = self.notes / str(rows[0])
        moment = self.moments.get(rows[0], "")
        is_due = bool(moment) and not note.exists()
        if is_due:
            note.write_text(moment)
            arrange(moment)
        columns = self.files.columns(rows)
        if is_due and moment == "when it has read":
            kill()
        return columns


def kill(*_: object) -> None:
    """End this process as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def arrange(moment: str) -> None:
    """Let this process be killed at a moment that is still to come."""
    if moment == "as it begins":
        kill()
    if moment == "with half a block":
        spaced = shared._spaced

        def half(arrays: Iterator[memoryview]) -> Iterator[memoryview | bytes]:
            yield next(spaced(arrays))
            kill()

        shared._spaced = half  # type: ignore[assignment]
    if moment == "before the descriptor":
        shared.socket.send_fds = kill  # type: ignore[attr-defined]
    if moment == "when it has answered":
        send = pool.send

        def last(*message: object) -> None:
            send(*message)
            kill()

        pool.send = last  # type: ignore[assignment]


class Only:
    """A reader that knows one wave."""

    def __init__(self, below: WaveReader, row: int) -> None:
        self.below, self.base_clock, self.row = below, below.base_clock, row

    def read(self, rows: list[int]) -> WaveBatch:
        """Read that one."""
        assert rows == [self.row]
        return self.below.read(rows)


def without_blocks() -> None:
    """What a process does first where there is no memory for blocks."""
    os.memfd_create = no_memory  # type: ignore[assignment]


def no_memory(*_: object) -> int:
    """Make no block."""
    raise OSError(28, "No space left on device")


def prepared(files: WaveFiles) -> WaveColumns:
    """What a process hands back of a capture."""
    return load.prepared_columns(files, [0])
