"""Costs in cycles by instruction, source line and kind; distributions of a single instruction.

Read `ranking.py` first.
"""
