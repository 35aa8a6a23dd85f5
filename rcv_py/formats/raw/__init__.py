"""Read raw captures (`.att` files, code objects and the files next to them) into a trace.

Begin with `files.py`, which defines a raw capture, then `open.py`.
"""

STREAM = ".att"  # how the file of a shader engine ends
