"""Draw the program's icon: icon.py SIZE FILE, a .png, or on Windows also an .ico."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Draw it."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSize, Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    size, target = int(sys.argv[1]), sys.argv[2]
    application = QGuiApplication(sys.argv[:1])
    picture = QImage(QSize(size, size), QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(str(ROOT / "resources" / "rcv.svg")).render(painter)
    painter.end()
    is_written = picture.save(target)
    application.quit()
    return 0 if is_written else 1


if __name__ == "__main__":
    sys.exit(main())
