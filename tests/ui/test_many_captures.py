"""A window in which one capture after the other is opened holds no more than one that opened a few."""

import gc
import os
import threading
from collections import Counter
from itertools import cycle, pairwise
from pathlib import Path
from weakref import ref

import pytest
from PySide6.QtCore import QAbstractAnimation, QObject
from pytestqt.qtbot import QtBot

from rcv_py.base.log import LogEntry  # of which the newest are kept, a bounded number of lines
from rcv_py.ui.core.tasks import GcGate
from tests.support.shared_memory import mappings
from tests.support.whole_capture import capture, wave, write
from tests.ui.window import open_sample, show_panel, window

PANELS = ("waits", "causes", "summary", "hotspot")  # in front one after the other
PROGRESS = ("rcv_py.base.text.Message", "rcv_py.base.progress.Stage")  # types of texts of progress
ROUNDS = 3  # of all panels, with the captures in turn; the first one warms up
POOL = "rcv-task"  # whose threads come when they are needed, so many and no more
OURS = ("rcv_py", "numpy", "pyqtgraph")


def held(root: QObject) -> Counter[str]:
    """How many of everything there are: ours by type, what Qt has below the window, what is the system's."""
    gc.collect()
    found: Counter[str] = Counter()
    for one in gc.get_objects():
        kind = type(one)
        # A type of Cython, of what is imported meanwhile, describes the modules of its functions there.
        if str(kind.__module__).startswith(OURS) and not isinstance(one, QObject | LogEntry):
            found[f"{kind.__module__}.{kind.__qualname__}"] += 1
    for child in root.findChildren(QObject):
        if not isinstance(child, QAbstractAnimation):  # of Qt's own, which end by themselves
            found[child.metaObject().className()] += 1
    found["threads"] = sum(not one.name.startswith(POOL) for one in threading.enumerate())
    found["shared blocks"] = mappings()
    if Path("/proc/self/fd").exists():
        found["files"] = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    return found


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two captures of a few waves."""
    made = tuple(tmp_path / name / "ui_output_agent_1_dispatch_1" for name in "ab")
    for count, folder in enumerate(made, 2):
        write(folder, capture({(0, 0, slot, 0): wave(1000 + 100 * slot) for slot in range(count)}))
    return made


def test_opening_captures_in_turn_keeps_nothing_of_those_before(folders: tuple[Path, Path]) -> None:
    with window(size=(1600, 900), is_painted=True) as app:
        app.window.looks_at_health = False  # seconds later, in one round or the other
        rounds = []
        for _ in range(ROUNDS):
            for panel, folder in zip(PANELS, cycle(folders), strict=False):
                open_sample(app, folder)
                show_panel(app, panel)
            rounds.append(held(app.window))
    assert rounds[0]["rcv_py.model.trace.Trace"] == 1, "what is open"
    warm, last = rounds[0], rounds[-1]
    grown = {name: (warm[name], count) for name, count in last.items() if count > warm[name]}
    # Which text of progress was shown last is chance, and some have more parts; kept ones grow each round.
    for name in PROGRESS:
        if any(after[name] <= before[name] for before, after in pairwise(rounds)):
            grown.pop(name, None)
    assert grown == {}


def test_what_was_open_goes_at_once_and_not_with_the_garbage(
    folders: tuple[Path, Path], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage is looked for when nothing runs: who goes from capture to capture would hold them all."""
    monkeypatch.setattr(GcGate, "collect_young", lambda: None)
    monkeypatch.setattr(GcGate, "collect_all", lambda: True)
    before = None
    with window(size=(1600, 900), is_painted=True) as app:
        for panel, folder in zip(PANELS, cycle(folders), strict=False):
            open_sample(app, folder)
            show_panel(app, panel)
            # A job that was cancelled may hold it until the next checkpoint in its thread.
            qtbot.waitUntil(lambda gone=before: gone is None or gone() is None)
            before = ref(app.ui.session.store)
