"""Data that AMD's writer of ui_output folders derives from the records of waves: pure functions of columns.

Begin with `totals.py`.
"""
