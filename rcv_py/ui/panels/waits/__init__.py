"""Waits: what waits waited for.

`panel.py` is the panel, the other modules are its parts.
"""
