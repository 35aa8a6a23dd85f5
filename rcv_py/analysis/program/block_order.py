"""Instruction order in a block: dependencies, the time an order takes, and a better order.

```
 0  load a             issues at 0, returns after its latency
 1  v_add  …           no instruction needs it yet
 2  v_mul  v0, a       waits for the load
```
A single wave issues one instruction after the other: each when the previous one has issued, its unit is free,
its operands have been computed, and its loads have returned (loads of one kind in order).  Waits and nops add
no constraints, and are left out.

An order is legal if it keeps the order of two instructions when one writes a register that the other one
uses, or one may write memory that the other one accesses, and if nothing crosses barriers and the like.  The
list scheduler takes the instruction that can issue first; among several, the one with the longest way to the
end.  Physical registers stay the same, so no order needs more of them.
"""

from collections.abc import Sequence

from rcv_py.analysis.program.registers import bits
from rcv_py.base.record import Value
from rcv_py.model.columns import ColumnTable

NO_KIND = -1


class BlockInstructions(ColumnTable):
    """Instructions of a block, without waits and nops.  Times are int64 cycles."""

    row: tuple[int, ...]  # code rows, ascending
    reads: tuple[int, ...]  # sets of registers
    writes: tuple[int, ...]
    busy: tuple[int, ...]  # until the next instruction of the wave can issue
    unit: tuple[int, ...]  # the unit that it takes
    hold: tuple[int, ...]  # until its unit takes another instruction
    result: tuple[int, ...]  # until its result can be read; for loads until they return
    kind: tuple[int, ...]  # loads of a kind return in order; NO_KIND
    loads: tuple[int, ...]  # bits of the memories that it reads
    stores: tuple[int, ...]  # bits of the memories that it may write
    is_fence: tuple[bool, ...]  # barriers, branches: nothing moves across them


def dependencies(work: BlockInstructions) -> list[list[int]]:
    """Return for each instruction the earlier instructions that must stay before it.

    The list is not complete: pairs that clearly follow from others are left out.
    """
    registers, memories, last_fence = _Uses(), _Uses(), -1
    since_fence: list[int] = []
    found: list[list[int]] = []
    for at in range(len(work)):
        needs = {last_fence} if last_fence >= 0 else set[int]()
        needs |= registers.before(at, work.reads[at], work.writes[at])
        needs |= memories.before(at, work.loads[at], work.stores[at])
        if work.is_fence[at]:
            needs.update(since_fence)
            last_fence, since_fence = at, []
        since_fence.append(at)
        found.append(sorted(needs - {at}))
    return found


class _Uses:
    """The last writer of each location (register or memory), and its readers since."""

    def __init__(self) -> None:
        self._writer: dict[int, int] = {}
        self._readers: dict[int, list[int]] = {}

    def before(self, at: int, reads: int, writes: int) -> set[int]:
        """Return the instructions that must precede one that reads and writes these locations."""
        needs = {self._writer[place] for place in bits(reads | writes) if place in self._writer}
        for place in bits(reads):
            self._readers.setdefault(place, []).append(at)
        for place in bits(writes):
            needs.update(self._readers.pop(place, ()))
            self._writer[place] = at
        return needs


def length(work: BlockInstructions, order: Sequence[int], turns: int = 1) -> int:
    """Return the cycles of an order, from its first issue until the next instruction can issue.

    The order runs `turns` times in sequence, and the last run counts: that models a loop with overlapping
    iterations.
    """
    player = _Player(work)
    begin = 0
    for _ in range(turns):
        begin = player.now
        for at in order:
            player.issue(at)
    return player.now - begin


class _Player:
    def __init__(self, work: BlockInstructions) -> None:
        self._work = work
        self._touched = [bits(read | written) for read, written in zip(work.reads, work.writes, strict=True)]
        self._written = [bits(value) for value in work.writes]
        self.now = 0
        self._free: dict[int, int] = {}
        self._ready: dict[int, int] = {}
        self._back: dict[int, int] = {}

    def when(self, at: int) -> int:
        """When an instruction could issue next."""
        moment, ready = max(self.now, self._free.get(self._work.unit[at], 0)), self._ready
        for bit in self._touched[at]:  # a pending result must neither be read nor overwritten
            moment = max(moment, ready.get(bit, 0))
        return moment

    def issue(self, at: int) -> None:
        """Issue an instruction; record when its unit is free and its results are ready."""
        work, moment = self._work, self.when(at)
        self.now = moment + work.busy[at]
        self._free[work.unit[at]] = moment + work.hold[at]
        done = moment + max(work.result[at], work.busy[at])
        if work.kind[at] != NO_KIND:
            done = self._back[work.kind[at]] = max(done, self._back.get(work.kind[at], 0))
        for bit in self._written[at]:
            self._ready[bit] = done


def heights(work: BlockInstructions, needs: Sequence[Sequence[int]]) -> list[int]:
    """Return the longest way in cycles from the issue of each instruction to the end of the block."""
    height = [max(busy, 1) for busy in work.busy]
    for at in range(len(work) - 1, -1, -1):
        for before in needs[at]:
            is_read = bool(work.writes[before] & (work.reads[at] | work.writes[at]))
            step = max(work.busy[before], work.result[before] if is_read else 0, 1)
            height[before] = max(height[before], height[at] + step)
    return height


def scheduled(work: BlockInstructions, turns: int = 1) -> list[int]:
    """Return the shortest order found, as indices in `work`; at worst the given order."""
    needs = dependencies(work)
    height = heights(work, needs)
    given = list(range(len(work)))
    slack = max(height, default=0)
    tried = [given, _listed(work, needs, height, 0), _listed(work, needs, height, slack)]
    return min(tried, key=lambda order: length(work, order, turns))


def _listed(
    work: BlockInstructions, needs: Sequence[Sequence[int]], height: Sequence[int], slack: int
) -> list[int]:
    """Schedule by height among the instructions that can issue within `slack` cycles of the first one."""
    missing = [len(before) for before in needs]
    dependents: list[list[int]] = [[] for _ in needs]
    for at, before in enumerate(needs):
        for one in before:
            dependents[one].append(at)
    ready = [at for at, count in enumerate(missing) if not count]
    player, order = _Player(work), list[int]()
    while ready:
        moments = [player.when(at) for at in ready]
        limit = min(moments) + slack
        ranks = [(moment > limit, -height[at], at) for moment, at in zip(moments, ready, strict=True)]
        at = ready.pop(ranks.index(min(ranks)))
        player.issue(at)
        order.append(at)
        for one in dependents[at]:
            missing[one] -= 1
            if not missing[one]:
                ready.append(one)
    return order


class Moved(Value):
    """An instruction that saves cycles if it alone is moved up."""

    at: int  # index in the work
    before: int  # index of the instruction that it should precede
    saved: int  # cycles


def moves(work: BlockInstructions, turns: int = 1, most: int = 64) -> list[Moved]:
    """Return loads that save cycles if each alone is moved up as far as possible, the best first.

    Only the `most` loads with the longest latencies are tried.
    """
    needs, given = dependencies(work), list(range(len(work)))
    usual = length(work, given, turns)
    loads = [at for at in given if work.kind[at] != NO_KIND]
    loads = sorted(loads, key=lambda at: (-work.result[at], at))[:most]
    found = []
    for at in loads:
        before = max(needs[at], default=-1) + 1
        if before >= at:
            continue
        order = [*given[:before], at, *given[before:at], *given[at + 1 :]]
        saved = usual - length(work, order, turns)
        if saved > 0:
            found.append(Moved(at, before, saved))
    return sorted(found, key=lambda one: (-one.saved, one.at))
