"""The window.  The only layer that imports Qt.

What every window needs from below is imported here, and PySide6 and pyqtgraph by `core/imports`.
"""

# ruff: noqa: F401 - imported for whoever imports it next

from rcv_py.formats.uiout import load
from rcv_py.results import isa
from rcv_py.state import commands, session
from rcv_py.work import findings, pool

# isort: split
from rcv_py.ui.core.imports import mirrors
