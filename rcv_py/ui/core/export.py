"""Pictures and tables of panels as files and on the clipboard.

A picture is painted anew at the wanted scale, not enlarged.  Its legend and a caption below it say what it
shows.
"""

import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py.base.errors import ExportError
from rcv_py.base.text import Message, join_texts, translated, visible
from rcv_py.model.trace import Trace
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, draw_text, shown
from rcv_py.ui.core.shapes import as_shapes
from rcv_py.ui.core.swatches import Swatch, height_of, paint_swatches
from rcv_py.ui.core.theme import Theme

CAPTION_PX = 26
MARGIN_PX = 8
SEPARATOR = "  ·  "  # between the parts of a caption
SCALES = (1, 2, 3)
LARGEST_PX = 20_000  # px a side; Qt refuses much larger pictures, and none is readable

RENDER = QWidget.RenderFlag.DrawWindowBackground | QWidget.RenderFlag.DrawChildren


def caption(session: Session, extra: str = "", *, has_wave: bool = True, has_range: bool = True) -> str:
    """Return the caption of a picture: capture, wave and range if it has them, and the panel's text."""
    trace = session.trace.value
    if trace is None:
        return "No capture"
    wave = session.selection.value.wave
    parts = [
        trace.title,
        str(wave) if has_wave and wave is not None else "",
        Message("cycles {0}", session.window.value) if has_range and trace.has_times else "",
        extra,
    ]
    return join_texts(SEPARATOR, filter(None, parts))


def file_stem(trace: Trace | None) -> str:
    """Return the first part of the names of files about a capture: kernel, dispatch and folder."""
    return "rcv" if trace is None else re.sub(r"[^\w-]+", "_", trace.title).strip("_")


def picture(
    widget: QWidget,
    theme: Theme,
    text: str,
    scale: int = 1,
    *,
    legend: Sequence[Swatch] = (),
    size: QSize | None = None,
) -> QImage:
    """Return the widget with legend and caption below it, painted at `scale` device pixels a pixel.

    `size` is the size at scale 1, if it is not the size of these parts: then space or a cut is above the
    legend.
    """
    size = size or size_of(widget, text, legend)
    if max(size.width(), size.height()) * scale > LARGEST_PX:
        width, height = size.width() * scale, size.height() * scale
        said = Message("A picture of {0:,} × {1:,} pixels is too large.", width, height)
        raise ExportError(said, hint="Choose a smaller scale.")
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme.role("base"))
    painter = QPainter(image)
    _paint(painter, widget, theme, text, legend=legend, size=size)
    painter.end()
    return image


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload] # the stubs demand bytes, which Qt refuses
    return bytes(buffer.data().data())


def svg_bytes(
    widget: QWidget, theme: Theme, text: str, *, legend: Sequence[Swatch] = (), size: QSize | None = None
) -> bytes:
    """Return the widget with legend and caption as an SVG file: shapes and text, not pixels."""
    size = size or size_of(widget, text, legend)
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
        _paint(painter, widget, theme, text, legend=legend, size=size)
    painter.end()
    return visible(bytes(buffer.data().data()).decode(), "\n\t").encode()


def size_of(widget: QWidget, text: str, legend: Sequence[Swatch] = ()) -> QSize:
    """Return the size, at scale 1, of a picture of a widget with legend and caption."""
    lines = _lines(QFontMetrics(widget.window().font()), text, widget.width() - 2 * MARGIN_PX)
    return widget.size() + QSize(0, _legend_height(widget, legend) + len(lines) * CAPTION_PX)


def _lines(metrics: QFontMetrics, text: str, width: int) -> list[str]:
    """Return the lines of a caption, broken between its parts, else between words; long words are elided."""

    def has_room(text: str) -> bool:
        return metrics.horizontalAdvance(shown(text)) <= width

    def filled(pieces: Iterable[str], between: str) -> list[str]:
        lines: list[str] = []
        for piece in pieces:
            if lines and has_room(longer := f"{lines[-1]}{between}{piece}"):
                lines[-1] = longer
            else:
                lines.append(piece)
        return lines

    return [
        metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, width)
        for part in filled(translated(text).split(SEPARATOR), SEPARATOR)
        for line in ([part] if has_room(part) else filled(part.split(" "), " "))
    ]


def _legend_height(widget: QWidget, legend: Sequence[Swatch]) -> int:
    metrics = QFontMetrics(widget.window().font())
    height = height_of(metrics, legend, widget.width() - 2 * MARGIN_PX)
    return height + MARGIN_PX if height else 0


def _paint(
    painter: QPainter, widget: QWidget, theme: Theme, text: str, *, legend: Sequence[Swatch], size: QSize
) -> None:
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    focus = QApplication.focusWidget()
    inside = focus if focus is not None and (focus is widget or widget.isAncestorOf(focus)) else None
    if inside is not None:  # else its frame would be in the picture
        inside.clearFocus()
    QWidget.render(widget, painter, QPoint(), renderFlags=RENDER)  # views have their own `render`
    if inside is not None:
        inside.setFocus()
    painter.setFont(widget.window().font())
    width = size.width() - 2 * MARGIN_PX
    lines = _lines(painter.fontMetrics(), text, width)
    below, said = _legend_height(widget, legend), len(lines) * CAPTION_PX
    top = size.height() - below - said
    painter.fillRect(QRectF(0, top, size.width(), below + said), theme.role("base"))
    names = QRectF(MARGIN_PX, top + MARGIN_PX / 2, width, below)
    paint_swatches(painter, names, legend, theme.role("text"), theme.role("text"))
    painter.setPen(theme.role("line"))
    painter.drawLine(0, top + below, size.width(), top + below)
    painter.setPen(theme.role("muted"))
    for at, line in enumerate(lines):
        box = QRectF(MARGIN_PX, top + below + at * CAPTION_PX, width, CAPTION_PX)
        draw_text(painter, box, MIDDLE_LEFT, line)
