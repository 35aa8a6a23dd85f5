"""What if: a recording played again with something changed, to tell what the change would gain.

Begin with `recording.py`, which says what is kept of a recording; `event_loop.py` plays it.
"""
