"""Stacked bars over the program: cycles by range of code rows and kind of instruction."""

from __future__ import annotations

import re

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent

from rcv_py.analysis.cost.hotspot import Bins
from rcv_py.base.text import percent, short_count
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.plain_text import escaped, show_tip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import grouped

SHARE_OF_SLOT = 0.86  # width of a bar


class CountAxis(pg.AxisItem):
    """An axis of counts: `120K`."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Texts of the ticks."""
        return [re.sub(r"\.0+(?=\D|$)", "", short_count(value)) for value in values]


class BinsPlot(pg.PlotWidget):
    """Bars of `Bins`.  A click or the arrow keys choose one; nothing zooms, all bars stay in view."""

    chosen = Signal(int)  # bin
    hovered = Signal(int)  # bin, -1 if none

    def __init__(self, theme: Theme) -> None:
        super().__init__(axisItems={"left": CountAxis("left")}, enableMenu=False)
        self._theme = theme
        self.bins: Bins | None = None
        self.unit = "cycles"
        self.note = ""
        self.selected: tuple[int, int] | None = None  # bins [first, stop)
        self._count = 0  # bins that hold rows
        self._hover = -1
        self._bars: list[pg.BarGraphItem] = []
        self._marks = [pg.BarGraphItem(x0=[], y0=[], width=[], height=[]) for _ in range(2)]
        plot = self.getPlotItem()
        plot.setMouseEnabled(False, False)
        plot.hideButtons()
        plot.getAxis("left").setWidth(64)
        plot.showGrid(y=True, alpha=0.18)
        for mark in self._marks:
            mark.setZValue(-5)
            plot.addItem(mark)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFrameShape(self.Shape.NoFrame)
        self.setAccessibleName("Histogram of cycles over the program")
        theme.changed.connect(self._restyle)
        self._restyle()

    # -- showing ------------------------------------------------------------------------------------

    def show_bins(self, bins: Bins, last: int, unit: str) -> None:
        """Show other bars; `last` is how many rows the program has."""
        self.bins, self.unit = bins, unit
        plot = self.getPlotItem()
        for bar in self._bars:
            plot.removeItem(bar)
        self._bars = []
        used = np.flatnonzero(bins.first < last)
        self._count = len(used)
        top = np.cumsum(bins.cycles, axis=1)
        left = bins.first[used] + bins.step * (1 - SHARE_OF_SLOT) / 2
        for kind in range(KIND_COUNT):
            height = bins.cycles[used, kind]
            if height.any():
                bar = pg.BarGraphItem(
                    x0=left,
                    y0=(top[used, kind] - height).astype(float),
                    width=bins.step * SHARE_OF_SLOT,
                    height=height.astype(float),
                    pen=None,
                    brush=self._theme.kind(kind),
                )
                plot.addItem(bar)
                self._bars.append(bar)
        end = int(bins.stop[used[-1]]) if len(used) else 1
        plot.setRange(xRange=(int(bins.first[0]), end), yRange=(0, max(bins.axis_max, 1)), padding=0)
        plot.setLabel("left", escaped(unit))
        plot.setLabel("bottom", escaped(f"instruction, {bins.step} a bar"))
        self._mark()

    def select(self, bins: tuple[int, int] | None) -> None:
        """Mark the bins [first, stop), or none."""
        if bins != self.selected:
            self.selected = bins
            self._mark()

    def kinds(self) -> list[int]:
        """Kinds that have a bar, by number."""
        return [] if self.bins is None else np.flatnonzero(self.bins.cycles.any(axis=0)).tolist()

    def bin_of(self, row: int) -> int:
        """The bin that holds a code row, -1 if none does."""
        if self.bins is None:
            return -1
        at = int(np.searchsorted(self.bins.first, row, side="right")) - 1
        return at if at >= 0 and row < self.bins.stop[at] else -1

    def bin_at(self, x: float) -> int:
        """The bin at a horizontal place of the widget, -1 outside of all of them."""
        if self.bins is None:
            return -1
        box = self.getViewBox()
        inside = box.sceneBoundingRect()
        if not inside.left() <= x < inside.right():
            return -1
        return self.bin_of(int(np.floor(box.mapSceneToView(QPointF(x, inside.center().y())).x())))

    def x_of(self, bin_number: int) -> float:
        """The horizontal middle of a bin in the widget."""
        assert self.bins is not None
        middle = (self.bins.first[bin_number] + self.bins.stop[bin_number]) / 2
        return self.getViewBox().mapViewToScene(QPointF(float(middle), 0)).x()

    def tip(self, at: int) -> str:
        """Rows and cycles by kind of a bin."""
        bins = self.bins
        if bins is None or at < 0:
            return self.note
        total, all_bins = int(bins.totals[at]), int(bins.totals.sum())
        lines = [
            f"rows {bins.first[at]} to {bins.stop[at] - 1}",
            f"{grouped(total)} {self.unit}, {percent(total, all_bins)}",
        ]
        for kind in np.argsort(-bins.cycles[at], kind="stable").tolist():
            if bins.cycles[at, kind]:
                lines.append(f"{KIND_TEXT[TokenKind(kind)]}: {grouped(bins.cycles[at, kind])}")
        return "\n".join([*lines, self.note] if self.note else lines)

    # -- painting -----------------------------------------------------------------------------------

    def _mark(self) -> None:
        hover = (self._hover, self._hover + 1) if self._hover >= 0 else None
        for mark, span, role in zip(
            self._marks, (hover, self.selected), ("hover", "accent_soft"), strict=True
        ):
            if span is None or self.bins is None:
                mark.setOpts(x0=[], y0=[], width=[], height=[])
                continue
            left, right = int(self.bins.first[span[0]]), int(self.bins.stop[span[1] - 1])
            color = self._theme.role(role)
            edge = self._theme.role("accent") if role == "accent_soft" else color
            mark.setOpts(
                x0=[left],
                y0=[0],
                width=[right - left],
                height=[max(self.bins.axis_max, 1)],
                brush=color,
                pen=pg.mkPen(edge),
            )

    def _restyle(self) -> None:
        self.setBackground(self._theme.role("canvas"))
        for side in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(self._theme.role("line"))
            axis.setTextPen(self._theme.role("muted"))
        if self.bins is not None:
            kinds = self.kinds()
            for kind, bar in zip(kinds, self._bars, strict=True):
                bar.setOpts(brush=self._theme.kind(kind))
        self._mark()

    # -- mouse and keys -----------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the bar under the mouse; the whole height of the column counts."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        at = self.bin_at(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and at >= 0:
            self.chosen.emit(at)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the bar under the mouse."""
        self._set_hover(self.bin_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Nothing is dragged here."""
        event.accept()

    def wheelEvent(self, event: QEvent) -> None:
        """Nothing is zoomed here; let the window scroll."""
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the mouse."""
        super().leaveEvent(event)
        self._set_hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right choose the neighbour, Home and End the first and last bar."""
        if self.bins is None:
            return
        count = self._count
        here = -1 if self.selected is None else self.selected[0]
        target = {
            Qt.Key.Key_Left: max(0, here - 1),
            Qt.Key.Key_Right: min(count - 1, here + 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: count - 1,
        }.get(Qt.Key(event.key()))
        if target is None:
            event.ignore()
        elif target != here:
            self.chosen.emit(target)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.bin_at(event.pos().x())), self)
            return True
        return super().viewportEvent(event)

    def _set_hover(self, at: int) -> None:
        if at != self._hover:
            self._hover = at
            self._mark()
            self.hovered.emit(at)
