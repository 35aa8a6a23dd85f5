"""Instruction: all about one execution.

`panel.py` is the panel, the other modules are its parts.
"""
