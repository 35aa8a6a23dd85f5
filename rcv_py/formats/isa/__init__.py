"""Code objects: kernels, instructions and source lines of the ELF files that a GPU ran.

Begin with `program.py`, which says what an instruction is, then `code_object.py`.
"""
