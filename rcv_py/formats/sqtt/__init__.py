"""Decode raw thread traces: the bytes of one `.att` file to records of waves and of all other data in it.

Begin with `records.py`, which describes the output; `decode.py` is the entry point.  `gfx9_walk.py` has the
rules by which tokens of gfx9 become waves, `gfx9.py` everything else; RDNA likewise; `registers.py` serves
both.
"""
