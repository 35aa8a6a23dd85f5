"""Pictures as shapes: pixel pictures of the window become paths in an SVG file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

MAX_SHAPES = 60_000  # rectangles per picture; beyond that columns become two, four … pixels wide
_AS_SHAPES = ContextVar("as shapes", default=False)


@contextmanager
def as_shapes() -> Iterator[None]:
    """Paint shapes and text, not bitmaps, during the block."""
    token = _AS_SHAPES.set(True)
    try:
        yield
    finally:
        _AS_SHAPES.reset(token)


def draws_shapes() -> bool:
    """Return whether painting must use shapes now."""
    return _AS_SHAPES.get()


def rectangles(codes: np.ndarray, nothing: int = -1, most: int = MAX_SHAPES) -> dict[int, np.ndarray]:
    """Return the rectangles of each code of a picture, int64 [n, 4] rows of left, top, width and height.

    `codes` holds integers [height, width]. The rectangles do not overlap and cover exactly the pixels that
    are not `nothing`.  If more than `most` rectangles are needed, one column stands for its neighbours too.
    """
    step = 1
    while True:
        found = _rectangles(codes[:, ::step], nothing)
        if sum(map(len, found.values())) <= most or step >= codes.shape[1]:
            break
        step *= 2
    for rows in found.values():
        rows[:, [0, 2]] *= step
        rows[:, 2] = np.minimum(rows[:, 2], codes.shape[1] - rows[:, 0])
    return found


def _rectangles(codes: np.ndarray, nothing: int) -> dict[int, np.ndarray]:
    """Return runs of equal pixels down each column, merging adjacent equal runs."""
    columns = np.ascontiguousarray(codes.T)
    if not columns.size:
        return {}
    starts = np.ones(columns.shape, dtype=bool)
    starts[:, 1:] = columns[:, 1:] != columns[:, :-1]
    first = np.flatnonzero(starts)
    length = np.diff(first, append=columns.size)
    left, top = np.divmod(first, columns.shape[1])
    code = columns.reshape(-1)[first].astype(np.int64)
    kept = np.flatnonzero(code != nothing)
    kept = kept[np.lexsort((left[kept], length[kept], top[kept], code[kept]))]
    code, left, top, length = code[kept], left[kept], top[kept], length[kept]
    is_new = np.ones(len(kept), dtype=bool)
    same = (np.diff(code) == 0) & (np.diff(top) == 0) & (np.diff(length) == 0) & (np.diff(left) == 1)
    is_new[1:] = ~same
    begin = np.flatnonzero(is_new)
    width = np.diff(begin, append=len(kept))
    rows = np.stack([left[begin], top[begin], width, length[begin]], axis=1)
    cuts = np.flatnonzero(np.diff(code[begin])) + 1
    parts = np.split(rows, cuts) if len(rows) else []
    return {int(code[begin[at]]): part for at, part in zip([0, *cuts.tolist()], parts, strict=False)}


@cache
def pyqtgraph() -> ModuleType:
    """Return pyqtgraph, which draws columns; a window shows its first picture without it."""
    from rcv_py.tuning.pyqtgraph_import import import_pyqtgraph  # noqa: PLC0415 - after the first picture

    return import_pyqtgraph()


def path_of(rows: np.ndarray) -> QPainterPath:
    """Return the outline of rectangles, [n, 4] rows of left, top, width and height, as a single path."""
    left, top, width, height = rows.astype(np.float64).T
    right, bottom = left + width, top + height
    x = np.stack([left, right, right, left, left], axis=1).reshape(-1)
    y = np.stack([top, top, bottom, bottom, top], axis=1).reshape(-1)
    joined = np.tile(np.array([1, 1, 1, 1, 0], dtype=np.int32), len(left))
    return pyqtgraph().functions.arrayToQPath(x, y, connect=joined)


def paint_codes(
    painter: QPainter, codes: np.ndarray, color: Callable[[int], QColor], nothing: int = -1
) -> None:
    """Paint a picture of codes, one path per code, one unit per pixel; skip `nothing`."""
    painter.setPen(Qt.PenStyle.NoPen)
    for code, rows in rectangles(codes, nothing).items():
        painter.setBrush(color(code))
        painter.drawPath(path_of(rows))
