"""Compute Unit: the waves of one compute unit over time.

`panel.py` is the panel, the other modules are its parts.
"""
