"""Loads that could be issued before a wait that stands above them, so that it leaves them outstanding.

```
 62  load a ×20
 82  s_waitcnt vmcnt(0) ◄─┐        needs a alone
 83  ds_write a           │        the rest of the way to 104 touches nothing of b
103  s_add s4, s4, s9 ────┤        computes an address of b: it moves along
104  load b ×20 ──────────┘        before 82, which then waits with vmcnt(20)
124  s_waitcnt vmcnt(0)            needs b: here the batch ends
```
All operations of the counter keep their order, so no other wait changes its meaning; waits between count the
batch as outstanding, too.  What stays between may neither write what the batch reads, nor use what it writes;
a result that is in use meanwhile needs other registers.  Loads stay below stores that may write what they
read, below barriers and cache maintenance, and read nothing that is still being loaded at the wait.  A
barrier alone holds no load from memory back, as long as no wave can have written memory, or seen what other
workgroups wrote.  Nothing that returns in any order may be outstanding at the wait: only a count of 0 shows
that it returned.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache, reduce
from operator import or_

from rcv_py.analysis.program.blocks import Blocks, blocks, forward, ways
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.analysis.program.registers import SPECIAL, S, registers
from rcv_py.analysis.waits.hoisting import MASKED, hides, hoists, is_load
from rcv_py.analysis.waits.waitcnt.generations import UNORDERED, generation_of
from rcv_py.base.record import Value
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable, has_known_operands

MAX_STEPS = 8  # from a load back to what computes its address
_C = InstructionClass
_SEES_OTHERS = re.compile(r"\b(glc|sc0|sc1|dlc|scope:)")  # a load past the caches of this compute unit
_COMPUTES = (_C.SALU, _C.VALU)
_EXEC = 1 << SPECIAL["exec"]
_VECTORS = (1 << S) - 1  # vector registers and accumulators


class LoadBatch(Value):
    """Instructions that move right before a wait; code rows in program order."""

    wait: int
    loads: tuple[int, ...]
    rows: tuple[int, ...]  # the loads, and what computes their addresses
    left: str  # what the wait leaves outstanding then, such as `vmcnt(20)`
    between: tuple[int, ...]  # waits for the counter that the loads pass on their way
    renamed: int  # registers in use meanwhile: so many others are needed
    registers: int  # vector registers that are held at a time from the wait to the old places


def load_batches(code: CodeTable, architecture: Architecture, wait: int) -> dict[str, LoadBatch]:
    """Return the batches before a wait (code row), by each counter that it waits for."""
    effect = generation_of(architecture, code.text).effect(code.text[wait].strip())
    found = {counter: load_batch(code, architecture, wait, counter) for counter, _ in effect.waits}
    return {counter: batch for counter, batch in found.items() if batch is not None}


def load_batch(code: CodeTable, architecture: Architecture, wait: int, counter: str) -> LoadBatch | None:
    """Return the loads below a wait (code row) that can be issued before it; None without any.

    `counter` is one that the wait waits for, of loads whose results return in order.
    """
    rules, carried = generation_of(architecture, code.text), frozenset[int]()
    left = dict(rules.effect(code.text[wait].strip()).waits).get(counter)
    pending, unordered = hoists(code, architecture).pending(wait), _unordered(code, architecture)
    # None may return in any order that is outstanding at the wait.
    if left is None or any(not writes or writes & pending for writes in unordered.get(counter, ())):
        return None
    for _ in range(MAX_STEPS):
        walk = _Walk(code, architecture, wait, counter, carried)
        walk.down(rules.most(counter) - left)
        writers = walk.writers
        if writers <= carried:
            break
        carried |= writers
    if not walk.loads:
        return None
    loaded = reduce(or_, (registers(code.text[row].strip()).writes for row in walk.loads))
    held = live_registers(code).held[wait : walk.loads[-1] + 1]
    peak = max(((own | loaded & ~walk.renamed) & _VECTORS).bit_count() for own in held)
    return LoadBatch(
        wait=wait,
        loads=tuple(walk.loads),
        rows=tuple(row for row in walk.rows if row <= walk.loads[-1]),
        left=f"{counter}cnt({left + len(walk.loads)})",
        between=tuple(row for row in walk.waits if row < walk.loads[-1]),
        renamed=walk.renamed.bit_count(),
        registers=peak + walk.renamed.bit_count(),
    )


@lru_cache(maxsize=2)
def _unordered(code: CodeTable, architecture: Architecture) -> Mapping[str, set[int]]:
    """The registers that each operation writes that returns in any order, by counter; 0: none."""
    effect, found = generation_of(architecture, code.text).effect, defaultdict[str, set[int]](set)
    for text in map(str.strip, code.text):
        for counter, kind in effect(text).raises:
            if kind in UNORDERED:
                found[counter].add(registers(text).writes)
    return found


def _has_shared(code: CodeTable, row: int) -> bool:
    """Whether memory may have been written before a row, or read past the caches to see what others wrote."""
    table, begins = _shared(code)
    block = int(table.of_row[row])
    return bool(begins[block]) or any(_shares(code.text[at].strip()) for at in range(table.first[block], row))


@lru_cache(maxsize=2)
def _shared(code: CodeTable) -> tuple[Blocks, list[int]]:
    table = blocks(code)
    gens = [
        int(any(_shares(code.text[row].strip()) for row in range(first, stop)))
        for first, stop in zip(table.first.tolist(), table.stop.tolist(), strict=True)
    ]
    return table, forward(gens, [0] * len(gens), *ways(table))


def _shares(text: str) -> bool:
    kind = instruction_class(text)
    if kind is _C.CACHE or (hides(text, _C.VMEM_LOAD) and not text.startswith("scratch_")):
        return True
    return kind in (_C.VMEM_LOAD, _C.SMEM, _C.LDS_DMA) and bool(_SEES_OTHERS.search(text))


class _Walk:
    """The way down from a wait: what moves above it, and what the rest touches.  Sets are of registers."""

    def __init__(
        self, code: CodeTable, architecture: Architecture, wait: int, counter: str, carried: Collection[int]
    ) -> None:
        """Take the instructions that compute addresses as well: they move along if they can."""
        self._code, self._counter, self._carried = code, counter, carried
        self._rules, self._known = generation_of(architecture, code.text), hoists(code, architecture)
        table = blocks(code)
        self._rows = range(wait + 1, int(table.stop[table.of_row[wait]]))
        self._live_after = live_registers(code).held[self._rows.stop - 1]
        self._pending = self._known.pending(wait)
        self._has_copies = self._known.ends_copy(wait)
        self._has_barrier = False
        self._reads = self._writes = 0  # of instructions that stay
        self._stay: list[str] = []
        self._lacking = 0  # registers that a load, or what computes its address, could not do without
        self.loads: list[int] = []
        self.rows: list[int] = []
        self.waits: list[int] = []  # for the counter
        self.renamed = 0

    def down(self, most: int) -> None:
        """Go down to the end of the block, or to the first instruction that no load may pass."""
        for row in self._rows:
            if len(self.loads) == most or not (self._code.is_label[row] or self._passes(row)):
                return

    @property
    def writers(self) -> frozenset[int]:
        """The instructions below the wait that write what kept others from moving."""
        rows = self._rows if self._lacking else ()
        return frozenset(row for row in rows if registers(self._text(row)).writes & self._lacking)

    def _text(self, row: int) -> str:
        return self._code.text[row].strip()

    def _passes(self, row: int) -> bool:
        """Whether instructions after one may move above the wait."""
        text = self._text(row)
        effect, kind = self._rules.effect(text), instruction_class(text)
        is_translation = any(name == "x" and left for name, left in effect.waits)
        is_fence = kind is _C.CACHE or (kind is _C.BARRIER and _has_shared(self._code, row))
        if not has_known_operands(text) or is_fence or is_translation:
            return False
        self._has_barrier |= kind is _C.BARRIER
        raised = [pair for pair in effect.raises if pair[0] != "x"]
        if self._counter in (name for name, _ in raised):
            return raised[1:] == [] and raised[0][1] not in UNORDERED and self._takes(row, kind)
        left = dict(effect.waits).get(self._counter)
        if left is not None and left < len(self.loads):
            return False  # it needs the batch
        if not (row in self._carried and kind in _COMPUTES and self._carries(row)):
            own = registers(text)
            self._reads, self._writes = self._reads | own.reads, self._writes | own.writes
            self._has_copies |= self._known.ends_copy(row)
            self._stay.append(text)
            self.waits += [row] if left is not None else []
        return True

    def _takes(self, row: int, kind: InstructionClass) -> bool:
        """Take a load along, if it can move."""
        text, own = self._text(row), registers(self._text(row))
        wanted = own.reads | (_EXEC if kind in MASKED else 0)
        self._lacking |= wanted & self._writes
        if not is_load(text) or wanted & (self._writes | self._pending):
            return False
        if any(hides(one, kind) for one in self._stay):
            return False
        if kind is _C.LDS and (self._has_copies or self._has_barrier):
            return False
        if own.writes & (self._reads | self._writes | self._pending):
            # Half a register keeps its other half, and the next iteration reads the registers of this text.
            if own.writes & (own.reads | self._live_after):
                return False
            self.renamed |= own.writes
        self.loads.append(row)
        self.rows.append(row)
        return True

    def _carries(self, row: int) -> bool:
        """Take what computes an address along, if it can move."""
        own = registers(self._text(row))
        is_used = own.writes & (self._reads | self._writes | self._pending | _EXEC)
        self._lacking |= own.reads & self._writes
        if is_used or (own.reads | _EXEC) & (self._writes | self._pending):
            return False
        self.rows.append(row)
        return True
