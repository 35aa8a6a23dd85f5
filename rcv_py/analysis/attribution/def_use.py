"""Which earlier instruction wrote what an executed instruction reads, in the stream of its wave.

The answer depends only on the code lines that ran before, so tokens with the same last lines are looked at
once.  A result further back than WINDOW instructions is never waited for: on gfx9 the longest distance is 21
turns, and later a matrix instruction takes 32 cycles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.attribution.stream import Stream
from rcv_py.base.runs import borders, ranges

WINDOW = 32  # instructions
_ODD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Uses:
    """One row a reader and writer, nearest writers first within a reader."""

    row: np.ndarray  # int64, place in the readers that were asked
    writer: np.ndarray  # int64, token


def uses(stream: Stream, readers: np.ndarray, is_writer: np.ndarray) -> Uses:
    """Return for each reader (token) the last writer of each register it reads, each pair once.

    `is_writer` (bool, rows of `Stream.lines`) leaves out pairs with other writers; they still overwrite.
    """
    lines = stream.lines
    return _pairs(stream, readers, is_writer, lines.reads, lines.writes)


def overwritten(stream: Stream, writers: np.ndarray, is_reader: np.ndarray) -> Uses:
    """Return for each token the last reader before it of each register it writes, each pair once.

    Only instructions in `is_reader` (bool, rows of `Stream.lines`) count; `Uses.writer` is the reader here.
    """
    lines = stream.lines
    read = np.where(is_reader[:, None], lines.reads, np.uint64(0))
    return _pairs(stream, writers, is_reader, lines.writes, read)


def _pairs(
    stream: Stream, readers: np.ndarray, is_meant: np.ndarray, wanted: np.ndarray, offered: np.ndarray
) -> Uses:
    """Pairs of tokens where the later one wants a register that an earlier one was the last to offer."""
    first, of = _contexts(stream, readers)
    context, back = _looked_up(stream, readers[first], is_meant, wanted, offered)
    back = back[np.argsort(context, kind="stable")]
    counts = np.bincount(context, minlength=len(first))
    row = np.repeat(np.arange(len(readers)), counts[of])
    return Uses(row, readers[row] - back[ranges(borders(counts)[of], counts[of])])


def _contexts(stream: Stream, readers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one reader of each sequence of last lines, and which of those each reader belongs to."""
    hashed = np.zeros(len(readers), dtype=np.uint64)
    start = stream.first[readers]
    line = (stream.line + 1).astype(np.uint64)
    for back in range(WINDOW + 1):
        at = readers - back
        there = at >= start
        if not there.any():
            break
        hashed = hashed * np.uint64(_ODD) + np.where(there, line[np.maximum(at, 0)], np.uint64(0))
        hashed ^= hashed >> np.uint64(29)
    _, first, of = np.unique(hashed, return_index=True, return_inverse=True)
    return first, of.reshape(-1)


def _looked_up(
    stream: Stream, readers: np.ndarray, is_meant: np.ndarray, wanted: np.ndarray, offered: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (place in readers, instructions back) of every last one that offered something wanted."""
    missing = wanted[stream.line[readers]].copy()
    start = stream.first[readers]
    places, backs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for back in range(1, WINDOW + 1):
        at = readers - back
        there = np.flatnonzero((at >= start) & missing.any(axis=1))
        if not len(there):
            break
        line = stream.line[at[there]]
        is_found = (missing[there] & offered[line]).any(axis=1) & is_meant[line]
        missing[there] &= ~offered[line]
        places.append(there[is_found])
        backs.append(np.full(len(places[-1]), back))
    return np.concatenate(places), np.concatenate(backs)
