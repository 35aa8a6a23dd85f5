"""Flamegraphs: nested costs as frames.

Read `flame.py` first.
"""
