"""PySide6 and pyqtgraph, imported without the parts a window does not use.

Read `mirrors.py`, which imports both, then `late_signatures.py`.
"""
