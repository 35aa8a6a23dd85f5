"""Latency: what other waves hide, and how long memory took.

`panel.py` is the panel, the other modules are its parts.
"""
