"""What is done of a large capture before there is a window: it is opened, and processes read its waves.

```
main thread   ── imports of Qt ─── window ─── what was read meanwhile ── what comes
its thread    └─ open ─┐                    │
processes     └────────┴─ read ─ read ─ read ─ read ─ read ─ read
```
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from rcv_py.base.progress import CancelFlag, Report, Stage, silent
from rcv_py.formats.locate import locate
from rcv_py.formats.uiout.folder import WAVE_NAME
from rcv_py.model.trace import Trace
from rcv_py.work.load import WaveStream, worth
from rcv_py.work.opening import open_capture
from rcv_py.work.processes import end_ahead, start_ahead


class Ahead:
    """A capture that is opened and read from now on, for the first who asks for it."""

    def __init__(self, folder: Path, processes: int) -> None:
        self.folder, self.processes = folder, processes
        self._report: Report = silent
        self._closed = CancelFlag()
        self._opened: Future[tuple[Trace, WaveStream]] = Future()
        start_ahead(processes, "rcv_py.work.findings")  # while no other thread runs: they may be copies
        self._thread = Thread(target=self._run, name="rcv-ahead", daemon=True)
        self._thread.start()

    @classmethod
    def of(cls, path: Path) -> Ahead | None:
        """Begin with the capture at a path, if one is there, and processes are worth starting for it."""
        located = locate(path.expanduser().absolute())
        if not located.is_capture:
            return None
        sizes = _wave_sizes(located.folder)
        processes = worth(len(sizes), sum(sizes))
        return cls(located.folder, processes) if processes else None

    def open(self, report: Report = silent) -> Trace:
        """Wait for the trace; raises what opening it raises, and what `report` does."""
        self._report = report
        return self._opened.result()[0]

    def stream(self) -> WaveStream:
        """The waves, many of which may be there already; to be iterated over once."""
        return self._opened.result()[1]

    def close(self) -> None:
        """End all that goes on; nothing that was asked for comes any more."""
        self._closed.set()
        self._thread.join()
        if self._opened.exception() is None:
            self.stream().close()
        end_ahead()

    def _run(self) -> None:
        try:
            trace = open_capture(self.folder, self._say)
            stream = WaveStream(trace.reader, trace.waves, workers=self.processes, trace=trace, keeps=True)
            stream.begin()
            self._opened.set_result((trace, stream))
        except Exception as error:  # the border of the thread: whoever asks hears of it
            self._opened.set_exception(error)

    def _say(self, stage: Stage) -> None:
        self._closed.check()
        self._report(stage)


def _wave_sizes(folder: Path) -> list[int]:
    """Bytes of the files that are named as wave files are."""
    try:
        with os.scandir(folder) as entries:
            return [entry.stat().st_size for entry in entries if WAVE_NAME.fullmatch(entry.name)]
    except OSError:  # opening it says why
        return []
