"""The size of all text: the desktop's size plus the user's change.  Sizes in px that hold text follow."""

from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication

USUAL, GROWTH = "rcv_usual_font", "rcv_text_growth"  # properties of the application
SMALLEST_PT = 6


def grown(px: int) -> int:
    """Return a size in px for usual text, scaled to the current text size."""
    app = QApplication.instance()
    growth = None if app is None else app.property(GROWTH)
    return round(px * growth) if isinstance(growth, float) else px


def set_text_size(app: QApplication, more: int) -> bool:
    """Enlarge all text by points relative to the desktop's size; negative makes it smaller.

    Return whether the size changed: widgets under a style sheet follow only when the sheet is set again.
    """
    usual = app.property(USUAL)
    if not isinstance(usual, QFont):
        if not more:
            return False  # fonts keep the desktop's size
        usual = app.font()
        app.setProperty(USUAL, usual)
    points, font = QFontInfo(usual).pointSizeF(), QFont(usual)
    if more:
        font.setPointSizeF(max(SMALLEST_PT, points + more))
    app.setProperty(GROWTH, font.pointSizeF() / points if more else 1.0)
    if is_other := app.font() != font:
        app.setFont(font)
    return is_other
