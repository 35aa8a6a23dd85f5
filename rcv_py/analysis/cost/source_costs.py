"""What each source line costs: the cost of code lines, charged to the places they came from.

```
code line   chain, innermost first     SELF charges    INCLUSIVE charges
v_add       b:4 -> b:8 -> a:5          b:4             b:4, b:8, a:5; files b and a once each
v_mul       b:4 -> b:4                 b:4             b:4 once
s_nop       (none)                     nowhere: `unmapped`
```
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import total
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.modes import ReferenceRule, SourceCost


@dataclass(frozen=True, eq=False)
class SourceCosts:
    """One row a source line that code came from, sorted by (file, line), and the totals of each file.

    A file's total charges each code line once, so with INCLUSIVE it may be less than the sum of its lines.
    """

    file: np.ndarray  # int32, index into Trace.sources
    line: np.ndarray  # int32, 1-based; 0 for code the compiler made up
    rows: np.ndarray  # int64, how many code lines came from it
    cost: np.ndarray  # int64, in the unit of what was charged
    by_kind: np.ndarray  # int64 [n, KIND_COUNT], cost by kind of the code line
    file_cost: np.ndarray  # int64 [files]
    file_by_kind: np.ndarray  # int64 [files, KIND_COUNT]
    unmapped: int  # cost of code lines without a source place
    total: int  # cost of all code lines

    def __len__(self) -> int:
        return len(self.file)

    def lines_of(self, file: int) -> slice:
        """Return the rows of a file."""
        return slice(*np.searchsorted(self.file, [file, file + 1]).tolist())


def source_costs(
    code: CodeTable,
    cost: np.ndarray,
    how: SourceCost,
    files: int = 0,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> SourceCosts:
    """Charge `cost` (int64, one a code row) to source places.  `files` is at least how many files there are.

    The reference viewer charges every element of a chain, also where it repeats, and a file's total is the
    sum of its lines.
    """
    row, file, line = places(code, how, rule)
    files = max(files, int(code.chain_file.max(initial=-1)) + 1)
    groups, first, group = np.unique(file << 32 | line, return_index=True, return_inverse=True)
    by_kind = _by_kind(group.reshape(-1), row, code, cost, len(groups))
    once = np.arange(len(row)) if rule is ReferenceRule.REFERENCE else _first_of(row, file)
    file_by_kind = _by_kind(file[once], row[once], code, cost, files)
    return SourceCosts(
        file[first].astype(np.int32),
        line[first].astype(np.int32),
        np.bincount(group.reshape(-1), minlength=len(groups)),
        by_kind.sum(axis=1),
        by_kind,
        file_by_kind.sum(axis=1),
        file_by_kind,
        int(cost[code.leaf < 0].sum()),
        int(cost.sum()),
    )


def places(
    code: CodeTable, how: SourceCost, rule: ReferenceRule = ReferenceRule.OURS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (code row, file, line) of all places that a code row is charged to, int64, each once a row."""
    if how is SourceCost.SELF:
        row = np.flatnonzero(code.leaf >= 0)
        at = code.leaf[row]
    else:
        row = np.repeat(np.arange(len(code)), np.diff(code.chain_first))
        at = np.arange(len(code.chain_file))
    file, line = code.chain_file[at].astype(np.int64), code.chain_line[at].astype(np.int64)
    if how is SourceCost.SELF or rule is ReferenceRule.REFERENCE:
        return row, file, line
    place = np.unique(file << 32 | line, return_inverse=True)[1].reshape(-1)
    once = _first_of(row, place)
    return row[once], file[once], line[once]


def _first_of(row: np.ndarray, what: np.ndarray) -> np.ndarray:
    """Return, sorted, the first occurrence of each distinct (row, what)."""
    return np.sort(np.unique(row.astype(np.int64) << 32 | what, return_index=True)[1])


def _by_kind(
    group: np.ndarray, row: np.ndarray, code: CodeTable, cost: np.ndarray, groups: int
) -> np.ndarray:
    kind = np.where(code.kind < KIND_COUNT, code.kind, TokenKind.NONE)[row].astype(np.int64)
    cells = total(group * KIND_COUNT + kind, cost[row], groups * KIND_COUNT)
    return cells.reshape(groups, KIND_COUNT)
