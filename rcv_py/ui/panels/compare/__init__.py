"""Compare: two captures side by side.

`panel.py` is the panel, the other modules are its parts.
"""
