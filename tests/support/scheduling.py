"""How the processes of a run share the tests, also when one of them ends within a test."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


class FileScheduling(LoadFileScheduling):
    """The tests of a file go to one process, and those of all files `together` to the same one."""

    together: Collection[str] = ()  # without `tests/`

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "together" if file.removeprefix("tests/") in self.together else file

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back what a process did not do; return the test that it ended in, which is not begun again.

        xdist would give that test to the next process, which it ends, too, and so on.
        """
        left = [
            (file, {test: False for test, is_done in tests.items() if not is_done})
            for file, tests in self.assigned_work.pop(node).items()
        ]
        left = [(file, tests) for file, tests in left if tests]
        if not left:
            return None
        ended = next(iter(left[0][1]))
        del left[0][1][ended]
        for file, tests in reversed(left):
            if tests:
                self.workqueue[file] = tests
                self.workqueue.move_to_end(file, last=False)
        for other in self.assigned_work:
            self._reschedule(other)
        return ended

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process more work, but not before it has collected the tests: two may be taking places."""
        if node in self.registered_collections:
            super()._reschedule(node)

    def schedule(self) -> None:
        """Give work to processes that have none.

        A process begins a test once it knows the next one, or that there is none: one that takes another's
        place needs two files, as those that began have, or it waits for ever before the only test of a file.
        """
        super().schedule()
        for node in self.nodes:
            self._reschedule(node)
