"""pyqtgraph, imported without making every type of Qt, and without what no window of ours uses.

PySide6 makes a type when it is first asked for.  pyqtgraph keeps copies of Qt's modules and fills them by
asking for all there is: a thousand types, a tenth of what a bare window of both costs, most of which are
never used.  While it is imported here, Qt's modules name nothing but a function that finds what is asked
for; so that is what is copied, and the copies fill with what is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from rcv_py.ui.core.imports.late_signatures import import_shiboken

import_shiboken()  # before anybody imports PySide6
from PySide6 import QtCore, QtGui, QtWidgets  # noqa: E402

FINDER, NAMES = "__getattr__", "__dir__"  # what Python asks a module that has no such name, and for its names
USED = {  # what a plot needs of rooms of pyqtgraph; of the others everything is imported
    "pyqtgraph": frozenset(
        (
            "GraphicsScene", "Point", "Qt", "SRTTransform", "SRTTransform3D", "ThreadsafeTimer",
            "Transform3D", "Vector", "WidgetGroup", "colormap", "colors", "debug", "functions",
            "graphicsItems", "icons", "reload", "util", "widgets",
        )
    ),
    "pyqtgraph.graphicsItems": frozenset(
        ("GraphicsItem", "GraphicsObject", "GraphicsWidget", "ItemGroup", "ViewBox")
    ),
    "pyqtgraph.widgets": frozenset(("GraphicsView",)),
    "pyqtgraph.Qt": frozenset(("QtCore", "QtGui", "QtWidgets", "OpenGLConstants", "compat", "internals")),
}  # fmt: skip
ABSENT = frozenset(("PySide6.QtOpenGLWidgets", "PySide6.QtTest"))  # what pyqtgraph can do without
MOVED = {"QOpenGLWidget": "PySide6.QtOpenGLWidgets"}  # classes that it has in its copy of QtWidgets
BY_NAME = frozenset(("ColorMapMenu", "GroupBox", "RemoteGraphicsView"))  # asked for by name, not used either


def _finder(module: ModuleType) -> Callable[[str], Any]:
    names = frozenset(dir(module))
    mirror = f"pyqtgraph.Qt.{module.__name__.rpartition('.')[2]}"

    def find(name: str) -> Any:
        if name not in names and (name not in MOVED or module is not QtWidgets):
            raise AttributeError(f"module {mirror!r} has no attribute {name!r}")
        found = getattr(module if name in names else import_module(MOVED[name]), name)
        setattr(sys.modules[mirror], name, found)
        return found

    return find


class _LeftOut(MetaPathFinder, Loader):
    """Finds empty modules where pyqtgraph has items and widgets that are not USED."""

    def __init__(self) -> None:
        self.found: list[ModuleType] = []
        self._is_over = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Take over what is not used; the rest is found as always."""
        if fullname in ABSENT and fullname not in sys.modules:
            raise ImportError(fullname)
        room, _, name = fullname.rpartition(".")
        is_used = name in USED.get(room, (name,))
        return None if is_used else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty, but for what the package asks for by name, until somebody asks it for something."""
        self.found.append(module)
        setattr(module, FINDER, partial(self._found_in, module.__name__))
        name = module.__name__.rpartition(".")[2]
        if name in BY_NAME:
            setattr(module, name, None)

    def _found_in(self, module: str, name: str) -> Any:
        """What the real module has, for who holds the empty one."""
        if not self._is_over or name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(module), name)

    def forget(self) -> None:
        """Let the real ones be found from now on."""
        self._is_over = True
        rooms: dict[str, str] = {}
        for module in self.found:
            room, _, name = module.__name__.rpartition(".")
            rooms[name] = module.__name__
            sys.modules.pop(module.__name__, None)
            for holder in (room, "pyqtgraph"):
                vars(sys.modules.get(holder, module)).pop(name, None)

        def find(name: str) -> Any:
            if name not in rooms:
                raise AttributeError(f"module 'pyqtgraph' has no attribute {name!r}")
            return getattr(import_module(rooms[name]), name)

        if "pyqtgraph" in sys.modules:
            setattr(sys.modules["pyqtgraph"], FINDER, find)
        if (qt := sys.modules.get("pyqtgraph.Qt")) is not None:
            setattr(qt, FINDER, _late_modules(qt))


def _late_modules(qt: ModuleType) -> Callable[[str], Any]:
    """Return what finds the modules of PySide6 in pyqtgraph.Qt that were absent when it was imported."""
    absent = {name.rpartition(".")[2]: name for name in ABSENT if name not in sys.modules}
    for name in absent:
        vars(qt).pop(name, None)

    def find(name: str) -> Any:
        if name not in absent:
            raise AttributeError(f"module 'pyqtgraph.Qt' has no attribute {name!r}")
        return import_module(absent[name])

    return find


def _import() -> None:
    modules = (QtCore, QtGui, QtWidgets)
    for module in modules:
        find = _finder(module)
        setattr(module, FINDER, find)
        setattr(module, NAMES, lambda: [FINDER])
    try:
        _import_used()
    finally:
        for module in modules:
            delattr(module, FINDER)
            delattr(module, NAMES)


def _import_used() -> None:
    left_out = _LeftOut()
    sys.meta_path.insert(0, left_out)
    try:
        import_module("pyqtgraph")  # for whoever imports it next
    except (ImportError, AttributeError, NameError):
        is_whole = False
    else:
        is_whole = True
    finally:
        sys.meta_path.remove(left_out)
        left_out.forget()
    if not is_whole:
        for name in [name for name in sys.modules if name.partition(".")[0] == "pyqtgraph"]:
            del sys.modules[name]
        import_module("pyqtgraph")


if "pyqtgraph" not in sys.modules:
    _import()
