"""Counters: hardware counters and formulas over time.

`panel.py` is the panel, the other modules are its parts.
"""
