"""Pictures and tables of panels as files and on the clipboard.

A picture is painted anew at the wanted scale, not enlarged.  Its legend and a caption below it say what it
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py.base.errors import ExportError
from rcv_py.base.text import Message, short_kernel, translated, visible
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.shapes import as_shapes
from rcv_py.ui.core.swatches import Swatch, height_of, paint_swatches
from rcv_py.ui.core.theme import Theme

CAPTION_PX = 26
MARGIN_PX = 8
SCALES = (1, 2, 3)
LARGEST_PX = 20_000  # px a side; Qt refuses much larger pictures, and none is readable

RENDER = QWidget.RenderFlag.DrawWindowBackground | QWidget.RenderFlag.DrawChildren


def caption(session: Session, extra: str = "") -> str:
    """Return the caption of a picture: capture, kernel, wave, range, and the panel's own text."""
    trace = session.trace.value
    if trace is None:
        return "No capture"
    wave = session.selection.value.wave
    parts = [
        trace.name,
        short_kernel(trace.kernel_name) if trace.kernel_name else "",
        "" if wave is None else str(wave),
        Message("cycles {0}", session.window.value) if trace.has_times else "",
        extra,
    ]
    return "  ·  ".join(part for part in parts if part)


def picture(
    widget: QWidget, theme: Theme, text: str, scale: int = 1, *, legend: Sequence[Swatch] = ()
) -> QImage:
    """Return the widget with legend and caption below it, painted at `scale` device pixels a pixel."""
    size = size_of(widget, legend)
    if max(size.width(), size.height()) * scale > LARGEST_PX:
        raise ExportError(
            Message(
                "A picture of {0:,} × {1:,} pixels is too large.", size.width() * scale, size.height() * scale
            ),
            hint="Choose a smaller scale.",
        )
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme.role("base"))
    painter = QPainter(image)
    _paint(painter, widget, theme, text, legend)
    painter.end()
    return image


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload] # the stubs demand bytes, which Qt refuses
    return bytes(buffer.data().data())


def svg_bytes(widget: QWidget, theme: Theme, text: str, *, legend: Sequence[Swatch] = ()) -> bytes:
    """Return the widget with legend and caption as an SVG file: shapes and text, not pixels."""
    size = size_of(widget, legend)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(), size))
    generator.setTitle(text)
    generator.setResolution(widget.logicalDpiX())
    painter = QPainter(generator)
    painter.fillRect(QRect(QPoint(), size), theme.role("base"))
    with as_shapes():
        _paint(painter, widget, theme, text, legend)
    painter.end()
    return visible(bytes(buffer.data().data()).decode(), "\n\t").encode()


def size_of(widget: QWidget, legend: Sequence[Swatch] = ()) -> QSize:
    """Return the size, at scale 1, of a picture of a widget with legend and caption."""
    return widget.size() + QSize(0, _legend_height(widget, legend) + CAPTION_PX)


def _legend_height(widget: QWidget, legend: Sequence[Swatch]) -> int:
    metrics = QFontMetrics(widget.window().font())
    height = height_of(metrics, legend, widget.width() - 2 * MARGIN_PX)
    return height + MARGIN_PX if height else 0


@contextmanager
def _no_focus(widget: QWidget) -> Iterator[None]:
    """Remove the focus during the block, so that its frame is not in the picture."""
    focus = QApplication.focusWidget()
    inside = focus if focus is not None and (focus is widget or widget.isAncestorOf(focus)) else None
    if inside is not None:
        inside.clearFocus()
    try:
        yield
    finally:
        if inside is not None:
            inside.setFocus()


def _paint(painter: QPainter, widget: QWidget, theme: Theme, text: str, legend: Sequence[Swatch]) -> None:
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    with _no_focus(widget):
        QWidget.render(widget, painter, QPoint(), renderFlags=RENDER)  # views have their own `render`
    painter.setFont(widget.window().font())
    below = _legend_height(widget, legend)
    ground = QRectF(0, widget.height(), widget.width(), below + CAPTION_PX)
    painter.fillRect(ground, theme.role("base"))
    names = QRectF(0, widget.height() + MARGIN_PX / 2, widget.width(), below)
    box = names.marginsRemoved(QMarginsF(MARGIN_PX, 0, MARGIN_PX, 0))
    paint_swatches(painter, box, legend, theme.role("text"), theme.role("text"))
    line = QRectF(0, widget.height() + below, widget.width(), CAPTION_PX)
    painter.setPen(theme.role("line"))
    painter.drawLine(line.topLeft(), line.topRight())
    painter.setPen(theme.role("muted"))
    box = line.marginsRemoved(QMarginsF(MARGIN_PX, 0, MARGIN_PX, 0))
    shown = painter.fontMetrics().elidedText(translated(text), Qt.TextElideMode.ElideMiddle, int(box.width()))
    draw_text(painter, box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
