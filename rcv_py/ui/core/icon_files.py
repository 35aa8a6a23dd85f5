"""The drawings of icons, and coloured copies of them as files, which is what style sheets take."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from PySide6.QtGui import QColor

from rcv_py.base import resources

SIZE = 16  # px of a drawing


@cache
def drawing(name: str) -> str:
    """Return the text of an icon's SVG file; an empty drawing if the program came without it."""
    path = resources.resource(f"icons/{name}.svg")
    if path is None:
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"/>'
    return path.read_text("utf-8")


def colored(name: str, color: QColor) -> str:
    """Return an icon's SVG text with its lines in a colour."""
    return drawing(name).replace("currentColor", color.name())


@cache
def _folder() -> Path:
    # One for the process: the application's style sheet goes on naming its files when a theme is gone.
    folder = Path(mkdtemp(prefix="rcv-icons-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


class IconFiles:
    """Coloured copies of icons in a temporary folder."""

    def __init__(self) -> None:
        self._folder = _folder()

    def url(self, name: str, color: QColor) -> str:
        """Return the path of a coloured icon, with slashes, as a style sheet wants it."""
        path = self._folder / f"{name}-{color.name()[1:]}.svg"
        if not path.exists():
            path.write_text(colored(name, color), "utf-8")
        return path.as_posix()
