"""The states of pixels from the states themselves: all rows of a picture in one go.

```
edges    |       |       |       |       an edge's state is arithmetic: no search
states   I  E        W         S
cycles   0 in I..    ...                 what was in each state before an edge; a pixel is a difference
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.timeline.exact import View
from rcv_py.model.tokens import States

FINE = 4.0  # cycles a pixel below which a pixel shows the state at its first cycle

_ONE_HOT = np.zeros(256, np.uint32)  # by state: 255 in the byte of its share
_ONE_HOT[1:5] = np.array([255 << 8 * i for i in range(4)], np.uint32)
_PACKED = np.zeros((2, 256), np.int64)  # by state: 1 in the half that counts it
_PACKED[0, 1], _PACKED[0, 2] = 1, 1 << 32
_PACKED[1, 3], _PACKED[1, 4] = 1, 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class StatePiece:
    """States of a segment that begin before the last edge, and the part of its row's shares they fill."""

    states: States
    rows: slice
    first: int  # pixel of the window that shares[0] is
    shares: np.ndarray  # uint8 [pixels, 4], overwritten


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Which state holds each edge of each piece; a piece of n pixels has n + 1 edges."""

    state: np.ndarray  # uint8 [states]
    length: np.ndarray  # int64 [states], cycles
    row: np.ndarray  # int64 [edges], the state
    into: np.ndarray  # int64 [edges], cycles since it began, from 0 to its length
    is_in: np.ndarray  # bool [edges], whether the edge lies in it


def put_shares(pieces: Sequence[StatePiece], view: View) -> None:
    """Fill the shares of all pieces, in 1/255 of each pixel."""
    pieces = [piece for piece in pieces if piece.rows.start < piece.rows.stop and len(piece.shares)]
    if not pieces:
        return
    edges = _edges(pieces, view)
    shares = _sampled(edges) if view.width < FINE * view.width_px else _counted(edges, pieces, view)
    at = 0
    for piece in pieces:
        piece.shares[:] = shares[at : at + len(piece.shares)]
        at += len(piece.shares) + 1


def _sampled(edges: _Edges) -> np.ndarray:
    share = _ONE_HOT[edges.state][edges.row]
    share[~edges.is_in] = 0
    return share.view(np.uint8).reshape(-1, 4)


def _counted(edges: _Edges, pieces: Sequence[StatePiece], view: View) -> np.ndarray:
    """Two states share a 64-bit number, which halves the work: their differences never carry over."""
    width = np.diff(view.edges)
    scale = np.zeros(len(edges.row), np.float32)  # the last edge of a piece begins no pixel
    at = 0
    for piece in pieces:
        n = len(piece.shares)
        scale[at : at + n] = 255 / width[piece.first : piece.first + n]
        at += n + 1
    shares = np.zeros((len(scale), 4), np.uint8)
    for i, table in enumerate(_PACKED):
        is_in = table[edges.state]
        cycles = is_in * edges.length
        part = np.diff((np.cumsum(cycles) - cycles)[edges.row] + is_in[edges.row] * edges.into)
        halves = part.view(np.uint32).reshape(-1, 2)  # little end first
        shares[:-1, 2 * i : 2 * i + 2] = halves * scale[:-1, None] + np.float32(1e-3)
    return shares


def _edges(pieces: Sequence[StatePiece], view: View) -> _Edges:
    counts = np.array([piece.rows.stop - piece.rows.start for piece in pieces])
    slots = np.array([len(piece.shares) + 1 for piece in pieces])
    begins, ends = np.cumsum(counts) - counts, np.cumsum(counts)
    origin = np.array([view.begin - piece.states.base for piece in pieces])
    start = np.concatenate([piece.states.offset[piece.rows] for piece in pieces]) - np.repeat(origin, counts)
    length = np.diff(start, append=0)
    after = np.array([_after(piece) for piece in pieces]) - origin
    length[ends - 1] = after - start[ends - 1]

    slot = _first_edges(start, view) - np.repeat(np.array([piece.first for piece in pieces]), counts)
    slot = np.maximum(slot, 0) + np.repeat(np.cumsum(slots) - slots, counts)
    row = np.zeros(int(slots.sum()), np.int64)
    last = np.append(np.flatnonzero(slot[1:] != slot[:-1]), len(slot) - 1)
    row[slot[last]] = last
    row = np.maximum(np.maximum.accumulate(row), np.repeat(begins, slots))
    edge = view.edges - view.begin
    edge = np.concatenate([edge[piece.first : piece.first + len(piece.shares) + 1] for piece in pieces])
    into, most = edge - start[row], length[row]
    is_in = (into >= 0) & (into < most)
    state = np.concatenate([piece.states.state[piece.rows] for piece in pieces])
    return _Edges(state, length, row, np.clip(into, 0, most), is_in)


def _first_edges(start: np.ndarray, view: View) -> np.ndarray:
    """The first edge at or behind each time: its pixels by cycles, rounded up.

    The half keeps the quotient off whole numbers.
    """
    scale = view.width_px / view.width
    return np.floor(start * scale + (1 - 0.5 / view.width)).astype(np.int64)


def _after(piece: StatePiece) -> int:
    states, row = piece.states, piece.rows.stop
    return states.length if row >= len(states) else int(states.offset[row])
