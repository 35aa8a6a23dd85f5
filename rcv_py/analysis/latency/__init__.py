"""How long memory and barriers took, how much of it other waves hid, and when a SIMD did nothing.

Read `hidden_latency.py` and `bubbles.py` first.
"""
