"""Loops as executed: iterations, their costs, outliers, and the phases around them.

Read `loop_summary.py` first.
"""
