"""The fields of s_wait_alu (gfx12) and s_waitcnt_depctr (gfx10, gfx11): waits for registers, not for memory.

```
15  12 11   9  8    7   6 5 4   2  1   0
va_vdst va_sdst va_ssrc hold     vm_vsrc va_vcc sa_sdst
```
A field whose bits are all set waits for nothing.  Source: AMDGPU backend of LLVM, operand `depctr`.
"""

from __future__ import annotations

import re

from rcv_py.base.text import Message

_FIELDS = (  # name, first bit, bits, what is counted
    ("va_vdst", 12, 4, "vector instructions that have vector registers to write"),
    ("va_sdst", 9, 3, "vector instructions that have scalar registers to write"),
    ("va_ssrc", 8, 1, "vector instructions that have scalar registers to read"),
    ("hold_cnt", 7, 1, "instructions that hold the next"),
    ("vm_vsrc", 2, 3, "memory instructions that have vector registers to read"),
    ("va_vcc", 1, 1, "vector instructions that have vcc to write"),
    ("sa_sdst", 0, 1, "scalar instructions that have registers to write"),
)
_IS_ONE = re.compile(r"s_wait_alu|s_waitcnt_depctr")
_NUMBER = re.compile(r"\s(0x[0-9a-f]{1,4}|\d{1,5})\b", re.ASCII)


def register_waits(text: str) -> list[str]:
    """Return what each field waits for, as sentences; [] for other instructions."""
    if not _IS_ONE.match(text):
        return []
    number = _NUMBER.search(text)
    found: list[str] = []
    for name, first, bits, what in _FIELDS:
        most = (1 << bits) - 1
        named = re.search(rf"\bdepctr_{name}\((\d{{1,5}})\)", text, re.ASCII)
        left = int(named[1]) if named else int(number[1], 0) >> first & most if number else most
        if left < most:
            found.append(Message("waits until {0} is at most {1}: {2}", name, left, what))
    return found
