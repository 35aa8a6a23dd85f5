"""What waits waited for: counters replayed (`waitcnt/`), the wait of every token, sums by instruction.

Read `waits.py` first.
"""
