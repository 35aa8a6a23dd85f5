"""Distribution: how long the executions of an instruction took.

`panel.py` is the panel, the other modules are its parts.
"""
