"""Results that sum others up: the summary page, a library of captures, texts that were searched.

Read `device_summary.py` first.
"""
