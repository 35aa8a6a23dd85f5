"""Code objects: kernels, instructions and source lines of the ELF files that a GPU ran.

Begin with `program.py`, which defines an instruction, then `code_object.py`.
"""
