"""Health: whether the capture can be trusted.

`panel.py` is the panel, the other modules are its parts.
"""
