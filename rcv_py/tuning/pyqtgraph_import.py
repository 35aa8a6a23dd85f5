"""Import the two modules of pyqtgraph that turn columns into shapes, without the rest of the package.

The package itself imports all of its plots, and copies of Qt's modules that make a thousand types of which
most are never used.  So stand-ins take the places of the package and of its `Qt` for the time of the import.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from rcv_py.tuning import HAS_PLAIN_IMPORTS
from rcv_py.tuning.shiboken_import import import_shiboken

import_shiboken()  # before any import of PySide6
from PySide6 import QtCore, QtGui, QtWidgets  # noqa: E402
from shiboken6 import VoidPtr, wrapInstance  # noqa: E402

PACKAGE = "pyqtgraph"


def import_pyqtgraph() -> ModuleType:
    """Return a package with `functions` and `Qt.internals`: all of pyqtgraph if it needs more."""
    if not (HAS_PLAIN_IMPORTS or PACKAGE in sys.modules):
        try:
            return _import_alone()
        except (ImportError, AttributeError, NameError):
            pass
    return import_module(PACKAGE)


def _import_alone() -> ModuleType:
    spec = find_spec(PACKAGE)
    folders = (spec.submodule_search_locations if spec is not None else None) or []
    alone, qt = ModuleType(PACKAGE), ModuleType(f"{PACKAGE}.Qt")
    alone.__path__, qt.__path__ = list(folders), [str(Path(folder) / "Qt") for folder in folders]
    vars(alone).update(Qt=qt, getConfigOption=lambda name: False)  # no option is on at first
    vars(qt).update(QT_LIB="PySide6", QtCore=QtCore, QtGui=QtGui, QtWidgets=QtWidgets)
    sys.modules |= {PACKAGE: alone, qt.__name__: qt}
    try:
        compat = import_module(f"{PACKAGE}.Qt.compat")
        vars(compat).update(wrapinstance=wrapInstance, voidptr=VoidPtr)  # as for PySide6
        import_module(f"{PACKAGE}.functions")
        import_module(f"{PACKAGE}.Qt.internals")
    finally:  # whoever imports pyqtgraph later gets all of it
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
    return alone
