"""Triage: what limits the kernel, and what to do.

`panel.py` is the panel, the other modules are its parts.
"""
