"""Measurements that need a process of their own: `python -m bench.child WHAT FOLDER` prints numbers."""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()  # imports below are inside functions, so that they count
FIRST_PICTURE = 0.3  # seconds behind that in which every panel is laid out and painted


def peak(folder: Path) -> tuple[float, ...]:
    """Resident bytes of all waves, peak of this process, peak of the largest worker."""
    import resource  # noqa: PLC0415 - not on Windows

    from rcv_py.formats.open import open_trace  # noqa: PLC0415
    from rcv_py.work.load import load_all  # noqa: PLC0415

    batches = load_all(open_trace(folder), lod=True)
    workers = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (sum(batch.nbytes for batch in batches), own_peak(), workers)


def own_peak() -> int:
    """Most bytes this process ever had resident; getrusage would count the process it was started from."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0


def gap(folder: Path) -> tuple[float, ...]:
    """Longest time in ms between two beats of a 5-ms timer while all waves stream into a session."""
    from PySide6.QtCore import QCoreApplication, QTimer  # noqa: PLC0415

    from rcv_py.state.session import Session  # noqa: PLC0415
    from rcv_py.ui.core.loader import Loader  # noqa: PLC0415
    from rcv_py.ui.core.settings_store import Settings  # noqa: PLC0415

    application = QCoreApplication([])
    session = Session()
    loader = Loader(session, Settings(None))
    beats: list[float] = []
    heart = QTimer(interval=5)
    heart.timeout.connect(lambda: beats.append(time.perf_counter()))
    heart.start()
    loader.failed.connect(lambda error: sys.exit(str(error)))
    loader.finished.connect(lambda: QTimer.singleShot(200, application.quit))
    QTimer.singleShot(50, lambda: loader.open(folder))
    application.exec()
    assert session.store is not None
    assert session.store.is_complete
    loader.close()
    return (1000 * max(after - before for before, after in pairwise(beats)),)


def window(folder: Path) -> tuple[float, ...]:
    """Ms until the window shows the capture; longest gap while it paints it first, and later, in ms."""
    from PySide6.QtCore import QTimer  # noqa: PLC0415

    from rcv_py.base import memory  # noqa: PLC0415

    memory.begin_start()  # as `rcv FOLDER` does
    from rcv_py.ui.app import start  # noqa: PLC0415

    app = start(None)
    memory.end_start()
    app.window.resize(1600, 950)
    app.window.show()
    app.window.opener.open(folder)
    app.loader.opened.connect(lambda: app.window.workspace.show_panel("global_timeline"))
    beats: list[float] = []
    shown: list[float] = []

    def look() -> None:
        if not shown and is_shown(app):
            app.window.repaint()
            shown.append(time.perf_counter())
        if shown:
            beats.append(time.perf_counter())
        store = app.ui.session.store
        if shown and store is not None and store.is_complete and app.window.idle:
            app.qt.quit()

    heart = QTimer(interval=5)
    heart.timeout.connect(look)
    heart.start()
    app.qt.exec()
    app.close()
    painted = shown[0] + FIRST_PICTURE
    first = [after - before for before, after in pairwise(beats) if before < painted]
    later = [after - before for before, after in pairwise(beats) if before >= painted]
    return tuple(1000 * part for part in (shown[0] - STARTED, max(first, default=0), max(later, default=0)))


def is_shown(app: Any) -> bool:
    """Whether Global, ISA and Explorer have rows."""
    panels = {name: dock.panel for name, dock in app.window.workspace.docks.items()}
    return bool(
        len(panels["global_timeline"].source)
        and panels["isa"].view.table.rowCount()
        and panels["explorer"].model.rowCount()
    )


def perfetto(folder: Path) -> tuple[float, ...]:
    """Seconds that a Perfetto trace takes, with reading; its tokens; bytes of memory it adds; of the file."""
    from rcv_py.base.whole_files import whole_file  # noqa: PLC0415
    from rcv_py.export.traces.perfetto import write_perfetto  # noqa: PLC0415
    from rcv_py.formats.open import open_trace  # noqa: PLC0415
    from rcv_py.work.load import batches  # noqa: PLC0415

    trace, target = open_trace(folder), folder.parent / "trace.pftrace"
    before, began = own_peak(), time.perf_counter()
    with whole_file(target) as stream:
        done = write_perfetto(trace, batches(trace), stream)
    seconds = time.perf_counter() - began
    return seconds, done.tokens, own_peak() - before, target.stat().st_size


if __name__ == "__main__":
    measures = {"peak": peak, "gap": gap, "window": window, "perfetto": perfetto}
    print(*measures[sys.argv[1]](Path(sys.argv[2])))
