"""Events of one wave as JSON, without a loop over its tokens.

A token opens the frames that it does not share with its predecessor and closes its own instruction at its
end; the frames around it are closed when a token comes that lies outside of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rcv_py.model.tokens import Tokens

AT_ONCE = 1 << 17  # events that are turned into text together
_OPEN, _CLOSE = b'{"type":"O","frame":', b'{"type":"C","frame":'
_AT, _END = b',"at":', b"}"
_COMMA = b","


@dataclass(frozen=True, eq=False)
class Paths:
    """The frames around each code line, outermost first, the line itself last; the last row is for others."""

    frames: np.ndarray  # int64 [rows + 1, longest], -1 after the last
    depth: np.ndarray  # int64 [rows + 1], how many


def event_parts(tokens: Tokens, paths: Paths, begin: int) -> Iterator[bytes]:
    """Yield the events of a wave as JSON objects with commas between them.

    Times are cycles since `begin` and never decrease; instructions that overlap end when the next one begins.
    """
    columns = _events(tokens, paths, begin) if len(tokens) else ()
    for first in range(0, len(columns[0]) if columns else 0, AT_ONCE):
        part = _json(*(column[first : first + AT_ONCE] for column in columns))
        yield part if first == 0 else _COMMA + part


def _events(tokens: Tokens, paths: Paths, begin: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each event opens a frame (bool), the frame, and the time (int64).

    For each token: frames it opens, its own end, frames that are left after it.
    """
    last = len(paths.depth) - 1
    line = np.where((tokens.line >= 0) & (tokens.line < last), tokens.line, last).astype(np.int64)
    start = np.maximum.accumulate(tokens.start - begin)
    end = np.minimum(tokens.end - begin, np.append(start[1:], np.iinfo(np.int64).max))
    end = np.maximum(end, start)
    until = np.append(start[1:], end[-1:])
    outer, shared = paths.depth[line] - 1, _shared(paths, line)
    opened = outer + 1 - shared
    left = np.append(outer[:-1] - shared[1:], outer[-1])
    size = opened + 1 + left
    first = np.cumsum(size) - size
    token = np.repeat(np.arange(len(line)), size)
    nth = np.arange(int(size.sum())) - first[token]
    is_open = nth < opened[token]
    after = nth - opened[token]  # 0: the instruction ends; then the frames around it, the innermost first
    level = np.where(is_open, shared[token] + nth, outer[token] - after)
    time = np.where(is_open, start[token], np.where(after == 0, end[token], until[token]))
    return is_open, paths.frames[line[token], level], time


def _shared(paths: Paths, line: np.ndarray) -> np.ndarray:
    """How many frames around each token are also around the one before it, int64; its own never counts."""
    frames = paths.frames[line]
    around = (
        np.arange(frames.shape[1]) < np.minimum(paths.depth[line], np.roll(paths.depth[line], 1))[:, None] - 1
    )
    same = (frames == np.roll(frames, 1, axis=0)) & around
    shared = np.cumprod(same, axis=1).sum(axis=1)
    shared[0] = 0
    return shared


def _json(is_open: np.ndarray, frame: np.ndarray, time: np.ndarray) -> bytes:
    """Return events as text: every row equally wide, spaces in front of numbers, without those at the end."""
    n = len(frame)
    frame_width, time_width = (len(str(int(column.max()))) for column in (frame, time))
    width = len(_OPEN) + frame_width + len(_AT) + time_width + len(_END) + len(_COMMA)
    text = np.empty((n, width), dtype=np.uint8)
    at = len(_OPEN)
    text[:, :at] = np.where(is_open[:, None], np.frombuffer(_OPEN, np.uint8), np.frombuffer(_CLOSE, np.uint8))
    _digits(text[:, at : at + frame_width], frame)
    at += frame_width
    text[:, at : at + len(_AT)] = np.frombuffer(_AT, np.uint8)
    at += len(_AT)
    _digits(text[:, at : at + time_width], time)
    text[:, at + time_width :] = np.frombuffer(_END + _COMMA, np.uint8)
    return text.tobytes()[: -len(_COMMA)]


def _digits(text: np.ndarray, values: np.ndarray) -> None:
    """Write whole numbers, 0 or more, into a matrix of characters, right-aligned."""
    rest = values.copy()
    for at in range(text.shape[1] - 1, -1, -1):
        digit = (rest % 10 + ord("0")).astype(np.uint8)
        is_shown = (rest > 0) | (at == text.shape[1] - 1)
        text[:, at] = np.where(is_shown, digit, np.uint8(ord(" ")))
        rest //= 10
