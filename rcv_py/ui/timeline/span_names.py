"""The names inside wide tokens: measured, elided, and not too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from rcv_py.base import colors
from rcv_py.base.text import elide_right
from rcv_py.model.lod import STALLED
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import Frame

MOST = 500  # names a picture
FEWEST = 3  # characters that must fit
MARGIN_PX = 4


@dataclass(frozen=True, eq=False)
class Named:
    """Spans that may get a name; float64 device pixels, kind uint8."""

    left: np.ndarray
    issue: np.ndarray
    right: np.ndarray
    top: np.ndarray
    height: np.ndarray
    kind: np.ndarray


def paint_names(
    painter: QPainter, frame: Frame, spans: Named, line: np.ndarray, texts: Sequence[str]
) -> None:
    """Write the mnemonic of each token into the wider of its two parts, the widest tokens first."""
    font = QFont(frame.theme.mono_family)
    font.setPixelSize(max(7, round(min(11.0, frame.shape.spans - 5) * frame.scale)))
    metrics = QFontMetricsF(font)
    advance = metrics.horizontalAdvance("0")
    in_stall = spans.issue - spans.left > spans.right - spans.issue
    left = np.maximum(np.where(in_stall, spans.left, spans.issue), 0)
    right = np.minimum(np.where(in_stall, spans.issue, spans.right), frame.pixels.width_px)
    room = (right - left - 2 * MARGIN_PX * frame.scale) // advance
    fits = (room >= FEWEST) & (line >= 0) & (spans.height >= metrics.height() * 0.8)
    chosen = np.flatnonzero(fits)
    chosen = chosen[np.argsort(-room[chosen], kind="stable")][:MOST]
    painter.setFont(font)
    code = spans.kind | np.where(in_stall, STALLED, 0).astype(np.uint8)
    down = (spans.height + metrics.ascent() - metrics.descent()) / 2
    for one in np.unique(code[chosen]).tolist():
        painter.setPen(readable(frame.theme, one))
        for row in chosen[code[chosen] == one].tolist():
            name = elide_right(mnemonic(texts[line[row]]), int(room[row]))
            at = QPointF(left[row] + MARGIN_PX * frame.scale, spans.top[row] + down[row])
            draw_text(painter, at, name)


@lru_cache(maxsize=4096)
def mnemonic(text: str) -> str:
    """Return the first word of an instruction."""
    return text.split(maxsplit=1)[0] if text.strip() else ""


def readable(theme: Theme, code: int) -> QColor:
    """The darker or lighter of text and canvas, whichever is easier to read on the colour of a code."""
    ground = theme.stalled(code & 15) if code & STALLED else theme.kind(code)
    roles = theme.role("text"), theme.role("canvas")
    return max(roles, key=lambda role: colors.contrast(role.name(), ground.name()))
