"""pyqtgraph, imported without making every type of Qt, and without what no window of ours uses.

PySide6 makes a type when it is first asked for.  pyqtgraph keeps copies of Qt's modules and fills them by
asking for all there is: a thousand types, a tenth of what a bare window of both costs, most of which are
never used.  While it is imported here, Qt's modules name nothing but a function that finds what is asked
for; so that is what is copied, and the copies fill with what is used.

PySide6 also reads the source of every module that is imported behind it, to see whether its own name is in
there, and keeps all the lines: a quarter of each import, of a panel that is seen for the first time too, and
twenty megabytes.  It wants to know whose names of Qt are spelled the usual way whatever other modules ask for
(`__feature__`); that is told by the names of packages here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets

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
        (
            "AxisItem", "BarGraphItem", "ButtonItem", "GraphicsItem", "GraphicsObject", "GraphicsWidget",
            "GraphicsWidgetAnchor", "InfiniteLine", "ItemGroup", "LabelItem", "LegendItem", "PlotCurveItem",
            "PlotDataItem", "PlotItem", "ScatterPlotItem", "TextItem", "ViewBox",
        )
    ),
    "pyqtgraph.widgets": frozenset(("FileDialog", "GraphicsView", "PlotWidget")),
}  # fmt: skip
QT_USERS = frozenset(("rcv_py", "pyqtgraph"))
BY_NAME = frozenset(("ColorMapMenu", "GroupBox", "RemoteGraphicsView"))  # asked for by name, not used either


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


class _LeftOut(MetaPathFinder, Loader):
    """Finds empty modules where pyqtgraph has items and widgets that are not USED."""

    def __init__(self) -> None:
        self.found: list[ModuleType] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Take over what is not used; the rest is found as always."""
        room, _, name = fullname.rpartition(".")
        is_used = name in USED.get(room, (name,))
        return None if is_used else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty, but for what the package asks for by name."""
        self.found.append(module)
        name = module.__name__.rpartition(".")[2]
        if name in BY_NAME:
            setattr(module, name, None)

    def forget(self) -> None:
        """Let the real ones be found from now on."""
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


def _read_no_sources() -> None:
    """Let PySide6 know by its name whether a module uses Qt; one that asks in another way still reads."""
    with suppress(ImportError):
        feature: Any = import_module("shibokensupport.feature")
        if hasattr(feature, "_mod_uses_pyside"):
            feature._mod_uses_pyside = _uses_qt


def _uses_qt(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] in QT_USERS


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


_read_no_sources()
if "pyqtgraph" not in sys.modules:
    _import()
