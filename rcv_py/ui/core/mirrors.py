"""pyqtgraph, imported without making every type of Qt.

PySide6 makes a type when it is first asked for.  pyqtgraph keeps copies of Qt's modules and fills them by
asking for all there is: a thousand types, a tenth of what a bare window of both costs, most of which are
never used.  While it is imported here, Qt's modules name nothing but a function that finds what is asked
for; so that is what is copied, and the copies fill with what is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets

FINDER, NAMES = "__getattr__", "__dir__"  # what Python asks a module that has no such name, and for its names


def _finder(module: ModuleType) -> Callable[[str], Any]:
    names = frozenset(dir(module))
    mirror = f"pyqtgraph.Qt.{module.__name__.rpartition('.')[2]}"

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {mirror!r} has no attribute {name!r}")
        found = getattr(module, name)
        setattr(sys.modules[mirror], name, found)
        return found

    return find


def _import() -> None:
    modules = (QtCore, QtGui, QtWidgets)
    for module in modules:
        find = _finder(module)
        setattr(module, FINDER, find)
        setattr(module, NAMES, lambda: [FINDER])
    try:
        import pyqtgraph  # noqa: F401, PLC0415 - imported for whoever imports it next
    finally:
        for module in modules:
            delattr(module, FINDER)
            delattr(module, NAMES)


if "pyqtgraph" not in sys.modules:
    _import()
