"""The order of instructions in a block: what must stay before what, how long it takes, and a better one.

```
 0  load a             issues at 0, returns after its latency
 1  v_add  …           nobody needs it yet
 2  v_mul  v0, a       waits for the load
```
One wave alone issues one instruction after the other: each when the one before has issued, its unit is free,
what it reads has been computed, and what was loaded has returned (loads of one kind in order).  Waits and
nops say nothing that this does not, and are left out.

An order is legal if it keeps every pair of which one writes a register that the other one touches, of which
one may write memory that the other one accesses, and everything around barriers and the like in place.  The
list scheduler takes what can issue first, of such what has the longest way to the end; physical registers
stay what they are, so no order needs more of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NO_KIND = -1


@dataclass(frozen=True, eq=False)
class Work:
    """Instructions of a block; waits and nops are not among them.  Times are int64 cycles."""

    row: tuple[int, ...]  # code rows, ascending
    reads: tuple[int, ...]  # sets of registers
    writes: tuple[int, ...]
    busy: tuple[int, ...]  # until the next instruction of the wave can issue
    unit: tuple[int, ...]  # that it takes
    hold: tuple[int, ...]  # until its unit takes another one
    result: tuple[int, ...]  # until what it writes can be read; of loads until they return
    kind: tuple[int, ...]  # loads of a kind return in order; NO_KIND
    loads: tuple[int, ...]  # bits of memories that it reads
    stores: tuple[int, ...]  # bits of memories that it may write
    is_fence: tuple[bool, ...]  # barriers, branches: nothing is moved across

    def __len__(self) -> int:
        return len(self.row)


def dependencies(work: Work) -> list[list[int]]:
    """Return for each instruction those before it that must stay before it.

    Not all pairs are listed: what follows from others is left out where that is easy to see.
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
    """Who wrote each of some places last, and who has read it since."""

    def __init__(self) -> None:
        self._writer: dict[int, int] = {}
        self._readers: dict[int, list[int]] = {}

    def before(self, at: int, reads: int, writes: int) -> set[int]:
        """Return what stays before an instruction that reads and writes these places."""
        needs: set[int] = set()
        for place in _bits(reads | writes):
            if place in self._writer:
                needs.add(self._writer[place])
        for place in _bits(reads):
            self._readers.setdefault(place, []).append(at)
        for place in _bits(writes):
            needs.update(self._readers.pop(place, ()))
            self._writer[place] = at
        return needs


def _bits(value: int) -> list[int]:
    found = []
    while value:
        low = value & -value
        found.append(low.bit_length() - 1)
        value ^= low
    return found


def length(work: Work, order: Sequence[int], turns: int = 1) -> int:
    """Return the cycles of an order, from its first issue until the next instruction can issue.

    With several `turns` it is run so often, one after the other, and the last one counts: that is how a loop
    runs whose iterations overlap.
    """
    player = _Player(work)
    begin = 0
    for _ in range(turns):
        begin = player.now
        for at in order:
            player.issue(at)
    return player.now - begin


class _Player:
    """Issues instructions in order."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._read = [_bits(value) for value in work.reads]
        self._written = [_bits(value) for value in work.writes]
        self.now = 0
        self._free: dict[int, int] = {}
        self._ready: dict[int, int] = {}
        self._back: dict[int, int] = {}

    def when(self, at: int) -> int:
        """When an instruction could issue next."""
        moment = max(self.now, self._free.get(self._work.unit[at], 0))
        ready = self._ready
        for bit in self._read[at]:
            moment = max(moment, ready.get(bit, 0))
        for bit in self._written[at]:  # what is on its way is not overwritten
            moment = max(moment, ready.get(bit, 0))
        return moment

    def issue(self, at: int) -> None:
        """Let an instruction issue, and keep when its unit is free and its results are there."""
        work, moment = self._work, self.when(at)
        self.now = moment + work.busy[at]
        self._free[work.unit[at]] = moment + work.hold[at]
        done = moment + max(work.result[at], work.busy[at])
        if work.kind[at] != NO_KIND:
            done = self._back[work.kind[at]] = max(done, self._back.get(work.kind[at], 0))
        for bit in self._written[at]:
            self._ready[bit] = done


def heights(work: Work, needs: Sequence[Sequence[int]]) -> list[int]:
    """Return the longest way in cycles from the issue of each instruction to the end of the block."""
    height = [max(busy, 1) for busy in work.busy]
    for at in range(len(work) - 1, -1, -1):
        for before in needs[at]:
            is_read = bool(work.writes[before] & (work.reads[at] | work.writes[at]))
            step = max(work.busy[before], work.result[before] if is_read else 0, 1)
            height[before] = max(height[before], height[at] + step)
    return height


def scheduled(work: Work, turns: int = 1) -> list[int]:
    """Return the shortest order that was found, places in `work`; at worst the one that there is."""
    needs = dependencies(work)
    height = heights(work, needs)
    given = list(range(len(work)))
    slack = max(height, default=0)
    tried = [given, _listed(work, needs, height, 0), _listed(work, needs, height, slack)]
    return min(tried, key=lambda order: length(work, order, turns))


def _listed(work: Work, needs: Sequence[Sequence[int]], height: Sequence[int], patience: int) -> list[int]:
    """What can issue within `patience` cycles of the first that can, and has most behind it, comes next."""
    missing = [len(before) for before in needs]
    behind: list[list[int]] = [[] for _ in needs]
    for at, before in enumerate(needs):
        for one in before:
            behind[one].append(at)
    ready = [at for at, count in enumerate(missing) if not count]
    player, order = _Player(work), list[int]()
    while ready:
        moments = [player.when(at) for at in ready]
        limit = min(moments) + patience
        pick = min(
            range(len(ready)),
            key=lambda place: (moments[place] > limit, -height[ready[place]], ready[place]),
        )
        at = ready.pop(pick)
        player.issue(at)
        order.append(at)
        for one in behind[at]:
            missing[one] -= 1
            if not missing[one]:
                ready.append(one)
    return order


@dataclass(frozen=True, slots=True)
class Moved:
    """An instruction that pays when it alone is moved up."""

    at: int  # place in the work
    before: int  # place of the instruction that it should stand before
    saved: int  # cycles


def moves(work: Work, turns: int = 1, most: int = 64) -> list[Moved]:
    """Return loads that pay when each alone is moved up as far as it may, the best first.

    Of more than `most` loads those with the longest latencies are tried.
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
