"""A capture as a native Perfetto trace, which ui.perfetto.dev and its trace_processor open.

```
process   Device             counters of the hardware, resident waves, kernels, dispatches, events
process   SE0 CU1 SIMD2      markers of its slots
  thread  se0/simd2/slot5/wv3     its instructions; tracks: states, and lanes of what overlaps
```

Instructions are slices with line, stall, cycle and source; an arrow leads from what a wait waited for to the
wait.  Written batch by batch: memory does not grow with the capture.  Times are nanoseconds if the capture
tells its clock; else, or if asked, a cycle is written as one nanosecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.progress import CancelFlag, Report, Stage, silent
from rcv_py.base.text import short_kernel
from rcv_py.export.traces.perfetto_device import DEVICE, Device, device_names
from rcv_py.export.traces.perfetto_names import Names, process, thread, track
from rcv_py.export.traces.perfetto_rows import Scale, slice_bytes
from rcv_py.export.traces.perfetto_waves import FIRST_WAVE, STATES, STRIDE, Waves, lane_tracks
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

STAGE = "Writing waves"


@dataclass(slots=True)
class Written:
    """How much was written."""

    waves: int = 0
    tokens: int = 0
    missing: int = 0  # waves that could not be read


def write_perfetto(
    trace: Trace,
    batches: Iterable[WaveBatch],
    target: BinaryIO,
    *,
    rows: Iterable[int] | None = None,
    spans: MarkerSpans | None = None,
    cycles: bool = False,
    report: Report = silent,
    cancel: CancelFlag | None = None,
) -> Written:
    """Write a trace of the waves of `batches`; `rows` of the wave index announces them (None: all).

    With `cycles` a cycle is one nanosecond, even if the clock is known.  Raises Cancelled.
    """
    chosen = list(range(len(trace.waves))) if rows is None else sorted(set(rows))
    texts, device = Names(), Device(trace, spans)
    scale = Scale(device.begin, 1.0 if cycles else trace.clock.ns(1) or 1.0)
    waves = Waves(trace, texts)
    device_names(device, texts)
    places = _announce(trace, chosen, target)
    target.write(texts.packet())
    for part in device.packets(texts, scale, places):
        target.write(part)
    done = Written()
    for batch in batches:
        if cancel is not None:
            cancel.check()
        tokens = waves.tokens(batch)
        target.write(lane_tracks(tokens))
        for slices in (tokens, waves.states(batch)):
            for part in slice_bytes(slices, scale):
                target.write(part)
        done.waves += len(batch.waves)
        done.missing += len(batch.missing)
        done.tokens += len(tokens)
        report(Stage(STAGE, done.waves + done.missing, len(chosen)))
    return done


def _announce(trace: Trace, rows: list[int], target: BinaryIO) -> dict[tuple[int, ...], int]:
    """Write what processes and threads there are; return the track of each (SE, SA, CU, SIMD)."""
    index = trace.waves
    columns = (index.se, index.sa, index.cu, index.simd)
    of_row = list(zip(*(column.tolist() for column in columns), strict=True))
    places = sorted({of_row[row] for row in rows})
    pid = {place: DEVICE + 1 + at for at, place in enumerate(places)}
    name = short_kernel(trace.kernel_name)
    target.write(process(DEVICE, DEVICE, f"Device · {trace.name}{f' · {name}' if name else ''}"))
    for place, number in pid.items():
        target.write(process(number, number, _place(place, trace.unit_name)))
    first_tid = DEVICE + 1 + len(places)
    for row in rows:
        uuid, parent = FIRST_WAVE + row * STRIDE, pid[of_row[row]]
        target.write(thread(uuid, parent, parent, first_tid + row, str(index.id(row))))
        target.write(track(uuid + STATES, uuid, "state"))
    return pid


def _place(place: tuple[int, ...], unit: str) -> str:
    se, sa, cu, simd = place
    array = f" SA{sa}" if sa > 0 else ""
    where = f" {unit}{cu}" if cu >= 0 else ""
    return f"SE{se}{array}{where} SIMD{simd}"
