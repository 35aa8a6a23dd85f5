"""Whole numbers in texts of strangers: operands of instructions, places, names of waves.

Python refuses to read more than 4,300 digits with an error that nobody expects there, and what has more than
nineteen fits into no column.
"""

from __future__ import annotations

import re

LARGEST = (1 << 31) - 1  # of an operand: encodings have 16 bits, in rare forms 32
MAX_DIGITS = 18  # of a place or an option: what surely fits into 64 bits

_NUMBER = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))")


def operand(text: str) -> int | None:
    """Return what `12`, `-3`, `0x1f` or `007` says, between -LARGEST and LARGEST; None if it is no number.

    Leading zeros mean nothing.  What is larger than any encoding could say counts as LARGEST.
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits, base = (found[2], 16) if found[2] else (found[3], 10)
    digits = digits.lstrip("0")
    size = min(LARGEST, int(digits[:20] or "0", base)) if len(digits) <= 20 else LARGEST
    return -size if found[1] else size


def number(text: str) -> int:
    """Return what the digits of an operand say, as `operand` does; 0 if there are none."""
    return operand(text) or 0
