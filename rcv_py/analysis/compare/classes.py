"""Classes of instructions by what they do to time: waits by counter, barriers, and the kinds."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.waitcnt.effects import named_counters
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind

_STARTS = (  # the first that fits counts
    ("s_barrier", "barrier"),
    ("s_nop", "s_nop"),
    ("s_sleep", "s_sleep"),
    ("s_endpgm", "end of the program"),
)
LABEL = "label"


def classes(code: CodeTable) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the class of each row (int64, into the names) and the names, in order of first use."""
    numbers: dict[str, int] = {}
    cache: dict[tuple[str, int], int] = {}
    of = np.empty(len(code), dtype=np.int64)
    rows = zip(code.text, code.kind.tolist(), code.is_label.tolist(), strict=True)
    for row, (text, kind, is_label) in enumerate(rows):
        key = (text.split("//")[0], -1 if is_label else kind)
        if key not in cache:
            name = LABEL if is_label else _name(text, kind)
            cache[key] = numbers.setdefault(name, len(numbers))
        of[row] = cache[key]
    return of, tuple(numbers)


def _name(text: str, kind: int) -> str:
    for start, name in _STARTS:
        if text.startswith(start):
            return name
    if text.startswith("s_wait"):
        counters = [f"{name}cnt" for name in named_counters(text)]
        return f"wait for {' and '.join(counters)}" if counters else "wait"
    return KIND_TEXT[TokenKind(kind if kind < KIND_COUNT else TokenKind.NONE)]
