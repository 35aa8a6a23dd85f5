"""The program without its waves: blocks, loops, branches, labels, registers, matrix instruction forms.

The input is the code table.  Read `blocks.py` first.
"""
