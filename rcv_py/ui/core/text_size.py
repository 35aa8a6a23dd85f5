"""The size of all text: that of the desktop and what the user adds.  Pixels that hold text grow with it."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication

USUAL, GROWTH = "rcv_usual_font", "rcv_text_growth"  # properties of the application
SMALLEST_PT = 6


def grown(px: int) -> int:
    """Return pixels that hold text of the usual size, for text of the size in use."""
    app = QApplication.instance()
    growth = None if app is None else app.property(GROWTH)
    return round(px * growth) if isinstance(growth, float) else px


def set_text_size(app: QApplication, more: int) -> bool:
    """Make all text larger than the desktop wants it, by points; smaller if negative.

    Return whether it was of another size: widgets under a style sheet follow when it is set again.
    """
    usual = app.property(USUAL)
    if not isinstance(usual, QFont):
        if not more:
            return False  # fonts stay what the desktop makes them
        usual = app.font()
        app.setProperty(USUAL, usual)
    points = QFontInfo(usual).pointSizeF()
    size = max(SMALLEST_PT, points + more) if more else points
    app.setProperty(GROWTH, size / points)
    font = QFont(usual)
    if more:
        font.setPointSizeF(size)
    if app.font() == font:
        return False
    app.setFont(font)
    return True
