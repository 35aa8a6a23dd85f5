"""Dispatches, events, markers and shader data by time.

Read `event_table.py` first.
"""
