"""Programs whose processes compute forever: what is killed in tests."""

import sys
from collections.abc import Callable
from pathlib import Path

from rcv_py.formats.open import open_trace
from rcv_py.work import load
from rcv_py.work.pool import WorkerPool
from rcv_py.work.processes import start_ahead
from tests.support.busy_forever import BusyReader, stay
from tests.support.paths import ROOT


def waves(notes: Path) -> None:
    """Workers that read waves."""
    trace = open_trace(ROOT / "sample_traces" / "matmul_tiled")
    load.IN_PROCESS_BYTES, load.JOB_BYTES = 0, 1  # type: ignore[misc]
    list(load.WaveStream(BusyReader(notes), trace.waves, workers=2))  # type: ignore[arg-type]


def tidy(notes: Path) -> None:
    """Processes that remove half-written files when they are asked to end, as those of reports."""
    with WorkerPool(stay, 2, grace_s=5.0) as pool:
        for future in [pool.submit(notes / str(number)) for number in range(8)]:
            future.result()


def ahead(notes: Path) -> None:
    """Processes that were started before anybody wanted them; here they are copies of this one."""
    start_ahead(2, "rcv_py.work.load")
    with WorkerPool(stay, 2) as pool:
        for future in [pool.submit(notes / str(number)) for number in range(2)]:
            future.result()


KINDS: dict[str, Callable[[Path], None]] = {"waves": waves, "tidy": tidy, "ahead": ahead}

if __name__ == "__main__":
    KINDS[sys.argv[1]](Path(sys.argv[2]))
