"""Import pyqtgraph without making every type of Qt, and without the parts no window uses.

PySide6 makes a type when its name is first used. pyqtgraph copies Qt's modules name by name, which makes a
thousand types, most of them never used: a tenth of the cost of a bare window of both. During its import here,
Qt's modules list only a function that finds names. pyqtgraph copies that function, and its copies then fill
with the names that are used.
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

from rcv_py.tuning import HAS_PLAIN_IMPORTS
from rcv_py.tuning.shiboken_import import import_shiboken

import_shiboken()  # before any import of PySide6
from PySide6 import QtCore, QtGui, QtWidgets  # noqa: E402

FINDER, NAMES = "__getattr__", "__dir__"  # called for a missing name, and for the names
USED = {  # what plots need of these pyqtgraph packages; other packages are imported whole
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
ABSENT = frozenset(("PySide6.QtOpenGLWidgets", "PySide6.QtTest"))  # modules that pyqtgraph can do without
MOVED = {"QOpenGLWidget": "PySide6.QtOpenGLWidgets"}  # classes in its copy of QtWidgets
BY_NAME = frozenset(("ColorMapMenu", "GroupBox", "RemoteGraphicsView"))  # imported by name, but unused


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
    """Finds empty modules in place of pyqtgraph items and widgets that are not USED."""

    def __init__(self) -> None:
        self.found: list[ModuleType] = []
        self._is_over = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return an empty module for what is unused; leave the rest to the other finders."""
        if fullname in ABSENT and fullname not in sys.modules:
            raise ImportError(fullname)
        room, _, name = fullname.rpartition(".")
        is_used = name in USED.get(room, (name,))
        return None if is_used else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty, except for names the package imports, until another name is used."""
        self.found.append(module)
        setattr(module, FINDER, partial(self._found_in, module.__name__))
        name = module.__name__.rpartition(".")[2]
        if name in BY_NAME:
            setattr(module, name, None)

    def _found_in(self, module: str, name: str) -> Any:
        """Return a name of the real module, for holders of the empty module."""
        if not self._is_over or name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(module), name)

    def forget(self) -> None:
        """Let the real modules be found from now on."""
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
    """Return the finders of PySide6 modules in pyqtgraph.Qt that were absent at its import."""
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
        import_module("pyqtgraph")  # re-exported for later imports
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


if HAS_PLAIN_IMPORTS:
    import_module("pyqtgraph")
elif "pyqtgraph" not in sys.modules:
    _import()
