"""The real window, watched from inside: `python -m bench.real view FOLDER` does what `rcv view FOLDER` does.

Nothing of the program is replaced or loaded earlier.  When its start has ended, a timer begins to look; when nothing
runs any more it closes the window and prints what it saw: a name and a number in each line.  Times are those of the
monotonic clock, which all processes of a machine share, so that whoever started this one knows its own beginning.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from rcv_py.base import memory
from rcv_py.cli.main import main

BEAT_MS = 5
LOOK_EVERY = 4  # beats: asking everything whether it is idle takes a part of a millisecond
QUIET_S = 0.3  # nothing runs any more if nothing ran for so long
BUSY_S = 0.01  # of CPU between two beats: something ran, whatever `idle` says
PATIENCE_S = 900.0
PANEL_S = 0.25  # that each panel is in front, if all of them take turns
BARE_S = 2.0  # that the bare window is watched


class Watch:
    """Notes when the window showed its first picture, had all waves, and was settled; and its longest gaps."""

    def __init__(self, window: Any, takes_turns: bool) -> None:
        from PySide6.QtCore import QTimer  # noqa: PLC0415 - the program has loaded it by now

        self._window = window
        self._marks: dict[str, float] = {}
        self._gaps: dict[str, float] = {"gap_start": 0.0, "gap_stream": 0.0}
        self._candidates: dict[str, int] = {}  # beats at which something was so, one after the other
        self._last = self._quiet_since = time.monotonic()
        self._spent = time.process_time()
        self._turns = list(window.workspace.docks) if takes_turns else []
        self._front, self._turn_ends = "", 0.0
        window.opener.failed.connect(self._fail)
        self._heart = QTimer(window, interval=BEAT_MS)
        self._heart.timeout.connect(self._look)
        self._heart.start()

    def _look(self) -> None:
        now, spent = time.monotonic(), time.process_time()
        self._note_gap(now - self._last)
        loader = self._window.loader
        self._mark("first", now, self._shows_code())
        self._mark("drawn", now, "first" in self._marks and loader.idle)
        is_busy = spent - self._spent > BUSY_S or "drawn" not in self._marks or not self._window.idle
        if is_busy:
            self._quiet_since = now
        elif now - self._quiet_since > QUIET_S:
            self._end()
        if now - self._heart_began > PATIENCE_S:
            self._fail("The window does not come to rest.")
        self._take_turns(now)
        self._last, self._spent = time.monotonic(), spent

    _heart_began = time.monotonic()

    def _mark(self, name: str, now: float, is_so: bool) -> None:
        """Note the second beat at which it is so: what was asked to be painted at the first is painted then."""
        if name not in self._marks:
            self._candidates[name] = self._candidates.get(name, 0) + 1 if is_so else 0
            if self._candidates[name] == 2:
                self._marks[name] = now

    def _note_gap(self, gap: float) -> None:
        names = (
            ["gap_start"]
            if "first" not in self._marks
            else ["gap_stream"]
            if "drawn" not in self._marks
            else []
        )
        if self._front and names:
            names.append(f"gap_{self._front}")
        for name in names:
            self._gaps[name] = max(self._gaps.get(name, 0.0), gap)

    def _take_turns(self, now: float) -> None:
        if self._turns and "first" in self._marks and now > self._turn_ends:
            self._turns.append(self._turns.pop(0))
            self._front, self._turn_ends = self._turns[-1], now + PANEL_S
            self._window.workspace.show_panel(self._front)

    def _shows_code(self) -> bool:
        """Whether the workspace is on screen with the instructions of the capture."""
        window = self._window
        if window.ui.session.trace.value is None or not window.workspace.isVisible():
            return False
        return bool(window.workspace.docks["isa"].panel.view.table.rowCount())

    def _fail(self, error: object) -> None:
        sys.stderr.write(f"{error}\n")
        self._heart.stop()
        sys.stderr.flush()
        import os  # noqa: PLC0415

        os._exit(1)

    def _end(self) -> None:
        self._heart.stop()
        results = self._window.ui.results
        found = results.cell("findings").value
        assert found is not None, "nobody looked for findings"
        for name, number in {**self._marks, "settled": self._quiet_since, **self._gaps}.items():
            print(name, f"{number:.4f}")
        print("findings", len(found.findings), flush=True)
        self._window.close()


def view(words: list[str], takes_turns: bool = False) -> int:
    """Run the command `rcv view`, watched."""
    end_start = memory.end_start

    def watched() -> None:
        end_start()
        from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - loaded by the program

        windows = [one for one in QApplication.topLevelWidgets() if hasattr(one, "workspace")]
        windows[0].watch = Watch(windows[0], takes_turns)  # type: ignore[attr-defined]

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

    def look() -> None:
        beats.append(time.monotonic())
        if beats[-1] - beats[0] > BARE_S:
            window.close()

    heart = QTimer(window, interval=BEAT_MS)
    heart.timeout.connect(look)
    heart.start()
    application.exec()
    gap = max(after - before for before, after in zip(beats[1:], beats[2:], strict=False))
    print("settled", f"{beats[1]:.4f}\ngap_stream {gap:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    sys.exit(bare() if what == "bare" else view(words, what == "turns"))
