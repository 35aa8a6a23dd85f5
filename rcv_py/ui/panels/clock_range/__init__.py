"""The contents of a measured range, and the time from one instruction to another.

Read `panel.py` first.
"""
