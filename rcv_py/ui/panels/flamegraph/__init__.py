"""Flamegraph: nested costs.

`panel.py` is the panel, the other modules are its parts.
"""
