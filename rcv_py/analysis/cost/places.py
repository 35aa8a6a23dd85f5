"""Where lines and waves of a capture are, as people write and read it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.base.errors import UsageError
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.ids import WaveId
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


def wave_row(trace: Trace, name: str) -> int:
    """Return the index row of a wave by its name; raise UsageError if there is none."""
    try:
        wave = WaveId.parse(name)
    except ValueError as error:
        raise UsageError(f"{error}.", hint="Waves are written like se0/simd2/slot5/wv3.") from error
    row = trace.waves.row(wave)
    if row is None:
        raise UsageError(f"The capture has no wave {wave}.", hint="`rcv waves` lists those that were traced.")
    return row
