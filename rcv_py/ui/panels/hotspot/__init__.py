"""Hotspot: cost along the program as bars.

`panel.py` is the panel, the other modules are its parts.
"""
