"""Loops: iterations and what is around them.

`panel.py` is the panel, the other modules are its parts.
"""
