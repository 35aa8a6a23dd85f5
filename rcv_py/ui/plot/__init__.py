"""Curves and bars over time or value.

Read `curve_plot.py` first.
"""
