"""Pictures and tables of panels as files and on the clipboard.

A picture is painted again at the wanted scale, not enlarged, and has a caption below that says what it shows.
"""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from rcv_py.base.errors import ExportError
from rcv_py.base.text import short_kernel, visible
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme

CAPTION_PX = 26
MARGIN_PX = 8
SCALES = (1, 2, 3)
LARGEST_PX = 20_000  # a side; Qt refuses far bigger pictures, and nobody can look at them

RENDER = QWidget.RenderFlag.DrawWindowBackground | QWidget.RenderFlag.DrawChildren


def caption(session: Session, extra: str = "") -> str:
    """Return what a picture shows: capture, kernel, wave, range, and what the panel adds."""
    trace = session.trace.value
    if trace is None:
        return "No capture"
    wave = session.selection.value.wave
    parts = [
        trace.name,
        short_kernel(trace.kernel_name) if trace.kernel_name else "",
        "" if wave is None else str(wave),
        f"cycles {session.window.value}" if trace.has_times else "",
        extra,
    ]
    return "  ·  ".join(part for part in parts if part)


def picture(widget: QWidget, theme: Theme, text: str, scale: int = 1) -> QImage:
    """Return the widget with a caption line, painted at `scale` device pixels a pixel."""
    size = _size(widget)
    if max(size.width(), size.height()) * scale > LARGEST_PX:
        raise ExportError(
            f"A picture of {size.width() * scale:,} × {size.height() * scale:,} pixels is too large.",
            hint="Choose a smaller scale.",
        )
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme.role("base"))
    painter = QPainter(image)
    _paint(painter, widget, theme, text)
    painter.end()
    return image


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload] # the stubs demand bytes, which Qt refuses
    return bytes(buffer.data().data())


def svg_bytes(widget: QWidget, theme: Theme, text: str) -> bytes:
    """Return the widget with a caption line as an SVG file: shapes and text, not pixels."""
    size = _size(widget)
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
    _paint(painter, widget, theme, text)
    painter.end()
    return visible(bytes(buffer.data().data()).decode(), "\n\t").encode()


def _size(widget: QWidget) -> QSize:
    return widget.size() + QSize(0, CAPTION_PX)


def _paint(painter: QPainter, widget: QWidget, theme: Theme, text: str) -> None:
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    QWidget.render(widget, painter, QPoint(), renderFlags=RENDER)  # views have a `render` of their own
    line = QRectF(0, widget.height(), widget.width(), CAPTION_PX)
    painter.fillRect(line, theme.role("base"))
    painter.setPen(theme.role("line"))
    painter.drawLine(line.topLeft(), line.topRight())
    painter.setPen(theme.role("muted"))
    painter.setFont(widget.window().font())
    box = line.marginsRemoved(QMarginsF(MARGIN_PX, 0, MARGIN_PX, 0))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(box.width()))
    draw_text(painter, box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
