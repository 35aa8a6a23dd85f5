"""Basic blocks: runs of code lines that are entered only at the top and left only at the bottom.

```
 row                      block
  0  ; my_kernel          0 my_kernel   the entry: a kernel begins
  1  s_load_dword …       0
  2  ds_read …            1 block 1     the target of a jump
  6  s_cbranch_scc1 -5    1             a branch ends its block
  7  s_endpgm             2 block 2
```

Data flow are facts at the borders of blocks, as sets that are integers with one bit per fact:

```
forward    in[b]  = union of out[p] over blocks p before b,  out = gen | (in & ~kill)
backward   out[b] = union of in[s]  over blocks s after b,   in  = gen | (out & ~kill)
```
Sets grow until nothing changes (Aho, Sethi, Ullman: iterative data-flow analysis).  The result does not
depend on the order of blocks; only the number of steps does.
"""

from collections import deque
from collections.abc import Sequence
from functools import cached_property, reduce
from operator import or_

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.program.branches import Branches, Flow, flow
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders, distinct
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, memoized


class Label(Value):
    """A label row."""

    row: int  # of the code table
    name: str
    cost: int  # cycles of latency from here to the next label
    share: float  # of the cost of all labels, 0 to 1
    codeobj: int
    address: int


def labels(code: CodeTable, cost: np.ndarray | None = None) -> tuple[Label, ...]:
    """Return the labels in program order; `cost` (int64, one per code row) is by default the latency."""
    rows = np.flatnonzero(code.is_label)
    costs = np.diff(borders(code.latency if cost is None else cost)[np.append(rows, len(code))])
    whole = max(int(costs.sum()), 1)
    names = _names(code)
    return tuple(
        Label(row, names[row], worth, worth / whole, int(code.codeobj[row]), int(code.address[row]))
        for row, worth in zip(rows.tolist(), costs.tolist(), strict=True)
    )


