"""Top lines: the most expensive source lines.

`panel.py` is the panel, the other modules are its parts.
"""
