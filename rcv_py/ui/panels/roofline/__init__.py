"""Roofline: the kernel and its loops against the peaks of a compute unit and of memory.

`panel.py` is the panel, `chart.py` the picture.
"""