class Blocks(ColumnTable):
    """One row per block, in program order; every code line belongs to exactly one block."""

    first: np.ndarray  # int32, first code row
    stop: np.ndarray  # int32, code row after the last one
    name: tuple[str, ...]  # the name of its label, else `block` and its number
    label: np.ndarray  # int32, code row of the label it begins with, -1: none
    head: np.ndarray  # int32, its first instruction; its first row if it has no instruction
    kernel: np.ndarray  # int32, row of `CodeTable.kernels`, -1: none
    is_entry: np.ndarray  # bool, a kernel begins here
    edge_from: np.ndarray  # int32 [edges], block
    edge_to: np.ndarray  # int32 [edges], block that may run next

    @cached_property
    def of_row(self) -> np.ndarray:
        """The block of each code row, int32."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.stop - self.first)


class BlockCosts(Record):
    """One row per block: sums over its instructions."""

    lines: np.ndarray  # int64, instructions without labels
    hits: np.ndarray  # int64, executions of its first instruction
    latency: np.ndarray  # int64
    stall: np.ndarray  # int64
    idle: np.ndarray  # int64
    executed: np.ndarray  # bool, any of its lines ran or has a cost

    @cached_property
    def cost(self) -> np.ndarray:
        """Latency plus idle, int64."""
        return self.latency + self.idle


def blocks(code: CodeTable, jumps: Branches | None = None) -> Blocks:
    """Return the blocks of all kernels.

    A block begins at a kernel, at a label, after a branch or an end of the program, and at every jump target.
    The target is the operand of a direct branch, else the targets of recorded jumps (`jumps`).  A recorded
    jump that contradicts its operand (tokens are missing in the record) is ignored.
    """
    return _without_record(code) if jumps is None else _blocks(code, jumps)


@memoized
def _without_record(code: CodeTable) -> Blocks:
    return _blocks(code, None)


def _blocks(code: CodeTable, jumps: Branches | None) -> Blocks:
    n = len(code)
    how = flow(code)
    source = np.flatnonzero(how.target >= 0)
    target = how.target[source]
    if jumps is not None:
        indirect = how.target[jumps.source] < 0
        source = np.concatenate([source, jumps.source[indirect]])
        target = np.concatenate([target, jumps.target[indirect]])
    begins = _begins(code, how, target)
    first = np.flatnonzero(begins).astype(np.int32)
    stop = np.append(first[1:], n).astype(np.int32)[: len(first)]
    of_row = np.repeat(np.arange(len(first)), stop - first)
    starts = np.isin(first, [kernel.first for kernel in code.kernels])
    last = stop[:-1] - 1
    onward = how.falls[last] & ~starts[1:] & (code.codeobj[last] == code.codeobj[first[1:]])
    fall = np.flatnonzero(onward)
    edge_from, edge_to = np.append(fall, of_row[source]), np.append(fall + 1, of_row[target])
    once = distinct(edge_from, edge_to)[0]
    label = np.where(code.is_label[first], first, -1).astype(np.int32)
    nearest = np.minimum.accumulate(np.where(code.is_label, n, np.arange(n))[::-1])[::-1]  # instruction
    head = nearest[first] if len(first) else first
    known = _names(code)
    names = tuple(known.get(row, Message("block {0}", number)) for number, row in enumerate(first.tolist()))
    return Blocks(
        first=first,
        stop=stop,
        name=names,
        label=label,
        head=np.where(head < stop, head, first).astype(np.int32),
        kernel=code.kernel[first],
        is_entry=starts,
        edge_from=edge_from[once].astype(np.int32),
        edge_to=edge_to[once].astype(np.int32),
    )


def by_label(table: Blocks) -> Blocks:
    """Return the blocks merged into sections: from each label or kernel to the next; without edges."""
    starts = np.flatnonzero((table.label >= 0) | table.is_entry | (np.arange(len(table)) == 0))
    first = table.first[starts]
    stop = np.append(first[1:], table.stop[-1:]).astype(np.int32)[: len(first)]
    nothing = np.zeros(0, dtype=np.int32)
    return Blocks(
        first=first,
        stop=stop,
        name=tuple(table.name[at] for at in starts.tolist()),
        label=table.label[starts],
        head=table.head[starts],
        kernel=table.kernel[starts],
        is_entry=table.is_entry[starts],
        edge_from=nothing,
        edge_to=nothing,
    )


def block_costs(table: Blocks, code: CodeTable, costs: CodeTable | CostColumns) -> BlockCosts:
    """Return the sums of hits, latency, stall and idle over each block; labels cost nothing."""
    real = ~code.is_label

    def sums(column: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.where(real, column, 0).astype(np.int64), table.first)

    hits, latency, stall, idle = map(sums, (costs.hits, costs.latency, costs.stall, costs.idle))
    return BlockCosts(
        lines=sums(real),
        hits=np.where(real, costs.hits, 0).astype(np.int64)[table.head],
        latency=latency,
        stall=stall,
        idle=idle,
        executed=(hits > 0) | (latency > 0) | (idle > 0),
    )


def _begins(code: CodeTable, how: Flow, target: np.ndarray) -> np.ndarray:
    """Return whether each row begins a block; a run of labels belongs to the block after it."""
    n = len(code)
    begins = np.zeros(n, dtype=bool)
    begins[:1] = True
    begins[[kernel.first for kernel in code.kernels if kernel.first < n]] = True
    begins[1:] |= code.codeobj[1:] != code.codeobj[:-1]
    begins[1:] |= how.is_branch[:-1] | ~how.falls[:-1]
    begins[1:] |= code.is_label[1:] & ~code.is_label[:-1]
    # A jump to an instruction after labels enters at the first of the labels.
    not_label = np.where(code.is_label, -1, np.arange(n))
    run_first = np.maximum.accumulate(np.append(-1, not_label))[:n] + 1
    begins[run_first[target]] = True
    return begins


def _names(code: CodeTable) -> dict[int, str]:
    """The names of kernels and labels by their first row."""
    labels = {row: code.text[row].lstrip("; ").rstrip(": ") for row in np.flatnonzero(code.is_label).tolist()}
    return labels | {one.first: one.demangled for one in code.kernels if one.demangled}


Ways = Sequence[Sequence[int]]  # for each block: other blocks, by number
_CHECKED = 4096  # blocks between two checkpoints


def ways(table: Blocks) -> tuple[list[list[int]], list[list[int]]]:
    """Return the blocks that may run before each block, and the blocks that may run after it."""
    before: list[list[int]] = [[] for _ in range(len(table))]
    successors: list[list[int]] = [[] for _ in range(len(table))]
    for source, target in zip(table.edge_from.tolist(), table.edge_to.tolist(), strict=True):
        before[target].append(source)
        successors[source].append(target)
    return before, successors


def forward(gen: Sequence[int], kill: Sequence[int], before: Ways, successors: Ways) -> list[int]:
    """Return the facts that may reach the begin of each block: the union over its predecessors."""
    return _spread(gen, kill, before, successors, range(len(gen)))


def backward(gen: Sequence[int], kill: Sequence[int], before: Ways, successors: Ways) -> list[int]:
    """Return the facts that may be needed at the end of each block: the union over its successors."""
    return _spread(gen, kill, successors, before, range(len(gen) - 1, -1, -1))


def _spread(
    gen: Sequence[int], kill: Sequence[int], sources: Ways, dependents: Ways, order: Sequence[int]
) -> list[int]:
    value, given = [0] * len(gen), list(gen)
    todo, is_waiting = deque(order), [True] * len(gen)
    looked = 0
    while todo:
        looked += 1
        if looked % _CHECKED == 0:
            checkpoint()
        block = todo.popleft()
        is_waiting[block] = False
        value[block] = reduce(or_, (given[source] for source in sources[block]), 0)
        made = gen[block] | (value[block] & ~kill[block])
        if made == given[block]:
            continue
        given[block] = made
        for other in dependents[block]:
            if not is_waiting[other]:
                is_waiting[other] = True
                todo.append(other)
    return value
