"""What waits waited for: replayed counters (`waitcnt/`), the wait of every token, sums by instruction.

Read `waitcnt/replay.py` first.
"""
