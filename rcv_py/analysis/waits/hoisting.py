"""How far up a memory instruction may move inside its basic block, by the instruction texts alone.

```
 283  buffer_load v[80:83] …        ▲ 319 may move before this instruction
 285  v_add v3, v4, v5              │ uses no register of 319
 319  buffer_load v[70:73], v9 …    ┘ its address is ready, its destination is not in use
```
It stays after instructions that write its address, the lane mask or its destination, after reads of its
destination, after barriers and cache maintenance, and after stores (and waits for copies to LDS) that may
write what it reads.  If its address was loaded, it stays after a wait for all of the counter or an
instruction that read the address.

A wait must end before a barrier after which other waves may overwrite what an operation still reads:

```
ds_read_b128 v[8:11], v1          reads a tile
s_waitcnt lgkmcnt(0)              no instruction before the barrier reads v[8:11], and yet the wait is needed:
s_barrier                         the barrier says to other waves that the tile has been read,
ds_write_b128 v2, v[12:15]        so they write the next one
v_mfma_…  v[8:9] …
```
"""

import re
from collections.abc import Callable
from functools import cached_property, lru_cache, reduce
from operator import or_

from rcv_py.analysis.program.blocks import Blocks, blocks, forward, ways
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.analysis.program.registers import BITS, SPECIAL, registers
from rcv_py.analysis.waits.waitcnt.generations import WaitcntGeneration, generation_of
from rcv_py.base.record import Value
from rcv_py.base.text import Message, TextEnum
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable, has_known_operands
from rcv_py.model.trace import Trace

MAX_DISTANCE = 512  # instructions above a load that are checked


class HoistLimit(TextEnum):
    """What an instruction cannot be moved above."""

    BLOCK = 0, "begin of the basic block"
    ADDRESS = 1, "its address or the execution mask is written there"
    PENDING = 2, "its address is not loaded before that"
    DESTINATION = 3, "its destination register is in use there"
    STORE = 4, "a store before that may write the data that it reads"
    BARRIER = 5, "barrier or cache maintenance"
    FAR = 6, Message("{0} instructions are looked at", MAX_DISTANCE)
    UNREADABLE = 7, "its operands are not known"


class HoistRange(Value):
    """How far an instruction may move; `renamed_up` assumes other, free destination registers."""

    up: int  # instructions above it that it may pass
    limit: HoistLimit
    at: int  # code row that limits it
    renamed_up: int
    destination: int  # 32-bit registers that it writes


_C = InstructionClass
_LOADS = (_C.VMEM_LOAD, _C.LDS, _C.SMEM, _C.SCRATCH)
_WRITES = re.compile(r"\S*(_store|_write|_atomic|_wb|_add|_sub|_cmpst|_wrxchg)")
MASKED = (_C.VMEM_LOAD, _C.LDS, _C.SCRATCH)


def is_load(text: str) -> bool:
    """Whether an instruction loads from memory or LDS into registers; False if its operands are unknown."""
    if not has_known_operands(text):
        return False
    return bool(registers(text).writes) and not _stores(text) and instruction_class(text) in _LOADS


@lru_cache(maxsize=1 << 14)
def _stores(text: str) -> bool:
    known = instruction_class(text)
    return known in (_C.VMEM_STORE, _C.ATOMIC) or (known in _LOADS and _WRITES.match(text) is not None)


def hides(store: str, load: InstructionClass) -> bool:
    """Whether an instruction may write what a load of the given class reads."""
    is_local = load is _C.LDS
    if instruction_class(store) is _C.LDS_DMA:
        return is_local or "store" in store
    return _stores(store) and (store.startswith("flat_") or store.startswith("ds_") == is_local)


