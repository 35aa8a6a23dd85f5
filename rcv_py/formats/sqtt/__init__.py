"""Raw thread traces: the bytes of one `.att` file to records of waves and of everything else in the stream.

Begin with `records.py`, which says what comes out; `decode.py` is who to ask.  Of gfx9 `gfx9_walk.py` has the
rules by which tokens become waves, `gfx9.py` everything else; RDNA likewise; `registers.py` serves both.
"""
