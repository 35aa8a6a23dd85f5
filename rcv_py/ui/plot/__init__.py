"""Curves and bars over time or value.  Read `curve_panel.py` first."""
