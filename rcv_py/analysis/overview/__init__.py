"""Overviews: the summary page, a library of captures, text search.

Read `device_summary.py` first.
"""
