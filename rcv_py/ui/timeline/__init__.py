"""Rows over time: one item that paints all rows, axis, gestures, overlays.  Read `timeline_plot.py` first."""
