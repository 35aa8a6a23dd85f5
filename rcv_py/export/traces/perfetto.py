"""A capture as a native Perfetto trace, which ui.perfetto.dev and its trace_processor open.

```
process   Device             counters of the hardware, resident waves, kernels, dispatches, events
process   SE0 CU1 SIMD2      markers of its slots
  thread  se0/simd2/slot5/wv3     its instructions; tracks: states, and lanes of what overlaps
```

Instructions are slices with line, stall, cycle and source; an arrow leads from a producer to the wait for it.
Written batch by batch: memory does not grow with the capture.  Times are nanoseconds if the capture has the
clock rate; else, or with `cycles`, a cycle is written as one nanosecond.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.base.text import Message, short_kernel
from rcv_py.export.tables import segments
from rcv_py.export.traces import perfetto_rows as packets
from rcv_py.export.traces.perfetto_device import DEVICE, Device, device_names
from rcv_py.export.traces.perfetto_rows import FlowEnds, InternedNames, Slices, TraceClock, slice_bytes, track
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import KIND_COUNT, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

STAGE = "Writing waves"
FIRST_WAVE = 1 << 20  # uuid of the first wave's thread; below are places, markers and curves
STRIDE = 16  # uuids of a wave: its thread, 7 more lanes, its states
STATES = 8
_MAX_LANES = 8


@dataclass(slots=True)
class TraceCounts:
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
) -> TraceCounts:
    """Write a trace of the waves of `batches`; `rows` of the wave index announces them (None: all).

    With `cycles` a cycle is one nanosecond, even if the clock is known.  Raises Cancelled.
    """
    chosen = list(range(len(trace.waves))) if rows is None else sorted(set(rows))
    texts, device = InternedNames(), Device(trace, spans)
    scale = TraceClock(device.begin, 1.0 if cycles else trace.clock.ns(1) or 1.0)
    waves = WaveSlices(trace, texts)
    device_names(device, texts)
    places = _announce(trace, chosen, target)
    target.write(texts.packet())
    target.writelines(device.packets(texts, scale, places))
    done = TraceCounts()
    for batch in batches:
        checkpoint()
        tokens = waves.tokens(batch)
        for uuid in np.unique(tokens.track).tolist():
            if lane := uuid % STRIDE:  # of instructions that overlap others
                target.write(track(uuid, uuid - lane, Message("lane {0}", lane + 1)))
        for slices in (tokens, waves.states(batch)):
            target.writelines(slice_bytes(slices, scale))
        done.waves += len(batch.waves)
        done.missing += len(batch.missing)
        done.tokens += len(tokens)
        report(Stage(STAGE, done.waves + done.missing, len(chosen)))
    return done


def _announce(trace: Trace, rows: list[int], target: BinaryIO) -> dict[tuple[int, ...], int]:
    """Write the processes and threads; return the track of each (SE, SA, CU, SIMD)."""
    index = trace.waves
    columns = (index.se, index.sa, index.cu, index.simd)
    of_row = list(zip(*(column.tolist() for column in columns), strict=True))
    places = sorted({of_row[row] for row in rows})
    pid = {place: DEVICE + 1 + at for at, place in enumerate(places)}
    name, unit = short_kernel(trace.kernel_name), trace.architecture.unit_name
    title = Message("Device · {0}{1}", trace.name, f" · {name}" if name else "")
    target.write(packets.process(DEVICE, DEVICE, title))
    for place, number in pid.items():
        target.write(packets.process(number, number, place_name(*place[:4], unit=unit)))
    first_tid = DEVICE + 1 + len(places)
    for row in rows:
        uuid, parent = FIRST_WAVE + row * STRIDE, pid[of_row[row]]
        target.write(packets.thread(uuid, parent, parent, first_tid + row, str(index.id(row))))
        target.write(track(uuid + STATES, uuid, "state"))
    return pid


class WaveSlices:
    """Turns batches into slices; numbers the arrows over all of them."""

    def __init__(self, trace: Trace, texts: InternedNames) -> None:
        self._trace = trace
        code = trace.code
        nameless = texts.number("unknown instruction")
        self._name = np.array([*texts.numbers(code.text), nameless], dtype=np.int64)
        places = leaf_texts(code, trace.sources)
        self._source = np.array([*(texts.number(one) if one else 0 for one in places), 0], dtype=np.int64)
        self._state = np.array([texts.number(state.name) for state in WaveState], dtype=np.int64)
        self._arrows = 0

    def tokens(self, batch: WaveBatch) -> Slices:
        """Return the instructions of a batch, ordered by wave, lane and time.

        On a lane a slice ends where the next begins: tokens may overlap by one clock step.
        """
        columns = columns_of(batch)
        start, owner = columns.start, columns.owner
        row = np.array([wave.row for wave in batch.waves], dtype=np.int64)
        track_ = FIRST_WAVE + row[owner] * STRIDE + self._lanes(batch)
        duration = batch.stall.astype(np.int64) + batch.busy
        line = np.where((batch.line >= 0) & (batch.line < len(self._trace.code)), batch.line, -1)
        leaves, arrives = self._links(batch)
        slices = Slices(
            track=track_,
            name=self._name[line],
            category=np.where(batch.kind < KIND_COUNT, batch.kind, 0).astype(np.int64) + 1,
            begin=start,
            end=start + duration,
            arguments={
                packets.DebugAnnotation.LINE: line.astype(np.int64),
                packets.DebugAnnotation.STALL: batch.stall.astype(np.int64),
                packets.DebugAnnotation.CYCLE: start,
                packets.DebugAnnotation.CYCLES: duration,
                packets.DebugAnnotation.SOURCE: self._source[line],
            },
            leaves=leaves,
            arrives=arrives,
        )
        order = np.argsort(track_, kind="stable")
        return _trimmed(slices.at(order) if (track_[1:] < track_[:-1]).any() else slices)

    def states(self, batch: WaveBatch) -> Slices:
        """Return the states of the waves of a batch, without EMPTY and zero-length ones."""
        owner, state, begin, duration = segments(batch)
        uuid = np.array([wave.row for wave in batch.waves], dtype=np.int64) * STRIDE + FIRST_WAVE + STATES
        end, track_ = begin + duration, uuid[owner]
        keep = np.flatnonzero((end > begin) & (state > WaveState.EMPTY) & (state < len(self._state)))
        names, begin, end = self._state[state[keep]], begin[keep], end[keep]
        return _trimmed(Slices.on(track_[keep], names, begin, end, category="state"))

    def _links(self, batch: WaveBatch) -> tuple[FlowEnds, FlowEnds]:
        """Number an arrow for each producer of each wait; counters may name a producer twice."""
        if not batch.waves:
            return packets.NO_ARROWS, packets.NO_ARROWS
        links = replay(batch, self._trace.code, self._trace.architecture)
        edges = np.unique(np.stack([links.token[links.row_of], links.producers], axis=1), axis=0)
        numbers = self._arrows + 1 + np.arange(len(edges), dtype=np.int64)
        self._arrows += len(edges)
        return FlowEnds.on(edges[:, 1], numbers), FlowEnds.on(edges[:, 0], numbers)

    def _lanes(self, batch: WaveBatch) -> np.ndarray:
        """The lane of each instruction, int64; 0 where none overlap."""
        slack = self._trace.architecture.issue_overlap
        found = []
        for tokens in (wave.tokens for wave in batch.waves):
            lane = lanes(tokens.start, tokens.end, slack) if tokens.lane is None else tokens.lane
            found.append(np.zeros(len(tokens), dtype=np.int64) if lane is None else lane.astype(np.int64))
        return np.minimum(np.concatenate([np.zeros(0, dtype=np.int64), *found]), _MAX_LANES - 1)


def _trimmed(slices: Slices) -> Slices:
    """Cut slices at the start of the next slice of their track."""
    end = slices.end.copy()
    same = slices.track[1:] == slices.track[:-1]
    end[:-1][same] = np.minimum(end[:-1], slices.begin[1:])[same]
    return replace(slices, end=np.maximum(end, slices.begin))
