"""Work that never ends and never lets Python look up: what children of a killed process may be doing."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rcv_py.formats.open import open_trace
from rcv_py.work import pool
from rcv_py.work.worker import settle
from tests.support.captures import ROOT


class BusyReader:
    """A reader of waves that keeps its process, and the interpreter's lock, forever."""

    base_clock = 4

    def read(self, rows: list[int]) -> None:
        """Never return."""
        spin(str(rows))


def spin(*_: object) -> None:
    """Match an expression that takes longer than the universe is old, in C."""
    re.search("(a|aa)+$", "a" * 3000 + "b")


def waves() -> None:
    """Workers that read waves."""
    trace = open_trace(ROOT / "sample_traces" / "matmul_tiled")
    pool.IN_PROCESS_BYTES, pool.JOB_BYTES = 0, 1  # type: ignore[misc]
    list(pool.WavePool(BusyReader(), trace.waves, workers=2))  # type: ignore[arg-type]


def executor() -> None:
    """Processes of a pool, as libraries and reports use them."""
    with ProcessPoolExecutor(2, get_context("spawn"), settle) as processes:
        list(processes.map(spin, range(8)))


KINDS: dict[str, Callable[[], None]] = {"waves": waves, "executor": executor}
