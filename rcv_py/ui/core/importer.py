"""Import modules while the window runs, one in each turn of the event loop."""

import sys
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module

from PySide6.QtCore import QObject
from shiboken6 import isValid

from rcv_py.ui.core.frame_budget import FrameBudget, one_shot

# Modules that take several frames to import, right after the first picture, and what to import before them.
STEPS = {
    "rcv_py.analysis.findings.detect": (
        "rcv_py.analysis.attribution.stream",
        "rcv_py.analysis.attribution.attribute",
        "rcv_py.analysis.device.occupancy_limits",
        "rcv_py.analysis.iterations.loop_summary",
        "rcv_py.analysis.latency.access_widths",
        "rcv_py.analysis.findings.inputs",
        "rcv_py.analysis.findings.remedies",
    )
}


class Importer(QObject):
    """Imports wanted modules in the order of requests, none before the first picture of the window.

    An error of an import is raised again where the module is used, and reported there.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: deque[tuple[list[str], Callable[[], object]]] = deque()
        self._held: list[Callable[[], object]] | None = None  # calls to make after the first picture
        self._timer = one_shot(self, lambda: FrameBudget.here().call(self._import_one))

    def when_imported(self, names: Iterable[str], then: Callable[[], object]) -> None:
        """Call a function once modules are imported: at once if they are."""
        wanted = (name for one in names for name in (*STEPS.get(one, ()), one))
        lacking = [name for name in wanted if name not in sys.modules]
        if not lacking:
            then()
        elif all(then != known for _, known in self._wanted):
            self._wanted.append((lacking, then))
            self.after_first_picture(self._timer.start)

    @property
    def is_idle(self) -> bool:
        """Return whether no module is wanted."""
        return not self._wanted

    def hold(self) -> None:
        """Import nothing until `release`: a picture is to be painted first."""
        self._held = []

    def release(self) -> None:
        """Import from now on."""
        held, self._held = self._held, None
        for call in held or ():
            call()

    def after_first_picture(self, call: Callable[[], object]) -> None:
        """Call a function at once, or after the first picture."""
        if self._held is None:
            call()
        elif call not in self._held:
            self._held.append(call)

    def _import_one(self) -> None:
        """Import a module; once all are there, make the call in a turn of its own."""
        if not isValid(self) or not self._wanted or self._held is not None:
            return
        self._timer.start()  # for the next
        names, then = self._wanted[0]
        if names:
            with suppress(Exception):
                import_module(names.pop(0))
        else:
            self._wanted.popleft()
            then()
