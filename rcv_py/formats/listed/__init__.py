"""Open tables of instructions that are not a thread trace: PC samples, and costs of a decoded trace.

Read `open.py` first.
"""
