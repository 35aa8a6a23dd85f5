"""The program without its waves: blocks, loops, branches, labels, registers, forms of matrix instructions.

The code table comes in.  Read `blocks.py` first.
"""
