"""Line icons from `resources/icons`, in the colours of the theme."""

from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from rcv_py.base.problems import Severity
from rcv_py.ui.core.theme import SIZE, Theme, colored

SCALES = (1, 2, 3)
SEVERITIES = {  # icon name and colour of each message about a capture
    Severity.INFO: ("info", "muted"),
    Severity.WARNING: ("warning", "warning"),
    Severity.ERROR: ("error", "error"),
}


_drawn: WeakKeyDictionary[Theme, dict[tuple[str, str], QIcon]] = WeakKeyDictionary()


def icon(theme: Theme, name: str, role: str = "text") -> QIcon:
    """Return an icon in the colour of a role, muted when disabled; each icon is drawn once."""
    known, colors = _drawn.setdefault(theme, {}), (theme.role(role), theme.role("line"))
    key = name, " ".join(color.name() for color in colors)
    if key not in known:
        drawn = known[key] = QIcon()
        for mode, color in zip((QIcon.Mode.Normal, QIcon.Mode.Disabled), colors, strict=True):
            drawing = _drawing(name, color)
            for scale in SCALES:
                drawn.addPixmap(_picture(drawing, SIZE, scale), mode)
    return known[key]


def pixmap(name: str, color: QColor, size: int = SIZE, scale: float = 1.0) -> QPixmap:
    """Return an icon as a picture of `size` px at a device pixel ratio."""
    return _picture(_drawing(name, color), size, scale)


def _drawing(name: str, color: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(colored(name, color).encode()))


def _picture(drawing: QSvgRenderer, size: int, scale: float) -> QPixmap:
    picture = QPixmap(QSize(round(size * scale), round(size * scale)))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    drawing.render(painter)
    painter.end()
    picture.setDevicePixelRatio(scale)
    return picture
