"""Work that never ends and never lets Python look up: what children of a killed process may be doing."""

from __future__ import annotations

import re
from collections.abc import Callable

from rcv_py.formats.open import open_trace
from rcv_py.work import load
from rcv_py.work.pool import WorkerPool, start_ahead
from tests.support.captures import ROOT


class BusyReader:
    """A reader of waves that keeps its process, and the interpreter's lock, forever."""

    base_clock = 4

    def columns(self, rows: list[int]) -> None:
        """Never return."""
        spin(str(rows))


def spin(*_: object) -> None:
    """Match an expression that takes longer than the universe is old, in C."""
    re.search("(a|aa)+$", "a" * 3000 + "b")


def waves() -> None:
    """Workers that read waves."""
    trace = open_trace(ROOT / "sample_traces" / "matmul_tiled")
    load.IN_PROCESS_BYTES, load.JOB_BYTES = 0, 1  # type: ignore[misc]
    list(load.WaveStream(BusyReader(), trace.waves, workers=2))  # type: ignore[arg-type]


def tidy() -> None:
    """Processes that remove half-written files when they are asked to end, as those of reports."""
    with WorkerPool(spin, 2, grace_s=5.0) as pool:
        for future in [pool.submit(number) for number in range(8)]:
            future.result()


def ahead() -> None:
    """Processes that were started before anybody wanted them; here they are copies of this one."""
    start_ahead(2, "rcv_py.work.load")
    with WorkerPool(spin, 2) as pool:
        for future in [pool.submit(number) for number in range(2)]:
            future.result()


KINDS: dict[str, Callable[[], None]] = {"waves": waves, "tidy": tidy, "ahead": ahead}
