"""One job: read some waves and build what drawing them needs.  A pure function of the files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.lod import build
from rcv_py.model.tokens import Tokens
from rcv_py.model.trace import WaveReader
from rcv_py.model.waves import Wave, WaveBatch

HELD_BYTES = 31 << 20


def prepare(reader: WaveReader, rows: list[int], lod: bool = True) -> WaveBatch:
    """Read waves; give lanes to overlapping tokens and, if asked, level-of-detail tables to each wave."""
    batch = reader.read(rows)
    slack = reader.base_clock if reader.base_clock > 1 else 0
    waves = tuple(_with_lanes(wave, slack) for wave in batch.waves)
    tables = tuple(build(wave.tokens, wave.states) for wave in waves) if lod else ()
    lane_bytes = sum(wave.tokens.lane.nbytes for wave in waves if wave.tokens.lane is not None)
    nbytes = batch.nbytes + lane_bytes + sum(table.nbytes for table in tables)
    return replace(batch, waves=waves, lod=tables, nbytes=nbytes)


def hold_memory() -> None:
    """Make the C library keep freed memory up to 32 MB instead of returning it to the system.

    It adapts its threshold to the largest block freed so far, and every array of a large wave would
    otherwise be paged in anew: 1,350 page faults, a fifth of the time of reading 1.4 MB.
    """
    np.empty(HELD_BYTES, dtype=np.uint8)


def _with_lanes(wave: Wave, slack: int) -> Wave:
    tokens = wave.tokens
    if not _may_overlap(tokens, slack):
        return wave
    lane = lanes(tokens.start, tokens.end, slack)
    if lane is None:
        return wave
    lane.flags.writeable = False
    return replace(wave, tokens=replace(tokens, lane=lane))


def _may_overlap(tokens: Tokens, slack: int) -> bool:
    # Starts are sorted: if any two tokens overlap, so do some that follow each other.
    end = tokens.offset[:-1] + tokens.duration[:-1]
    return bool(np.any(end > tokens.offset[1:].astype(np.int64) + slack))
