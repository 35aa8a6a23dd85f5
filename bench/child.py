"""Measurements that need a process of their own: `python -m bench.child WHAT FOLDER` prints numbers."""

from __future__ import annotations

import sys
import time
from pathlib import Path


def peak(folder: Path) -> tuple[float, ...]:
    """Resident bytes of all waves, peak of this process, peak of the largest worker."""
    import resource  # noqa: PLC0415 - not on Windows

    from rcv_py.formats.open import open_trace  # noqa: PLC0415
    from rcv_py.work.load import WaveStream  # noqa: PLC0415

    trace = open_trace(folder)
    batches = tuple(WaveStream(trace.reader, trace.waves, workers=2))
    workers = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (sum(batch.nbytes for batch in batches), own_peak(), workers)


def own_peak() -> int:
    """Most bytes this process ever had resident; getrusage would count the process it was started from."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0


def parse(folder: Path) -> tuple[float, ...]:
    """Seconds, and seconds of CPU, to parse all wave files with orjson without making anything of them."""
    import orjson  # noqa: PLC0415

    began, spent = time.perf_counter(), time.process_time()
    for path in folder.glob("se*_wv*.json"):
        orjson.loads(path.read_bytes())
    return time.perf_counter() - began, time.process_time() - spent


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


def given_away(*_: object) -> None:
    """Take waves that end, and keep nothing."""


if __name__ == "__main__":
    measures = {"peak": peak, "parse": parse, "perfetto": perfetto}
    print(*measures[sys.argv[1]](Path(sys.argv[2])))
