"""The window's style sheet, `resources/window.qss`, in the colours of a theme, and the icons in it."""

import atexit
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import rmtree
from string import Template
from tempfile import mkdtemp

from PySide6.QtGui import QColor

from rcv_py.base import resources
from rcv_py.base.colors import ROLES

SIZE = 16  # px of an icon's drawing

ICONS = {
    "check": ("check", "accent"), "right": ("forward", "muted"), "close": ("close", "muted"),
    "chevron": ("chevron", "muted"), "chevron_up": ("chevron-up", "muted"),
    # Without our arrows, the style's own arrow points up when the largest is first.
    "sorted_down": ("chevron", "accent"), "sorted_up": ("chevron-up", "accent"),
}  # fmt: skip


@cache
def _sheet() -> Template:
    path = resources.resource("window.qss")
    return Template("" if path is None else path.read_text("utf-8"))


def style_sheet(role: Callable[[str], QColor]) -> str:
    """Return the style sheet of a window from the colours of roles; "" if the program came without it."""
    values = {name: role(name).name() for name in ROLES}
    for key, (name, color) in ICONS.items():
        path = _folder() / f"{name}-{role(color).name()[1:]}.svg"
        if not path.exists():
            path.write_text(colored(name, role(color)), "utf-8")
        values[key] = path.as_posix()  # style sheets need slashes
    return _sheet().substitute(values)


@cache
def drawing(name: str) -> str:
    """Return the SVG text of an icon; an empty drawing if the program came without it."""
    path = resources.resource(f"icons/{name}.svg")
    if path is None:
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"/>'
    return path.read_text("utf-8")


def colored(name: str, color: QColor) -> str:
    """Return the SVG text of an icon with its lines in a colour."""
    return drawing(name).replace("currentColor", color.name())


@cache
def _folder() -> Path:
    # One per process: a window's style sheet still names its files after a theme is gone.
    folder = Path(mkdtemp(prefix="rcv-icons-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder
