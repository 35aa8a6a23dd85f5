"""Opens the capture that the open one is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from rcv_py.analysis.compare.costs import explained_costs
from rcv_py.base.errors import NotATrace, UsageError
from rcv_py.formats.uiout.load import open_folder
from rcv_py.state.baseline import Baseline
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.shell.opener import NOTHING_BELOW, find
from rcv_py.work.load import batches


class BaselineOpener(QObject):
    """Reads all waves of a capture in a thread, with the processes of the loader, and keeps their sums."""

    def __init__(self, ui: UiContext, show: Callable[[], None]) -> None:
        """`show` is called when the baseline is there."""
        super().__init__()
        self._ui, self._show = ui, show

    def open(self, path: Path | str, twin: Path | str | None = None) -> None:
        """Read a capture and make it the baseline; what goes wrong arrives as a failed task.

        `twin` is another capture of the baseline's build, which tells the noise.
        """
        places = [Path(one).expanduser().absolute() for one in (path, twin) if one is not None]
        workers = int(self._ui.settings["load.workers"])

        def job() -> Baseline:
            baseline, *twins = (read(place, workers) for place in places)
            return replace(baseline, twin=twins[0]) if twins else baseline

        self._ui.tasks.run(self, job, self._take)

    def open_twin(self, path: Path | str) -> None:
        """Read another capture of the build of the baseline: what it differs by is noise from now on."""
        place = Path(path).expanduser().absolute()
        workers = int(self._ui.settings["load.workers"])
        baseline = self._ui.session.baseline.value

        def job() -> Baseline:
            twin = read(place, workers)
            if baseline is not None and twin.trace.path == baseline.trace.path:
                raise UsageError(
                    f"{place} is the baseline itself, and nothing differs from itself.",
                    hint="Choose another recording of the same build.",
                )
            return twin

        def take(twin: Baseline) -> None:
            baseline = self._ui.session.baseline.value
            if baseline is not None:  # it may have been forgotten meanwhile
                self._take(replace(baseline, twin=twin))

        self._ui.tasks.run(self, job, take, "twin")

    def forget_twin(self) -> None:
        """Tell the noise from the waves of both captures alone."""
        baseline = self._ui.session.baseline.value
        if baseline is not None:
            self._ui.session.set_baseline(replace(baseline, twin=None))

    def forget(self) -> None:
        """Compare with nothing."""
        self._ui.session.set_baseline(None)

    def _take(self, baseline: Baseline) -> None:
        self._ui.session.set_baseline(baseline)
        self._show()


def read(path: Path, workers: int | None = None) -> Baseline:
    """Return the capture at a path, or the only one below it; raise RcvError with a sentence."""
    found = find(path)
    if found.located.error is not None:
        raise found.located.error
    paths = [entry.path for entry in found.entries if not entry.note]
    if found.located.is_capture:
        paths = [found.located.folder]
    if not paths:
        raise NotATrace(path, NOTHING_BELOW)
    if len(paths) > 1:
        raise UsageError(
            f"{path} holds several captures, and a baseline is one.", hint="Choose the folder of one capture."
        )
    trace = open_folder(paths[0])
    return Baseline(trace, explained_costs(trace, batches(trace, workers=workers)))
