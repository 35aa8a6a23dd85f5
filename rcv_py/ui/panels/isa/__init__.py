"""ISA: the program with its costs, arrows, blocks and loops.

`panel.py` is the panel, the other modules are its parts.
"""
