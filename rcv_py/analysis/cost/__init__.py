"""Where the cycles went: by instruction, source line, kind; distributions of one instruction.

Read `ranking.py` first.
"""
