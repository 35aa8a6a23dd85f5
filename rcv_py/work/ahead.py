"""Preload a capture before the window exists: open a large one, and read its waves in processes.

```
main thread   ── imports of Qt ─── window ─── waves read meanwhile ── later waves
its thread    └─ open ─┐                    │
processes     └────────┴─ read ─ read ─ read ─ read ─ read ─ read ─ findings
```
Processes decode a raw capture before they read it, its beginning first.

A small capture is opened at once, and a process computes its findings (`SmallPreload`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread

from rcv_py.base.progress import CancelFlag, Report, Stage, silent
from rcv_py.formats.locate import CaptureForm, locate, shape_of
from rcv_py.formats.uiout.folder import WAVE_NAME
from rcv_py.model.trace import Trace
from rcv_py.work.findings import SMALL_BYTES, FindingsAhead
from rcv_py.work.load import WaveStream, worth
from rcv_py.work.machine import has_spare_core
from rcv_py.work.opening import open_capture
from rcv_py.work.processes import end_ahead, may_fork, start_ahead

FINDINGS_MODULE = "rcv_py.analysis.findings.detect"  # computed by processes once they have read


class Preload:
    """A capture that is opened and read from now on, for its first user."""

    def __init__(self, folder: Path, processes: int) -> None:
        self.folder, self.processes = folder, processes
        self._report: Report = silent
        self._closed = CancelFlag()
        self._begun: Future[Trace | None] = Future()  # its beginning; None: the whole was opened at once
        self._opened: Future[tuple[Trace, WaveStream]] = Future()
        import_module(FINDINGS_MODULE)  # once for all of them
        start_ahead(processes, "rcv_py.work.findings")  # while no other thread runs: they may be copies
        self._thread = Thread(target=self._run, name="rcv-ahead", daemon=True)
        self._thread.start()

    @classmethod
    def of(cls, path: Path) -> Preload | None:
        """Begin with the capture at a path, if there is one and it is large enough for processes."""
        located = locate(path.expanduser().absolute())
        if not located.is_capture:
            return None
        sizes = _sizes(located.folder)
        processes = worth(len(sizes), sum(sizes))
        return cls(located.folder, processes) if processes else None

    def open(self, report: Report = silent, early: Callable[[Trace], None] | None = None) -> Trace:
        """Wait for the trace; raises exceptions of opening it and of `report`.

        `early` is called with its beginning, if the rest takes a while.
        """
        self._report = report
        begun = self._begun.result()
        if begun is not None and early is not None:
            early(begun)
        return self._opened.result()[0]

    def stream(self) -> WaveStream:
        """The waves, many of which may have been read; to be iterated over once."""
        return self._opened.result()[1]

    def close(self) -> None:
        """End all work; no pending result will arrive."""
        self._closed.set()
        self._thread.join()
        if self._opened.exception() is None:
            self.stream().close()
        end_ahead()

    def _run(self) -> None:
        def say(stage: Stage) -> None:
            self._closed.check()
            self._report(stage)

        try:
            trace = open_capture(self.folder, say, self._begun.set_result)
            stream = WaveStream(trace.reader, trace.waves, workers=self.processes, trace=trace, keeps=True)
            stream.begin()
            self._opened.set_result((trace, stream))
        except Exception as error:  # the border of the thread: the caller gets it
            self._opened.set_exception(error)
        if not self._begun.done():
            self._begun.set_result(None)


class SmallPreload:
    """A small capture, which takes no time to open; a process computes its findings from now on."""

    processes = 0  # that read waves

    def __init__(self, folder: Path, run_files: tuple[Path, ...]) -> None:
        trace = open_capture(folder)
        self.folder, self.findings = folder, FindingsAhead(trace, run_files)
        self._trace: list[Trace] = [trace]  # until it is taken, not as long as the program runs

    @classmethod
    def of(cls, path: Path, run_files: tuple[Path, ...] = ()) -> SmallPreload | None:
        """Open the decoded capture at a path, if it is small and another processor can have a copy of us."""
        located = locate(path.expanduser().absolute())
        if not (located.is_capture and shape_of(located.folder) is CaptureForm.DECODED):
            return None
        if not may_fork() or not has_spare_core():
            return None
        with suppress(Exception), os.scandir(located.folder) as entries:  # the window opens it, and says why
            if sum(entry.stat().st_size for entry in entries) <= SMALL_BYTES:
                return cls(located.folder, run_files)
        return None

    def open(self, report: Report = silent, early: Callable[[Trace], None] | None = None) -> Trace:
        """Hand over the trace."""
        return self._trace.pop()

    def close(self) -> None:
        """End the process; nobody wants the trace any more."""
        self._trace.clear()
        self.findings.close()


def _sizes(folder: Path) -> list[int]:
    """Bytes of the files with names of wave files; of a raw capture the bytes of its streams."""
    if shape_of(folder) is CaptureForm.RAW:
        from rcv_py.formats.raw.files import raw_capture  # noqa: PLC0415 - of raw files alone

        raw = raw_capture(folder)
        return [stream.size for stream in raw.streams] if raw is not None else []
    try:
        with os.scandir(folder) as entries:
            return [entry.stat().st_size for entry in entries if WAVE_NAME.fullmatch(entry.name)]
    except OSError:  # opening it reports the reason
        return []
