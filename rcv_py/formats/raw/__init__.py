"""Raw captures: `.att` files, code objects and what lies beside them, to a trace.

Begin with `files.py`, which says what a raw capture is, then `open.py`.
"""

STREAM = ".att"  # how the file of a shader engine ends
