"""What-if analysis: replay a recording with a change to predict what the change gains.

Begin with `recording.py`, which describes the data kept of a recording; `event_loop.py` plays it.
"""