class Hoists:
    """Results for a program, cached by row."""

    def __init__(self, code: CodeTable, architecture: Architecture) -> None:
        self._code, self._rules = code, generation_of(architecture, code.text)
        self._texts = [text.strip() for text in code.text]
        self._known: dict[int, HoistRange] = {}
        self._rows: dict[int, list[int]] = {}  # registers with pending loads before each row of a block
        self._table = blocks(code)
        gens, kills = [], []
        for first, stop in zip(self._table.first.tolist(), self._table.stop.tolist(), strict=True):
            gen = kill = 0
            for text in self._texts[first:stop]:
                more, less = _step(self._rules, text)
                gen, kill = more | (gen & ~less), kill | less
            gens.append(gen)
            kills.append(kill)
        # The registers that loads may still write at the begin of each block.
        self._begins = forward(gens, kills, *ways(self._table))

    def of(self, row: int) -> HoistRange:
        """Return how far the instruction at a code row may move."""
        if row not in self._known:
            unknown = HoistRange(0, HoistLimit.UNREADABLE, row, 0, 0)
            self._known[row] = self._walk(row) if has_known_operands(self._texts[row]) else unknown
        return self._known[row]

    def _walk(self, row: int) -> HoistRange:
        text = self._texts[row]
        known, moved = instruction_class(text), registers(text)
        wanted = moved.reads | (1 << SPECIAL["exec"] if known in MASKED else 0)
        block = int(self._table.of_row[row])
        first, pending = int(self._table.first[block]), self._pending(block)
        up, strict = 0, None
        limit, at = HoistLimit.BLOCK, row
        for above in range(row - 1, max(first, row - MAX_DISTANCE) - 1, -1):
            if self._code.is_label[above]:
                continue
            other = registers(self._texts[above])
            at = above
            if other.writes & wanted:
                is_readable = has_known_operands(self._texts[above])
                limit = HoistLimit.ADDRESS if is_readable else HoistLimit.UNREADABLE
                break
            if pending[above - first] & wanted:
                limit = HoistLimit.PENDING
                break
            if instruction_class(self._texts[above]) in (_C.BARRIER, _C.CACHE):
                limit = HoistLimit.BARRIER
                break
            if hides(self._texts[above], known) or (known is _C.LDS and self.ends_copy(above)):
                limit = HoistLimit.STORE
                break
            if strict is None and (other.reads | other.writes) & moved.writes:
                strict = up, HoistLimit.DESTINATION, above
            up += 1
        else:
            limit = HoistLimit.BLOCK if row - MAX_DISTANCE <= first else HoistLimit.FAR
        up_, limit_, at_ = strict or (up, limit, at)
        return HoistRange(up=up_, limit=limit_, at=at_, renamed_up=up, destination=moved.writes.bit_count())

    def ends_copy(self, row: int) -> bool:
        """Whether an instruction may wait for copies to LDS."""
        waits = {counter for counter, _ in self._rules.effect(self._texts[row]).waits}
        return not self._copy_counters.isdisjoint(waits)

    @cached_property
    def _copy_counters(self) -> set[str]:
        """The counters of the copies to LDS in the program."""
        copies = (text for text in self._texts if instruction_class(text) is _C.LDS_DMA)
        return {counter for text in copies for counter, _ in self._rules.effect(text).raises} - {"x"}

    def pending(self, row: int) -> int:
        """The registers that loads may still write before a code row."""
        block = int(self._table.of_row[row])
        return self._pending(block)[row - int(self._table.first[block])]

    def _pending(self, block: int) -> list[int]:
        """Registers that loads may still write, before each row of a block."""
        if block not in self._rows:
            pending, rows, counters = self._begins[block], [], range(len(self._rules.order))
            for row in range(int(self._table.first[block]), int(self._table.stop[block])):
                rows.append(reduce(or_, (pending >> at * BITS & _ONE for at in counters)))
                gen, kill = _step(self._rules, self._texts[row])
                pending = gen | (pending & ~kill)
            self._rows[block] = rows
        return self._rows[block]


# A set has the registers of each counter, one counter after the other.
_ONE = (1 << BITS) - 1


@lru_cache(maxsize=1 << 14)
def _step(rules: WaitcntGeneration, text: str) -> tuple[int, int]:
    """Return the registers that become pending and those that are ready after it; sets per counter."""
    known, effect = registers(text), rules.effect(text)
    count = len(rules.order)
    everywhere = sum(1 << at * BITS for at in range(count))
    gen, kill = 0, (known.reads | known.writes) * everywhere
    for counter, left in effect.waits:
        if left == 0:
            kill |= _ONE << rules.order.index(counter) * BITS
    for counter, _ in effect.raises:
        gen |= known.writes << rules.order.index(counter) * BITS
    return gen, kill


