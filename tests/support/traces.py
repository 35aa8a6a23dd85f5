"""A small trace from drawings: one wave a drawing, on one compute unit, in slots 0, 1, 2…"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rcv_py.analysis.timeline.lod import build
from rcv_py.model.code import CodeTable
from rcv_py.model.device import WaveEvents
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveIndex
from tests.support import code_samples
from tests.support.drawing import states, tokens

SE, CU = 2, 1


def made_code(lines: int) -> CodeTable:
    """`lines` instructions without source."""
    zero, whole = np.zeros(lines, np.int64), np.arange(lines)
    no, chain = np.zeros(lines, bool), np.zeros(0, np.int32)
    kind = np.full(lines, 6, np.uint8)
    return CodeTable(
        tuple(f"v_add_f32 v{i}, v1, v2" for i in range(lines)),
        *(whole, zero, whole.astype(np.uint64), zero + 1, zero + 8, zero + 4, zero),
        *(no, kind, np.full(lines, -1, np.int32), np.zeros(lines + 1, np.int32), chain, chain),
    )


def made_wave(drawing: str, slot: int, begin: int) -> TracedWave:
    """A wave that executes all the time its drawing lasts."""
    length = len(drawing.replace("|", ""))
    timeline = states("E" * length, base=begin)
    made = tokens(drawing, base=begin)
    return TracedWave(slot, WaveId(SE, 0, slot, 0), CU, begin, begin + length, made, timeline, None)


def made_trace(
    drawings: Sequence[str], begin: int = 0, **more: object
) -> tuple[Trace, tuple[WaveBatch, ...]]:
    """A trace and the batch with its waves; `more` replaces fields of the trace."""
    waves = tuple(made_wave(drawing, slot, begin) for slot, drawing in enumerate(drawings))
    n = len(waves)
    small = {
        name: np.full(n, value, np.int16) for name, value in (("se", SE), ("simd", 0), ("cu", CU), ("sa", 0))
    }
    starts, ends = (np.array([getattr(wave, name) for wave in waves], np.int64) for name in ("begin", "end"))
    index = WaveIndex(
        **small, slot=np.arange(n, dtype=np.int16), wid=np.zeros(n, np.int32), begin=starts, end=ends,
        kernel=np.ones(n, np.int32), size=np.ones(n, np.int64), file=tuple(map(str, range(n))),
    )  # fmt: skip
    lines = max((len(wave.tokens) for wave in waves), default=1)
    columns = [[getattr(wave.tokens, name) for wave in waves] for name in ("stall", "busy", "kind", "line")]
    first = np.append(0, np.cumsum([len(wave.tokens) for wave in waves]))
    parts = [np.concatenate(column) if column else np.zeros(0, np.int32) for column in columns]
    lods = tuple(build(wave.tokens, wave.states) for wave in waves)
    fields = {
        "path": Path("made"), "name": "made", "version": "3.1.0", "waves": index,
        "code": made_code(lines), "sources": (), "occupancy": made_events(index),
    }  # fmt: skip
    made = code_samples.trace(**(fields | more))
    return made, (WaveBatch(waves, first, *parts, nbytes=1, lod=lods),)


def made_events(index: WaveIndex, elsewhere: int = 7) -> WaveEvents:
    """Start and end of every wave of the index, and as many on compute unit `elsewhere` without detail."""
    n = len(index)
    time = np.concatenate([index.begin, index.end, index.begin, index.end])
    is_start = np.tile(np.repeat([True, False], n), 2)
    cu = np.repeat([CU, elsewhere], 2 * n).astype(np.int16)
    order = np.lexsort((is_start, time))
    minus, zero = np.full(4 * n, -1), np.zeros(4 * n, np.int16)
    columns = (np.tile(index.se, 4), zero, cu, zero, np.tile(index.slot, 4), is_start)
    kernel = np.repeat([1, 2], 2 * n).astype(np.int32)
    rest = (kernel, minus.astype(np.int16), minus.astype(np.int16), minus, minus)
    return WaveEvents(
        time[order], *(column[order] for column in (*columns, *rest)), {1: "first", 2: "second"}
    )
