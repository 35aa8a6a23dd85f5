"""What stays of an instruction when a compiler names its registers and places anew.

```
v_add_u32_e32 v22, s21, v7 // 000000001A2C     v_add_u32_e32 v,s,v
global_load_dwordx4 v[32:35], v18, s[4:5]      global_load_dwordx4 v4,v,s2
s_waitcnt vmcnt(3)                             s_waitcnt vmcnt
s_cbranch_scc1 65482                           s_cbranch_scc1
```
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from rcv_py.base.numbers import number
from rcv_py.model.code import CodeTable

_COMMENT = re.compile(r"\s*(//|;).*$")
_RANGE = re.compile(r"\b([vsa]|ttmp)\[(\d+):(\d+)\]")
_REGISTER = re.compile(r"\b([vsa]|ttmp)\[?\d+\]?(?![\w(])")
_NUMBER = re.compile(r"(?<![\w])-?(0x[0-9a-fA-F]+|\d+\.\d+|\d+)\b")
_SPACE = re.compile(r"[\s(),]+")
_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_subvector_loop")
LABEL = ";"  # the shape of every label


def plain(text: str) -> str:
    """Return an instruction without comment and without where it jumps to."""
    bare = _COMMENT.sub("", text).strip()
    return bare.split(None, 1)[0] if bare.startswith(_JUMPS) else " ".join(bare.split())


def shape(text: str) -> str:
    """Return mnemonic, operand kinds and modifiers, without numbers of registers, offsets and literals."""
    bare = _RANGE.sub(lambda found: f"{found[1]}{number(found[3]) - number(found[2]) + 1}_", plain(text))
    bare = _NUMBER.sub("", _REGISTER.sub(r"\1_", bare))
    return _SPACE.sub(" ", bare).strip()


class Keys:
    """Numbers for texts, the same for equal texts, over both programs."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, code: CodeTable, how: Callable[[str], str], space: str = "") -> np.ndarray:
        """Return the key of each code row, int64; labels share one key.

        Keys are compared within a space, by default that of the function.
        """
        space = space or how.__name__
        cache: dict[str, int] = {}
        keys = np.empty(len(code), dtype=np.int64)
        is_label = code.is_label.tolist()
        for row, text in enumerate(code.text):
            if is_label[row]:
                keys[row] = self._number(space, LABEL)
            else:
                if text not in cache:
                    cache[text] = self._number(space, how(text))
                keys[row] = cache[text]
        return keys

    def _number(self, name: str, text: str) -> int:
        return self._numbers.setdefault((name, text), len(self._numbers))
