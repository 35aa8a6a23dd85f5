"""How source places are written: `file.py:186`, with as many folders as tell equal names apart.

```
/home/a/build/kernels/attention.py, line 186      attention.py:186
/opt/lib/expr/numeric.py, line 7                  expr/numeric.py:7
/opt/lib/ops/numeric.py, line 7                   ops/numeric.py:7
an instruction without a source place             –
```
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rcv_py.base.text import DASH, short_paths
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.trace import Trace

NO_PLACE = DASH
_names = lru_cache(maxsize=16)(short_paths)


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


def line_text(sources: Sequence[SourceFile], file: int, line: int) -> str:
    """Return the text of a source line without its indentation, "" where there is none."""
    lines = sources[file].lines if 0 <= file < len(sources) else None
    return lines[line - 1].strip() if lines is not None and 1 <= line <= len(lines) else ""


def place_text(sources: Sequence[SourceFile], file: int, line: int, full: bool = False) -> str:
    """Return `name:line`, in full `path:line`; line 0 is code that the compiler made up.

    The name is the shortest ending of the path that no other source file has.
    """
    if not 0 <= file < len(sources):
        return f"?:{line or 'no line'}"
    path = sources[file].path
    name = path if full else _names(tuple(source.path for source in sources))[path]
    return f"{name}:{line or 'no line'}"


def instruction_place(trace: Trace, row: int, full: bool = False) -> str:
    """Return the innermost source place of a code row as `place_text` writes it, a dash if it has none.

    A row that is none of the program, such as -1 for "no instruction", has no place either.
    """
    code = trace.code
    leaf = int(code.leaf[row]) if 0 <= row < len(code) else -1
    if leaf < 0:
        return NO_PLACE
    return place_text(trace.sources, int(code.chain_file[leaf]), int(code.chain_line[leaf]), full)


def known_place(trace: Trace, row: int, full: bool = False) -> str:
    """Return `instruction_place` of a code row, "" if it has none."""
    place = instruction_place(trace, row, full)
    return "" if place == NO_PLACE else place


def beside(trace: Trace, row: int) -> str:
    """Return `  file.py:186` to be put behind the text of an instruction, "" if it has no source place."""
    place = known_place(trace, row)
    return f"  {place}" if place else ""
