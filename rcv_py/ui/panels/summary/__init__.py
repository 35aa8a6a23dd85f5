"""Summary: the capture on one page.

`panel.py` is the panel, the other modules are its parts.
"""
