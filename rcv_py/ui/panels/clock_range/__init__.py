"""What lies in a measured range, and how long it takes from one instruction to another.

Read `panel.py` first.
"""
