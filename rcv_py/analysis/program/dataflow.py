"""Data flow over basic blocks: facts at block borders, as sets that are integers with one bit per fact.

```
forward    in[b]  = union of out[p] over blocks p before b,  out = gen | (in & ~kill)
backward   out[b] = union of in[s]  over blocks s after b,   in  = gen | (out & ~kill)
```
Sets grow until nothing changes (Aho, Sethi, Ullman: iterative data-flow analysis).  The result does not
depend on the order of blocks; only the number of steps does.
"""

from collections import deque
from collections.abc import Sequence
from functools import reduce
from operator import or_

from rcv_py.analysis.program.blocks import Blocks
from rcv_py.base.progress import checkpoint

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
