"""Wave: which wave is selected.

`panel.py` is the panel, the other modules are its parts.
"""
