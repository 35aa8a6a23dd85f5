"""Instruction: the selected instruction over all of its executions, and the selected execution.

`panel.py` is the panel, `facts.py` its text.
"""
