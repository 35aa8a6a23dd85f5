"""How long memory and barriers took, what of it other waves hide, and when nothing happened.

Read `hidden_latency.py` and `bubbles.py` first.
"""
