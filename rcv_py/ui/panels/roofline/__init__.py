"""Roofline: the kernel and its loops against what a compute unit and memory can do.

`panel.py` is the panel, `chart.py` the picture.
"""
