"""From code rows to source places and back, and how places are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.model.code import CodeTable, SourceFile


def rows_of_place(code: CodeTable, file: int, line: int) -> np.ndarray:
    """Return the code rows whose chain holds a source line, ascending; int64."""
    at = np.flatnonzero((code.chain_file == file) & (code.chain_line == line))
    return np.unique(np.searchsorted(code.chain_first, at, side="right") - 1)


def rows_at_leaf(code: CodeTable, place: tuple[int, int] | None) -> np.ndarray:
    """Return which code rows have this innermost place; bool, all False for None."""
    if place is None or not len(code.chain_file):
        return np.zeros(len(code), dtype=bool)
    same = (code.chain_file == place[0]) & (code.chain_line == place[1])
    return (code.leaf >= 0) & same[code.leaf]


def leaf_texts(code: CodeTable, sources: Sequence[SourceFile]) -> tuple[str, ...]:
    """Return the innermost place of each code row as `path:line`, "" where there is none."""
    has = code.leaf >= 0
    file = np.where(has, code.chain_file[code.leaf], -1) if len(code.chain_file) else np.full(len(code), -1)
    line = np.where(has, code.chain_line[code.leaf], 0) if len(code.chain_file) else file
    return tuple(
        place_text(sources, f, n, full=True) if f >= 0 else ""
        for f, n in zip(file.tolist(), line.tolist(), strict=True)
    )


def short_names(paths: Sequence[str]) -> tuple[str, ...]:
    """Return file names, with as many parent folders as tell equal names apart."""
    parts = [PurePosixPath(path).parts or (path,) for path in paths]
    depth = [1] * len(parts)
    names = ["/".join(part[-1:]) for part in parts]
    for _ in range(max(map(len, parts), default=0)):
        seen: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            seen.setdefault(name, []).append(at)
        for at in (at for group in seen.values() if len(group) > 1 for at in group):
            depth[at] = min(depth[at] + 1, len(parts[at]))
            names[at] = "/".join(parts[at][-depth[at] :])
    return tuple(names)
