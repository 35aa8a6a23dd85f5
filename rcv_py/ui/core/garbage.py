"""When Python may look for garbage: never in a thread, and not among what lives as long as the window."""

from __future__ import annotations

import gc

MOST = 20_000  # objects made since the last collection


class Garbage:
    """No automatic collection while a job runs in a thread or a capture is read in one.

    It would run in that thread, and delete widgets of closed windows there: Qt then waits for the UI thread,
    which waits for Python.  What piles up meanwhile is collected on the UI thread when a job begins or ends.
    """

    jobs = 0

    @classmethod
    def hold(cls, more: int) -> None:
        """Count jobs; called on the UI thread."""
        cls.jobs += more
        if cls.jobs > 0:
            gc.disable()
            if gc.get_count()[0] > MOST:
                gc.collect(1)
        else:
            gc.enable()
