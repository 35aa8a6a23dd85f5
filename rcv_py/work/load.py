"""All waves of an open trace, for commands and tests: no window, no threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from rcv_py.base.progress import CancelFlag, Report, Stage, silent
from rcv_py.formats.kept import KeptReader
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch, WaveIndex
from rcv_py.work.pool import WavePool

STAGE = "Reading waves"


def batches(
    trace: Trace,
    rows: Iterable[int] | None = None,
    *,
    report: Report = silent,
    cancel: CancelFlag | None = None,
    workers: int | None = None,
    lod: bool = False,
) -> Iterator[WaveBatch]:
    """Yield the waves at these rows of the index (all by default), in no particular order.

    Waves that cannot be read are listed in the batches.  Raises Cancelled once `cancel` is set.  A process
    that keeps captures does not read again what it has read before.
    """
    chosen = range(len(trace.waves)) if rows is None else list(rows)
    kept = trace.reader if isinstance(trace.reader, KeptReader) else None
    read = partial(
        _read,
        trace.reader if kept is None else kept.plain,
        trace.waves,
        chosen,
        report=report,
        cancel=cancel,
        workers=workers,
        lod=lod,
    )
    return read() if kept is None else kept.remembered((*chosen, lod), read)


def _read(
    reader: WaveReader,
    waves: WaveIndex,
    rows: Iterable[int],
    *,
    report: Report,
    cancel: CancelFlag | None,
    workers: int | None,
    lod: bool,
) -> Iterator[WaveBatch]:
    pool = WavePool(reader, waves, rows, workers=workers, lod=lod)
    done = 0
    report(Stage(STAGE, done, pool.total))
    for batch in pool:
        if cancel is not None:
            cancel.check()
        done += len(batch.waves) + len(batch.missing)
        report(Stage(STAGE, done, pool.total))
        yield batch


def load_all(
    trace: Trace,
    *,
    report: Report = silent,
    cancel: CancelFlag | None = None,
    workers: int | None = None,
    lod: bool = False,
) -> tuple[WaveBatch, ...]:
    """Return all waves of a trace; see `batches`."""
    return tuple(batches(trace, report=report, cancel=cancel, workers=workers, lod=lod))
