"""Streamed performance monitors of a made-up capture, and counters of several compute units."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcv_py.model.kinds import TokenKind
from rcv_py.synth import samplers
from rcv_py.synth.capture import Capture, WaveRun

INTERVAL = 512  # cycles
UNIT_SKEW = 8  # cycles by which each further compute unit is behind the traced one
_INSTRUCTIONS = {
    "SQ_INSTS_VALU": (TokenKind.VALU, TokenKind.MATRIX),
    "SQ_INSTS_SALU": (TokenKind.SALU,),
    "SQ_INSTS_LDS": (TokenKind.LDS,),
}


def unit_counters(capture: Capture, se: int, units: int = 3) -> np.ndarray:
    """Return counter samples of several compute units, int64 [n, 7] by time.

    The others do what the traced one does, `UNIT_SKEW` cycles later each.
    """
    first = samplers.counters(capture, se)
    tables = []
    for number in range(units):
        table = first.copy()
        table[:, 0] += number * UNIT_SKEW
        table[:, 5] += number
        tables.append(table)
    rows = np.concatenate(tables)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def shader_monitors(capture: Capture, interval: int = INTERVAL) -> dict[str, Any]:
    """Return spm.json: instructions, waves and their cycles per interval; intervals without any are left out.

    Times are shader cycles of the engine: the end of the interval, as differences.
    """
    table: dict[str, Any] = {}
    for se in sorted({wave.se for wave in capture.waves}):
        waves = [wave for wave in capture.waves if wave.se == se]
        first = min(wave.begin for wave in waves) // interval
        last = max(wave.end for wave in waves) // interval + 1
        edges = np.arange(first, last + 1) * interval
        for name, values in _values(waves, edges).items():
            about = table.setdefault(name, {"dimensions": ["SE", "INSTANCE"], "values": {}})
            about["values"][str(se)] = {"0": _pairs(edges[1:], values)}
    return table


def _pairs(time: np.ndarray, value: np.ndarray) -> list[list[int]]:
    rows = np.flatnonzero(value)
    return np.column_stack([np.diff(time[rows], prepend=0), value[rows]]).tolist()


def _values(waves: list[WaveRun], edges: np.ndarray) -> dict[str, np.ndarray]:
    tokens = np.concatenate([wave.tokens for wave in waves])
    begin, end = (np.array([getattr(wave, name) for wave in waves]) for name in ("begin", "end"))
    issue = tokens[:, 0] + tokens[:, 2]
    values = {"SQ_WAVES": _counted(begin, edges)}
    for name, kinds in _INSTRUCTIONS.items():
        values[name] = _counted(issue[np.isin(tokens[:, 1], kinds)], edges)
    values["SQ_WAVE_CYCLES"] = _covered(begin, end, edges)
    waits = tokens[tokens[:, 1] == TokenKind.IMMED]
    values["SQ_WAIT_ANY"] = _covered(waits[:, 0], waits[:, 0] + waits[:, 2], edges)
    values["SQ_BUSY_CYCLES"] = _covered(*_union(begin, end), edges)
    return values


def _counted(moments: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many moments lie in each [edge, next edge)."""
    return np.diff(np.searchsorted(np.sort(moments), edges))


def _covered(begin: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Cycles of all spans in each interval."""
    total = np.zeros(len(edges), dtype=np.int64)
    for place, edge in enumerate(edges.tolist()):
        total[place] = (np.clip(edge, begin, end) - begin).sum()
    return np.diff(total)


def _union(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    is_new = np.append(True, begin[1:] > reach[:-1])
    return begin[is_new], reach[np.append(is_new[1:], True)]
