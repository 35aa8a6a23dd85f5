"""Explorer: source files and lines as a tree.

`panel.py` is the panel, the other modules are its parts.
"""
