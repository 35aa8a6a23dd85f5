"""One file of a whole capture: tables as columns, waves in pieces that any process can read separately.

Read `archive.py` first, then `capture.py`.
"""
