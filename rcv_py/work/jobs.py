"""One job: read some waves and build what drawing them needs.  A pure function of the files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.lod import build
from rcv_py.model.tokens import Tokens
from rcv_py.model.trace import WaveReader
from rcv_py.model.waves import LodColumns, WaveBatch, WaveColumns

HELD_BYTES = 31 << 20


def prepare(reader: WaveReader, rows: list[int], lod: bool = True) -> WaveBatch:
    """Read waves; give lanes to overlapping tokens and, if asked, level-of-detail tables to each wave."""
    return prepared_columns(reader, rows, lod).batch()


def prepared_columns(reader: WaveReader, rows: list[int], lod: bool = True) -> WaveColumns:
    """The same as a few long arrays, which cross a process border without an object a wave."""
    columns = reader.columns(rows)
    waves = columns.batch().waves
    slack = reader.base_clock if reader.base_clock > 1 else 0
    lane = [_lanes(wave.tokens, slack) for wave in waves]
    used = [column for column in lane if column is not None]
    return replace(
        columns,
        lane=np.concatenate(used) if used else None,
        has_lanes=np.array([column is not None for column in lane]) if used else None,
        lod=LodColumns.of([build(wave.tokens, wave.states) for wave in waves]) if lod else None,
    )


def hold_memory() -> None:
    """Make the C library keep freed memory up to 32 MB instead of returning it to the system.

    It adapts its threshold to the largest block freed so far, and every array of a large wave would
    otherwise be paged in anew: 1,350 page faults, a fifth of the time of reading 1.4 MB.
    """
    np.empty(HELD_BYTES, dtype=np.uint8)


def _lanes(tokens: Tokens, slack: int) -> np.ndarray | None:
    # Starts are sorted: if any two tokens overlap, so do some that follow each other.
    end = tokens.offset[:-1] + tokens.duration[:-1]
    if not np.any(end > tokens.offset[1:].astype(np.int64) + slack):
        return None
    return lanes(tokens.start, tokens.end, slack)
