"""Bubbles: instructions by the cycles in which nothing happened.

`panel.py` is the panel, the other modules are its parts.
"""
