"""Flamegraph: what costs how much inside of what.

`panel.py` is the panel, the other modules are its parts.
"""
