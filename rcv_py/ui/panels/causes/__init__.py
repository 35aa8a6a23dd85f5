"""Causes: why waves stalled, and which instruction is to blame.

`panel.py` is the panel, the other modules are its parts.
"""
