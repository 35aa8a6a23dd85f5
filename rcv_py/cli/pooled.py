"""All waves of a capture, read in several processes, with progress on the terminal.

A module of its own: commands that read no waves do not wait for the import of the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rcv_py.cli.opening import waves_in
from rcv_py.cli.progress import watched
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.load import STAGE, batches


def pooled(trace: Trace, rows: Iterable[int] | None = None) -> Iterator[WaveBatch]:
    """Read waves, all by default, in no particular order, and show how far it is."""
    chosen = list(range(len(trace.waves)) if rows is None else rows)
    return watched(batches(trace, chosen), STAGE, len(chosen), waves_in)
