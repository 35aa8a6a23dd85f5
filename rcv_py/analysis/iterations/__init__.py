"""Loops as they ran: iterations, their cost by instruction, what stood out; phases around them.

Read `loop_summary.py` first.
"""
