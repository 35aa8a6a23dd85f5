"""A process that reads waves on request: its two ends, and the pipe between them."""

from __future__ import annotations

import os
import pickle
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from rcv_py.base.errors import RcvError
from rcv_py.base.lifeline import end_with_parent
from rcv_py.model.trace import WaveReader
from rcv_py.model.waves import WaveBatch
from rcv_py.work.jobs import hold_memory, prepare
from rcv_py.work.parcel import packed, unpacked

POLITENESS = 10  # of 19
AHEAD = 2  # jobs a worker has been given: the one it does, and the next so that it need not wait
_GOOD, _BAD = b"batch".ljust(16), b"error".ljust(16)


class WorkerStopped(RcvError):
    """A process that reads waves has gone."""

    def __init__(self) -> None:
        super().__init__(
            "A process that reads waves stopped unexpectedly, probably for lack of memory.",
            hint="Close other programs, or set load.workers to 1, and open the folder again.",
        )


class Worker:
    """The near end.  Use it from one thread only."""

    def __init__(self, reader: WaveReader, lod: bool) -> None:
        context = get_context("spawn")  # a fork would copy threads and Qt in whatever state they are
        self.connection, far = context.Pipe(duplex=True)
        self.jobs: deque[list[int]] = deque()
        self._process = context.Process(target=serve, args=(far, pickle.dumps(reader), lod), daemon=True)
        with without_main():
            self._process.start()
        far.close()  # so that the child's end is the only one, and its death ends our reading

    def ask(self, rows: list[int]) -> None:
        """Give the worker a job; that it has died will be found when its answer is fetched."""
        self.jobs.append(rows)
        with suppress(OSError):
            self.connection.send(rows)

    def answer(self) -> WaveBatch:
        """Wait for the answer to the oldest job; raise what the job raised, or WorkerStopped."""
        try:
            data = self.connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerStopped from error
        self.jobs.popleft()
        if data.startswith(_BAD):
            raise pickle.loads(data[len(_BAD) :])
        return unpacked(data, len(_GOOD))

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self._process.terminate()
        self._process.join()
        self._process.close()


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the program's main module while a process is started.

    A spawned process runs the main module again to find what it was asked for; ours is found in this module.
    A script without the usual guard would start workers from its workers instead of being read once.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def serve(connection: Connection, reader: bytes, lod: bool) -> None:
    """Answer jobs until the other end is closed, by intent or because its process died."""
    end_with_parent()
    hold_memory()
    step_back()
    files: Any = pickle.loads(reader)
    try:
        while True:
            connection.send_bytes(_answer(files, connection.recv(), lod))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def settle() -> None:
    """What a process of a pool does first."""
    end_with_parent()
    step_back()


def step_back() -> None:
    """Let the window go first: on a machine with few cores it would wait for the processes that serve it."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(POLITENESS)


def _answer(reader: WaveReader, rows: list[int], lod: bool) -> bytes:
    try:
        return packed(prepare(reader, rows, lod), _GOOD)
    except Exception as error:  # the process border: a bug must reach the other side as what it is
        return _BAD + _portable(error)


def _portable(error: Exception) -> bytes:
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:  # whatever its __reduce__ or __init__ does
        return pickle.dumps(RcvError("A wave could not be read.", detail=repr(error)))
    return data
