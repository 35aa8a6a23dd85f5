"""Which instructions access scratch memory, the private memory of lanes, where spilled registers lie.

MI300 (gfx942) and gfx11 have instructions for it.  Earlier GPUs reach it through a buffer, whose descriptor
lies in s[0:3] where a kernel begins and where a function is called; a kernel may keep a copy of it elsewhere:

```
s_mov_b64 s[10:11], s[2:3]                      its last word moves to s11
s_load_dwordx4 s[0:3], s[4:5], 0x10             s3 belongs to a buffer of the program now
buffer_store_dword v0, off, s[8:11], 0          scratch memory
buffer_load_dword v0, off, s[0:3], s6           none
```
"""

import re

import numpy as np

from rcv_py.analysis.program.registers import S, bits, registers
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import memoized

_BUFFER = re.compile(r"buffer_(?:load|store).*?\bs\[\d+:(\d+)\]")
_MOVE = re.compile(r"s_mov_b(?:32 s|64 s\[\d+:)(\d+)\]?, s(?:\[\d+:)?(\d+)\b")
_RETURN = re.compile(r"s_setpc_b64\s+s\[30:31\]")


@memoized
def scratch_accesses(code: CodeTable) -> np.ndarray:
    """Return whether each code row reads or writes scratch memory, bool [code rows]."""
    texts = [text.strip() for text in code.text]
    found = np.array([text.startswith("scratch_") for text in texts], dtype=bool)
    if found.any() or not any(text.startswith("buffer_") for text in texts):
        return found
    begins, lasts = code.is_label, {3}  # registers that hold the last word of the descriptor
    for row, (text, is_begin, is_raw) in enumerate(zip(texts, begins, code.is_unreadable, strict=True)):
        if is_begin or (row and _RETURN.match(texts[row - 1])):
            lasts = {3}
        if is_raw:
            lasts.clear()  # it may write anything
        elif lasts and " s" in text:
            buffer, move = _BUFFER.match(text), _MOVE.match(text)
            found[row] = buffer is not None and int(buffer[1]) in lasts
            is_copy = move is not None and int(move[2]) in lasts
            lasts.difference_update(bit - S for bit in bits(registers(text).writes))
            if move is not None and is_copy:
                lasts.add(int(move[1]))
    return found
