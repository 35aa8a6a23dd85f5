"""One file of a whole capture: tables as columns, waves in pieces that any process can read by themselves.

Read `archive.py` first, then `stored.py`.
"""
