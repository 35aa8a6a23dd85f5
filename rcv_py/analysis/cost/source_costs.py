"""Costs of source lines and files: the cost of code lines, charged to their source places.

```
code line   chain, innermost first     SELF charges    INCLUSIVE charges
v_add       b:4 -> b:8 -> a:5          b:4             b:4, b:8, a:5; files b and a once each
v_mul       b:4 -> b:4                 b:4             b:4 once
s_nop       (none)                     nowhere: `unmapped`
```
With INCLUSIVE, lines of callers include code inlined into them, and sums exceed the total.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import sums_by_kind
from rcv_py.analysis.cost.pc_samples import reason_name
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, distinct
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.modes import SUMS, SourceCost

if TYPE_CHECKING:  # it imports all of the attribution, which views of costs do not need
    from rcv_py.analysis.attribution.attribute import Attribution


class SourceCosts(ColumnTable):
    """One row a source line with code, sorted by (file, line), and the totals of each file.

    A file's total charges each code line once, so with INCLUSIVE it may be less than the sum of its lines.
    """

    file: np.ndarray  # int32, index into Trace.sources
    line: np.ndarray  # int32, 1-based; 0 for code the compiler made up
    rows: np.ndarray  # int64, number of its code lines
    cost: np.ndarray  # int64, in the unit of the charged cost
    by_kind: np.ndarray  # int64 [n, KIND_COUNT], cost by kind of the code line
    file_cost: np.ndarray  # int64 [files]
    unmapped: int  # cost of code lines without a source place
    total: int  # cost of all code lines

    def lines_of(self, file: int) -> slice:
        """Return the rows of a file."""
        return slice(*np.searchsorted(self.file, [file, file + 1]).tolist())


def source_costs(code: CodeTable, cost: np.ndarray, how: SourceCost, files: int = 0) -> SourceCosts:
    """Charge `cost` (int64, one a code row) to source places.  `files` is at least the number of files.

    The reference viewer charges every element of a chain, even if it repeats, and a file's total is the sum
    of its lines.
    """
    row, file, line = places(code, how)
    files = max(files, int(code.chain_file.max(initial=-1)) + 1)
    first, group = distinct(file, line)
    by_kind = sums_by_kind(group, code.kind[row], cost[row], len(first))
    once = distinct(row, file)[0]
    return SourceCosts(
        file=file[first].astype(np.int32),
        line=line[first].astype(np.int32),
        rows=np.bincount(group, minlength=len(first)),
        cost=by_kind.sum(axis=1),
        by_kind=by_kind,
        file_cost=sums(file[once], cost[row[once]], files),
        unmapped=int(cost[code.leaf < 0].sum()),
        total=int(cost.sum()),
    )


def places(code: CodeTable, how: SourceCost) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (code row, file, line) of all places that a code row is charged to, int64, each once a row."""
    files, lines = code.chain_file.astype(np.int64), code.chain_line.astype(np.int64)
    if how is SourceCost.SELF:
        row = np.flatnonzero(code.leaf >= 0)
        return row, files[code.leaf[row]], lines[code.leaf[row]]
    row = np.repeat(np.arange(len(code)), np.diff(code.chain_first))
    once = np.sort(distinct(row, files, lines)[0])
    return row[once], files[once], lines[once]


class Reasons(Value):
    """Why each code line waited: causes of cycles, or reasons of PC samples."""

    names: tuple[str, ...]
    amount: np.ndarray  # int64 [code rows, names], stalled and idle cycles, or stalled samples


class SourceLines(ColumnTable):
    """One row a source line (or a file: `line` is 0 and means nothing), sorted by file and line."""

    file: np.ndarray  # int32, index into Trace.sources
    line: np.ndarray  # int32, 1-based; 0 for code the compiler made up
    rows: np.ndarray  # int64, instructions that came from it
    hits: np.ndarray  # int64, executions of these
    latency: np.ndarray  # int64, cycles, or samples
    stall: np.ndarray  # int64
    idle: np.ndarray  # int64
    reason: np.ndarray  # int32, index into `names`, -1 without waits or if unknown
    amount: np.ndarray  # int64, stall and idle of this reason
    names: tuple[str, ...]
    whole: int  # latency and idle of the whole program
    unmapped: int  # of it, the part of instructions without a source place

    @property
    def cost(self) -> np.ndarray:
        """Latency plus idle, int64."""
        return self.latency + self.idle

    def reason_of(self, row: int) -> str:
        """Return the name of the largest reason of a row, "" if there is none."""
        return self.names[int(self.reason[row])] if self.reason[row] >= 0 else ""

    def lines_of(self, file: int) -> range:
        """Return the rows of a file."""
        return range(*np.searchsorted(self.file, [file, file + 1]).tolist())

    def ranked(self, file: int = -1) -> list[int]:
        """Return the rows (of a file, -1: all) with any cost, most first; equal rows in order."""
        rows = np.arange(len(self)) if file < 0 else np.array(self.lines_of(file), dtype=np.int64)
        order = rows[np.argsort(-self.cost[rows], kind="stable")]
        return [row for row in order.tolist() if self.cost[row] > 0]


def reasons(code: CodeTable, causes: Attribution | None) -> Reasons | None:
    """Return why code lines waited, by the attribution, else by PC samples; None without both."""
    if causes is not None:
        amount = np.zeros((len(code), len(Cause)), dtype=np.int64)
        inside = (causes.line >= 0) & (causes.line < len(code))
        order = {int(cause): place for place, cause in enumerate(Cause)}
        place = np.array([order[int(one)] for one in causes.cause[inside]], dtype=np.int64)
        np.add.at(amount, (causes.line[inside], place), causes.cycles[inside])
        return Reasons(tuple(CAUSE_TEXT[cause].name for cause in Cause), amount)
    if code.stall_reasons is not None and code.stall_reasons.size:
        names = tuple(reason_name(at) for at in range(code.stall_reasons.shape[1]))
        return Reasons(names, code.stall_reasons.astype(np.int64))
    return None


def source_lines(
    code: CodeTable, costs: CostColumns, how: SourceCost, why: Reasons | None = None, *, by_file: bool = False
) -> SourceLines:
    """Return a row for every source line with instructions, or for every file.

    A code line is charged to a file once.
    """
    row, file, line = _places(code, how)
    if by_file:
        once = distinct(row, file)[0]
        row, file, line = row[once], file[once], np.zeros_like(line[once])
    first, group = distinct(file, line)
    n = len(first)
    waited = np.zeros((n, 1 if why is None else why.amount.shape[1]), dtype=np.int64)
    if why is not None:
        np.add.at(waited, group, why.amount[row])
    amount = waited.max(axis=1, initial=0)
    real = ~code.is_label
    return SourceLines(
        file=file[first].astype(np.int32),
        line=line[first].astype(np.int32),
        rows=np.bincount(group, minlength=n),
        **{name: sums(group, getattr(costs, name)[row], n) for name in SUMS},
        reason=np.where(amount > 0, waited.argmax(axis=1), -1).astype(np.int32),
        amount=amount,
        names=() if why is None else why.names,
        whole=int(costs.cost[real].sum()),
        unmapped=int(costs.cost[real & (code.leaf < 0)].sum()),
    )


def code_rows(code: CodeTable, file: int, line: int, how: SourceCost) -> np.ndarray:
    """Return the code rows of a source line, int64, in program order."""
    row, files, lines = _places(code, how)
    return ascending(row[(files == file) & (lines == line)])


def _places(code: CodeTable, how: SourceCost) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    row, file, line = places(code, how)
    real = ~code.is_label[row]
    return row[real], file[real], line[real]
