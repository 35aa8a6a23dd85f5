"""The window: the only layer that imports Qt.

Imports of lower layers that every window needs are here; `rcv_py/tuning` imports PySide6 and pyqtgraph.
"""

# ruff: noqa: F401 - re-exported for later imports

from rcv_py.formats.uiout import load
from rcv_py.state import commands, session
from rcv_py.work import findings, pool

# isort: split
from rcv_py.tuning import pyqtgraph_import
