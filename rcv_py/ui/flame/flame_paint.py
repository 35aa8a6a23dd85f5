"""The picture of a flamegraph: only frames in view, one call per colour, texts where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from rcv_py.analysis.flame.flame import What
from rcv_py.analysis.flame.flame_layout import source_text
from rcv_py.base.colors import contrast
from rcv_py.base.text import elide_right
from rcv_py.model.kinds import KIND_COUNT, KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.ui.core.plain_text import draw_data
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.flame.flame_scene import Camera, FlameScene
from rcv_py.ui.timeline.items import Rects

HUES = 12
FILE, LINE, QUIET = KIND_COUNT, KIND_COUNT + HUES, KIND_COUNT + 2 * HUES
DIM, MATCH, THIN = 64, 128, 256  # added to a code, instead of it, added to it
FILE_SOFT, LINE_SOFT, DIM_SOFT, THIN_SOFT = 0.56, 0.72, 0.82, 0.45  # share of the canvas in a colour
TEXT_PX = 5  # left of a text
LEAST_TEXT_PX = 26


def color_codes(scene: FlameScene) -> np.ndarray:
    """Return a colour code per frame: instructions by kind, others by file."""
    tree = scene.tree
    code = np.full(len(tree), QUIET, dtype=np.int64)
    is_code = tree.what == What.CODE
    kinds = np.minimum(scene.trace.code.kind, KIND_COUNT - 1)
    code[is_code] = kinds[tree.second[is_code]]
    for what, base, number in (
        (What.FILE, FILE, tree.first),
        (What.LINE, LINE, tree.first),
        (What.KERNEL, FILE, tree.second),
        (What.BLOCK, LINE, tree.second),
        (What.MARKER, FILE, tree.second),
    ):
        chosen = tree.what == what
        code[chosen] = base + number[chosen] % HUES
    return code


def flame_swatches(scene: FlameScene, painter: FlamePainter) -> Iterator[Swatch]:
    """Yield the meaning of frame colours: kinds of instruction, and files."""
    codes = set(np.unique(color_codes(scene)).tolist())
    for kind in TokenKind:
        if int(kind) in codes:
            yield Swatch(painter.fill(int(kind)), KIND_NAME[kind], KIND_TEXT[kind])
    for first, name in ((FILE, "a colour per file or kernel"), (LINE, "paler: lines or blocks of it")):
        found = [code for code in range(first, first + HUES) if code in codes]
        if found:
            yield Swatch(painter.fill(found[0]), name, name)


class FlamePainter:
    """Colours of a theme and the two layers of the picture."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._rects = Rects()
        self.restyle()

    def restyle(self) -> None:
        """Drop the colours of another theme."""
        self.fill, self.ink = cache(self._fill_of), cache(self._ink_of)

    def _fill_of(self, code: int) -> QColor:
        theme = self._theme
        if code == MATCH:
            return theme.role("search")
        if code >= DIM:
            base, share = (THIN, THIN_SOFT) if code >= THIN else (DIM, DIM_SOFT)
            return theme.soft(self.fill(code - base), share)
        if code == QUIET:
            return theme.role("raised")
        if code < FILE:
            return theme.kind(code)
        return theme.soft(theme.kernel((code - FILE) % HUES), FILE_SOFT if code < LINE else LINE_SOFT)

    def _ink_of(self, code: int) -> QColor:
        """Return the colour of text on a box: the more readable of text and background."""
        if DIM <= code < MATCH:
            return self._theme.role("muted")
        inks = [self._theme.role(name) for name in ("text", "base")]
        return max(inks, key=lambda ink: contrast(ink.name(), self.fill(code).name()))

    def paint(
        self, painter: QPainter, scene: FlameScene, camera: Camera, codes: np.ndarray, hits: np.ndarray | None
    ) -> None:
        """Paint boxes and texts; frames in `hits` (bool) stand out."""
        frames = np.flatnonzero(camera.visible(scene))
        if hits is not None:
            codes = np.where(hits, MATCH, codes + DIM)
        is_wide = scene.boxes.width[frames] * camera.scale >= 1
        self._paint_small(painter, scene, camera, frames[~is_wide], codes)
        wide = frames[is_wide]
        boxes = camera.rectangles(scene, wide)
        self._rects.draw_by_code(painter, boxes, codes[wide], self.fill)
        self._paint_texts(painter, scene, wide, boxes, codes)

    def _paint_small(
        self, painter: QPainter, scene: FlameScene, camera: Camera, frames: np.ndarray, codes: np.ndarray
    ) -> None:
        """Paint frames thinner than a pixel as a faint column per pixel, coloured by match or the widest."""
        frames = frames[np.lexsort((-scene.boxes.width[frames], codes[frames] != MATCH))]
        pixel = np.floor(camera.x(scene.boxes.begin[frames])).astype(np.int64)
        top = camera.y(scene, scene.boxes.row[frames])
        _, first = np.unique(top << 32 | (pixel + (1 << 20)), return_index=True)
        one = np.ones(len(first))
        columns = np.stack([pixel[first], top[first], one, one * (camera.row_px - 1)], axis=1)
        code = codes[frames[first]]
        code = np.where(code < DIM, code + THIN, code)
        self._rects.draw_by_code(painter, columns.astype(float), code, self.fill)

    def _paint_texts(
        self, painter: QPainter, scene: FlameScene, frames: np.ndarray, boxes: np.ndarray, codes: np.ndarray
    ) -> None:
        font = self._theme.mono
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        letter, ascent = metrics.horizontalAdvance("0"), metrics.ascent()
        left = np.maximum(boxes[:, 0], 0.0)
        room = boxes[:, 0] + boxes[:, 2] - left - 2 * TEXT_PX
        for at in np.flatnonzero(room >= LEAST_TEXT_PX - 2 * TEXT_PX).tolist():
            frame, letters = int(frames[at]), int(room[at] / letter)
            text = scene.label(frame, letters)
            x, y = float(left[at]) + TEXT_PX, float(boxes[at, 1])
            y += (boxes[at, 3] - metrics.height()) / 2 + ascent
            painter.setPen(self.ink(int(codes[frame])))
            draw_data(painter, QPointF(x, y), elide_right(text, letters) if letters > 0 else "")
            more = source_text(scene.trace, scene.tree, frame) if letters > len(text) + 8 else ""
            if more:
                ink = QColor(painter.pen().color())
                ink.setAlphaF(0.72)
                painter.setPen(ink)
                shown = elide_right(more, letters - len(text) - 2)
                draw_data(painter, QPointF(x + (len(text) + 2) * letter, y), shown)


def outline(painter: QPainter, scene: FlameScene, camera: Camera, frames: np.ndarray, pen: QPen) -> None:
    """Draw frames' outlines with a pen."""
    inset = pen.widthF() / 2
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for left, top, width, height in camera.rectangles(scene, frames).tolist():
        box = QRectF(left, top, max(width, 3.0), height)
        painter.drawRect(box.adjusted(inset, inset, -inset, -inset))
