"""The window: the only layer that imports Qt.

Imports of lower layers that every window needs are here, then `rcv_py/tuning` imports PySide6.
"""

# ruff: noqa: F401 - re-exported for later imports

from rcv_py.formats.uiout import load
from rcv_py.state import commands, session
from rcv_py.work import findings, pool

# isort: split
from rcv_py.tuning.shiboken_import import import_shiboken

import_shiboken()
