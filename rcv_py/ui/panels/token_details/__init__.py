"""Instruction: the selected instruction in all of its executions, and this one of them.

`panel.py` is the panel, `facts.py` what it says in words.
"""
