"""What costs how much inside of what, as frames.

Read `flame.py` first.
"""
