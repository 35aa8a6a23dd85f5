"""Where instructions of a capture are in its sources, as people write it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.trace import Trace


def source_of(trace: Trace, line: int) -> str:
    """Return `file:line` of the innermost source place of a code line, "" if it has none."""
    chain = trace.code.chain(line) if 0 <= line < len(trace.code) else []
    if not chain:
        return ""
    file, number = chain[0]
    return f"{trace.sources[file].path}:{number}"


def leaf_texts(code: CodeTable, sources: Sequence[SourceFile]) -> tuple[str, ...]:
    """Return the innermost source place of each code row as `path:line`, "" where there is none."""
    if not len(code.chain_file):
        return ("",) * len(code)
    has = code.leaf >= 0
    file = np.where(has, code.chain_file[code.leaf], -1).tolist()
    line = np.where(has, code.chain_line[code.leaf], 0).tolist()
    return tuple(f"{sources[f].path}:{n}" if f >= 0 else "" for f, n in zip(file, line, strict=True))
