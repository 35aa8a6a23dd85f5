"""Source: lines of files with their costs.

`panel.py` is the panel, the other modules are its parts.
"""
