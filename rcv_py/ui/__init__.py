"""The window.  The only layer that imports Qt."""

import builtins

import PySide6  # noqa: F401 - it does what is undone below

# PySide6 looks at every import for `from __feature__ import …` and reads the source of each module for it:
# nearly a tenth of a start.  Nothing here uses that, so imports go where they went before.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