@lru_cache(maxsize=2)
def hoists(code: CodeTable, architecture: Architecture) -> Hoists:
    """Return the results for a program; cached, since every parcel of waves needs them."""
    return Hoists(code, architecture)


STAYS = "Only what loads into registers can be tried elsewhere."
NEVER = "It was never executed, so nothing follows from it."
UNREADABLE = "Its operands are not known: the text holds raw words."
BELOW = "Only earlier places can be tried: the recording does not show what would wait for it later."
HERE = "It is already there."


class RoomAbove(Value):
    """Code rows: an instruction may stand before each row from `top` to its own."""

    top: int
    why: str  # a sentence: what keeps it from standing higher, or anywhere else


def room_above(trace: Trace, row: int) -> RoomAbove:
    """Return where an instruction of a program could stand."""
    code = trace.code
    if code.is_label[row] or not code.hits[row]:
        return RoomAbove(row, NEVER)
    text = code.text[row].strip()
    if not has_known_operands(text):
        return RoomAbove(row, UNREADABLE)
    if not is_load(text):
        return RoomAbove(row, STAYS)
    found = hoists(code, trace.architecture).of(row)
    top, mnemonic = _above(trace, row, found.up), code.text[found.at].strip().partition(" ")[0]
    why = Message("Instruction {0}, {1}: {2}.", found.at, mnemonic, found.limit.text)
    if found.limit is HoistLimit.DESTINATION and found.renamed_up > found.up:
        higher = _above(trace, row, found.renamed_up)
        why = Message("{0}; with other registers that are free it could go up to {1}.", why[:-1], higher)
    if found.limit is HoistLimit.BLOCK:
        why = Message("The basic block begins at {0}.", top)
    return RoomAbove(top, why)


def why_not_before(trace: Trace, row: int, before: int) -> str:
    """Return why an instruction cannot stand right before another one, a sentence; "" if it can."""
    room = room_above(trace, row)
    if room.top == row and room.why in (NEVER, STAYS, UNREADABLE):
        return room.why
    if before in (row, row + 1):
        return HERE
    return BELOW if before > row else room.why if before < room.top else ""


def _above(trace: Trace, row: int, steps: int) -> int:
    """The code row `steps` instructions above another, without counting labels."""
    while steps > 0 and row > 0:
        row -= 1
        steps -= not trace.code.is_label[row]
    return row


def is_barrier(text: str) -> bool:
    """Whether an instruction signals or waits for other waves of the workgroup."""
    return instruction_class(text.strip()) is InstructionClass.BARRIER


def is_needed_by_barrier(code: CodeTable, architecture: Architecture, wait: int, operation: int) -> bool:
    """Whether a barrier may follow a wait before anything else requires the result of an operation.

    `wait` and `operation` are code rows.  An instruction that touches the result requires it, and so does a
    later wait for all operations of its counter.
    """
    effect = generation_of(architecture, code.text).effect
    result = registers(code.text[operation].strip()).writes
    counters = {counter for counter, _ in effect(code.text[operation].strip()).raises}

    def requires(row: int) -> bool:
        text = code.text[row].strip()
        touched = registers(text)
        return bool((touched.reads | touched.writes) & result) or counters <= {
            counter for counter, left in effect(text).waits if left == 0
        }

    return barrier_follows(code, wait, requires)


def barrier_follows(code: CodeTable, row: int, ends: Callable[[int], bool]) -> bool:
    """Whether a barrier may run after a code row before any row for which `ends` is true."""
    table, successors = _successors(code)
    todo, seen = [(row + 1, int(table.of_row[row]))], set[int]()
    while todo:
        first, block = todo.pop()
        for at in range(first, int(table.stop[block])):
            if code.is_label[at]:
                continue
            if is_barrier(code.text[at]):
                return True
            if ends(at):
                break
        else:
            fresh = set(successors[block]) - seen
            seen |= fresh
            todo += [(int(table.first[other]), other) for other in fresh]
    return False


@lru_cache(maxsize=2)
def _successors(code: CodeTable) -> tuple[Blocks, list[list[int]]]:
    table = blocks(code)
    return table, ways(table)[1]
