"""The real window, watched from inside: `python -m bench.real view FOLDER` does what `rcv view FOLDER` does.

Nothing of the program is replaced or loaded earlier.  When its start has ended, a timer begins to look;
when nothing runs any more it closes the window and prints what it saw, a name and a number in each line.
Times are those of the monotonic clock, which all processes of a machine share: whoever started this one
knows the start.  A mistake in it, a job that raises included, ends the measurement with the error.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any

from rcv_py.cli.main import main
from rcv_py.tuning import memory

BEAT_MS = 5
LOOK_EVERY = 4  # beats: asking everything whether it is idle is work, too
QUIET_S = 2.0  # nothing runs any more if nothing ran for so long: predictions begin after a pause
BUSY_S = 0.01  # of CPU between two looks: something ran, whatever `idle` says
TIMEOUT_S = 900.0
PANEL_S = 0.25  # that each panel is in front, if all of them take turns
BARE_S = 2.0  # that the bare window is watched


class Watch:
    """Notes when the window showed its first picture, all waves, findings, predictions, and was settled.

    It also notes the longest gaps.
    """

    def __init__(self, window: Any, takes_turns: bool) -> None:
        from PySide6.QtCore import QTimer  # noqa: PLC0415 - the program has loaded it by now
        from PySide6.QtWidgets import QApplication  # noqa: PLC0415

        self._window, self._quit = window, QApplication.exit
        self._marks: dict[str, float] = {}
        self._gaps = {"gap_start": 0.0, "gap_stream": 0.0, "own_stream": 0.0}
        self._beats = 0
        self._began = self._last = self._quiet_since = time.monotonic()
        self._waited = waited_for_processor()
        self._spent = time.process_time()
        self._is_asked = ""  # what was so at the last look, and will be on the screen at the next
        self._turns = list(window.workspace.docks) if takes_turns else []
        self._front, self._turn_ends = "", 0.0
        window.opener.failed.connect(lambda error: self._end(str(error)))
        window.ui.tasks.failed.connect(lambda error, _: self._end(f"A job failed: {error!r}"))
        window.errors.broke.connect(lambda _, report: self._end(f"A panel met a mistake.\n{report}"))
        self._heart = QTimer(window, interval=BEAT_MS)
        self._heart.timeout.connect(self._beat)
        self._heart.start()

    def _beat(self) -> None:
        now = time.monotonic()
        self._note_gap(now - self._last)
        self._beats += 1
        if "first" not in self._marks or "drawn" not in self._marks or not self._beats % LOOK_EVERY:
            self._look(now)
        self._take_turns(now)
        self._last, self._waited = time.monotonic(), waited_for_processor()

    def _look(self, now: float) -> None:
        window, spent = self._window, time.process_time()
        for mark, is_so in (("first", self._shows_code), ("drawn", lambda: window.loader.idle)):
            if mark not in self._marks:
                if self._is_asked == mark:
                    self._marks[mark] = now
                self._is_asked = mark if is_so() else ""
                break
        self._look_at_findings(now)
        if "drawn" not in self._marks or spent - self._spent > BUSY_S or not window.idle:
            self._quiet_since = now
        elif now - self._quiet_since > QUIET_S:
            self._end()
        if now - self._began > TIMEOUT_S:
            self._end("The window does not come to rest.")
        self._spent = spent

    def _look_at_findings(self, now: float) -> None:
        panel = self._window.workspace.docks["triage"].made if "drawn" in self._marks else None
        found = None if panel is None else panel.findings
        for mark, is_there in (("findings", found), ("predictions", found and found.guesses)):
            if is_there:
                self._marks.setdefault(mark, now)

    def _shows_code(self) -> bool:
        """Whether the instructions of the capture are on the screen."""
        panel = self._window.workspace.docks["isa"].made
        if self._window.ui.session.trace.value is None or panel is None or not panel.isVisible():
            return False
        is_covered = panel.view.viewport().visibleRegion().isEmpty()  # nothing is painted yet
        return panel.view.table.rowCount() > 0 and not is_covered

    def _note_gap(self, gap: float) -> None:
        name = "gap_start" if "first" not in self._marks else "gap_stream"
        if "drawn" not in self._marks:
            own = gap - (waited_for_processor() - self._waited)
            found = {name: gap, f"gap_{self._front}" if self._front else name: gap}
            found[f"own_{self._front or name.removeprefix('gap_')}"] = own
            for key, length in found.items():
                self._gaps[key] = max(self._gaps.get(key, 0.0), length)

    def _take_turns(self, now: float) -> None:
        if self._turns and "drawn" in self._marks:  # gaps are those while waves stream: it ends as usual
            self._turns = []
            self._window.workspace.show_panel("triage")
        elif self._turns and "first" in self._marks and now > self._turn_ends:
            self._front, self._turn_ends = self._turns[0], now + PANEL_S
            self._turns = [*self._turns[1:], self._front]
            self._window.workspace.show_panel(self._front)

    def _end(self, error: str = "") -> None:
        if not self._heart.isActive():  # it has ended: what closes may fail, too
            return
        self._heart.stop()
        if error or self._window.ui.results.cell("findings").value is None:
            sys.stderr.write(f"{error or 'Nobody looked for findings.'}\n")
            self._window.close()
            self._quit(1)
            return
        for name, number in {**self._marks, "settled": self._quiet_since, **self._gaps}.items():
            print(name, f"{number:.4f}", flush=True)
        self._window.close()


@cache
def _schedule() -> int:
    """The open file in which the system counts that: a beat must not cost what it measures."""
    return os.open("/proc/thread-self/schedstat", os.O_RDONLY)


def waited_for_processor() -> float:
    """Seconds that this thread could have run and other programs or processes did; 0 where nobody counts."""
    with suppress(OSError, IndexError, ValueError):
        return int(os.pread(_schedule(), 99, 0).split()[1]) / 1e9
    return 0.0


def view(words: list[str], takes_turns: bool = False) -> int:
    """Run the command `rcv view`, watched."""
    end_start, watches = memory.end_start, []

    def watched() -> None:
        end_start()
        from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - loaded by the program

        window = next(one for one in QApplication.topLevelWidgets() if hasattr(one, "workspace"))
        watches.append(Watch(window, takes_turns))

    memory.end_start = watched
    return main(["view", *words])


def bare() -> int:
    """Show a window of Qt with a plot of pyqtgraph: what no viewer made of them can go below."""
    from pyqtgraph import PlotWidget  # noqa: PLC0415
    from PySide6.QtCore import QTimer  # noqa: PLC0415 - its time counts
    from PySide6.QtWidgets import QApplication, QMainWindow  # noqa: PLC0415

    application = QApplication([])
    window = QMainWindow()
    plot = PlotWidget()
    plot.plot([0, 1, 2], [0, 1, 0])
    window.setCentralWidget(plot)
    window.resize(1600, 950)
    window.show()
    beats: list[float] = []

    def beat() -> None:
        beats.append(time.monotonic())
        if beats[-1] - beats[0] > BARE_S:
            window.close()

    heart = QTimer(window, interval=BEAT_MS)
    heart.timeout.connect(beat)
    heart.start()
    application.exec()
    gap = max(after - before for before, after in pairwise(beats[1:]))
    print(f"settled {beats[1]:.4f}\ngap_stream {gap:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    sys.exit(bare() if what == "bare" else view(arguments, what == "turns"))
