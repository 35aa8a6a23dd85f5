"""Facts of the program and the launch that decide which remedy fits a finding."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from operator import or_

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.latency.access_widths import MAX_BYTES_PER_LANE, is_scalar
from rcv_py.analysis.program.instruction_classes import PERMUTES, InstructionClass
from rcv_py.analysis.program.registers import SPECIAL, registers
from rcv_py.analysis.waits.hoisting import barrier_follows, hoists, is_load
from rcv_py.analysis.waits.load_batch import LoadBatch, load_batches
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.whatif.changes import changes_text, named
from rcv_py.analysis.whatif.hoist import hoisted
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, plural
from rcv_py.model.code import has_known_operands

NO_ROWS = np.zeros(0, dtype=np.int64)
UNKNOWN_PRODUCER = "an instruction that is not known"
MAX_WAITS = 8  # waits before which loads are tried
MAX_PRODUCERS = 8  # producers whose access widths and order are checked
REACH = 64  # instructions that are examined on each side of an instruction
FAR = 600  # instructions after a load that are searched for its first use
ROOM = 4  # instructions that a load or a wait must be able to pass for a move to be suggested
COLD = 0.6  # part of the stall in the first execution of each wave that makes a cold start
FETCH_BYTES = 32 << 10  # instruction cache of a compute unit
VECTOR_FILE = 512  # maximum registers a lane of a wave, including accumulators
_BRANCHES = ("s_branch", "s_cbranch", "s_setpc", "s_set_pc", "s_swappc", "s_swap_pc", "s_call")
_ENDS = ("s_barrier", "s_endpgm", "s_wait", *_BRANCHES)
_ACCESSES = ("ds_", "global_", "buffer_", "tbuffer_", "flat_", "scratch_", "image_")
_C = InstructionClass
_RELEASES = (_C.VMEM_STORE, _C.ATOMIC, _C.CACHE)  # they may say to other waves that all before them is done
_MEMORY = (_C.VMEM_LOAD, _C.VMEM_STORE, _C.LDS_DMA, _C.LDS)


class FindingContext(Record):
    """A finding's instructions, and the facts that remedies depend on."""

    inputs: FindingInputs
    claimed: Claimed
    producers: tuple[int, ...] = ()  # code rows that others waited for, most cycles first
    flags: frozenset[str] = frozenset()  # facts that the detector itself established

    def has_flag(self, flag: str) -> bool:
        """Whether the detector established a fact."""
        return flag in self.flags

    @property
    def top(self) -> int:
        """The instruction with most at stake, -1 if there is none."""
        return int(self.claimed.line[0]) if len(self.claimed) else -1

    @property
    def producer(self) -> int:
        """The producer with most cycles, -1 if there is none."""
        return self.producers[0] if self.producers else -1

    def text(self, row: int) -> str:
        """The text of an instruction, "" for none."""
        text = self.inputs.trace.code.text
        return text[row].strip() if 0 <= row < len(text) else ""

    @cached_property
    def is_repeated(self) -> bool:
        """Whether the waves run the instruction more than once."""
        hits = self.inputs.loops.hits
        return self.top >= 0 and int(hits.hits[self.top]) > int(hits.waves[self.top])

    @cached_property
    def is_cold(self) -> bool:
        """Whether most of the stall is in the first execution in each wave."""
        return bool(len(self.claimed)) and self.inputs.first_share(self.claimed.line) >= COLD

    @cached_property
    def early(self) -> tuple[int, tuple[int, ...]]:
        """A code row before which the producer could be issued, with what its wait requires below that.

        To move the producer alone above what the same wait requires would gain nothing.
        """
        target, uses = self.producer - self.reach_before, self.inputs.uses
        mates = uses.line[np.isin(uses.wait, uses.wait[uses.line == self.producer])]
        mates = ascending(mates[(mates >= target) & (mates < self.producer)])
        for mate in mates.tolist():
            if mate - replace(self, producers=(mate,)).reach_before > target:
                target = mate + 1
        return target, (*mates[mates >= target].tolist(), self.producer)

    @cached_property
    def room_before(self) -> int:
        """Number of instructions, but those of the same wait, before which the producer could be issued."""
        target, group = self.early
        return self.producer - target + 1 - len(group)

    @cached_property
    def reach_before(self) -> int:
        """By how many instructions the producer could be issued earlier, judged by the program."""
        if self.producer < 0 or not self._is_readable(self.producer):
            return 0
        trace, own = self.inputs.trace, registers(self.text(self.producer))
        loads = is_load(self.text(self.producer))
        most = hoists(trace.code, trace.architecture).of(self.producer).up if loads else REACH
        wanted = own.reads | (0 if is_scalar(self.text(self.producer)) else 1 << SPECIAL["exec"])
        free = 0
        for row in self._walk(self.producer, -1):
            case, text = registers(self.text(row)), self.text(row)
            touches = (case.reads | case.writes) & own.writes or case.writes & wanted
            # What writes must not overwrite what an access before it reads.
            is_stored = "_store" in text or "_atomic" in text or text.startswith("ds_write")
            if free == most or touches or is_stored or (not loads and text.startswith(_ACCESSES)):
                break
            free += 1
        return free

    @cached_property
    def room_after(self) -> int:
        """Number of instructions after the wait that do not touch what it waits for."""
        if self.top < 0 or not self.text(self.top).startswith("s_wait"):
            return 0
        if not all(map(self._is_readable, self.awaited)):
            return 0
        trace, copies = self.inputs.trace, False
        awaited = hoists(trace.code, trace.architecture).pending(self.top)
        for row in self.awaited:
            awaited |= registers(self.text(row)).writes
            copies |= self.inputs.classes[row] == InstructionClass.LDS_DMA
        free = 0
        for row in self._walk(self.top, 1):
            case = registers(self.text(row))
            touches = (case.reads | case.writes) & awaited or (copies and self.text(row).startswith("ds_"))
            if touches or self.inputs.classes[row] in _RELEASES:
                break
            free += 1
        return free

    def _is_readable(self, row: int) -> bool:
        return has_known_operands(self.text(row))

    def _walk(self, row: int, step: int) -> Iterator[int]:
        """Instructions before or after a row, up to the next label, branch, barrier, wait or raw words."""
        code = self.inputs.trace.code
        for at in range(row + step, row + step * (REACH + 1), step):
            if not 0 <= at < len(code) or code.is_label[at] or self.text(at).startswith(_ENDS):
                return
            if not self._is_readable(at):
                return
            yield at

    @cached_property
    def awaited(self) -> tuple[int, ...]:
        """Code rows of the operations that the top wait requires."""
        uses = self.inputs.uses
        return tuple(sorted({*uses.line[uses.wait == self.top].tolist(), *self.producers}))

    @cached_property
    def accesses(self) -> np.ndarray:
        """Code rows of the finding's own memory instructions: the producers, else the stalled ones."""
        width = self.inputs.widths.width
        producers, own = np.array(self.producers, dtype=np.int64), self.claimed.line
        accesses = producers[width[producers] > 0]
        return accesses if len(accesses) else own[width[own] > 0]

    @cached_property
    def width(self) -> int:
        """Bytes a lane that most executions of `accesses` move, 0 if there are none."""
        widths = self.inputs.widths.by_width(self.accesses)
        return widths[0][0] if widths else 0

    @cached_property
    def free_vectors(self) -> int:
        """Free vector registers a lane at the number of waves that were resident, 0 if unknown."""
        return self._vectors[1]

    @cached_property
    def _vectors(self) -> tuple[int, int]:
        """Allocated and free vector registers a lane, 0 if unknown."""
        limits = self.inputs.limits
        vector = next((case for case in limits.limits if case.name == "vector registers"), None)
        if vector is None:
            return 0, 0
        resident = max(1, min(limits.resident.peak, limits.waves))
        room = min(vector.available // resident // 8 * 8, VECTOR_FILE)
        return vector.allocated, max(0, room - vector.allocated)

    @cached_property
    def batches(self) -> tuple[LoadBatch, ...]:
        """Loads that could be issued before the waits above them, where registers for them are free."""
        trace = self.inputs.trace
        effect = generation_of(trace.architecture, trace.code.text).effect
        counters = {counter for row in self.producers for counter, _ in effect(self.text(row)).raises}
        found, taken = list[LoadBatch](), set[int]()
        for wait in self.claimed.line[:MAX_WAITS].tolist():
            for counter, batch in load_batches(trace.code, trace.architecture, wait).items():
                if counter not in counters or taken & set(batch.rows):
                    continue
                if batch.registers <= sum(self._vectors) or not batch.renamed:
                    found.append(batch)
                    taken |= set(batch.rows)
        return tuple(found)

    @property
    def _held_by_batches(self) -> str:
        """The vector registers that are held beside the loads of `batches`, and their limit."""
        held, room = max(batch.registers for batch in self.batches), sum(self._vectors)
        few = room < held
        return plural(held, "vector register") if few else Message("{0} of {1} vector registers", held, room)

    @cached_property
    def wanted_vectors(self) -> int:
        """Vector registers that a second set of results needs."""
        texts = (self.text(row) for row in self.awaited if not self.text(row).endswith(" lds"))
        return reduce(or_, (registers(text).writes for text in texts), 0).bit_count()

    @cached_property
    def base_writer(self) -> int:
        """The last instruction that writes the base of the scalar load at fault, -1 if the launch sets it."""
        if not self._is_readable(self.producer):
            return -1
        base = registers(self.text(self.producer)).reads
        rows = range(self.producer - 1, -1, -1)
        return next((row for row in rows if registers(self.text(row)).writes & base), -1)

    @cached_property
    def loads_of_base(self) -> list[int]:
        """Code rows of the first executed scalar load with the same base, and of those that could join it."""
        if not is_scalar(self.text(self.producer)) or not self._is_readable(self.producer):
            return []
        trace, base = self.inputs.trace, registers(self.text(self.producer)).reads
        loads = [
            row
            for row in np.flatnonzero(trace.code.hits > 0).tolist()
            if is_scalar(self.text(row)) and registers(self.text(row)).reads == base
        ]
        known = hoists(trace.code, trace.architecture)
        return [row for row in loads if row == loads[0] or row - known.of(row).up <= loads[0]]

    def __getitem__(self, name: str) -> str:
        """A word of a remedy's text, such as `{room}`."""
        words = {
            "producer": lambda: (
                Message("instruction {0}", self.producer) if self.producer >= 0 else UNKNOWN_PRODUCER
            ),
            "early": lambda: named(self.early[1]),
            "room_before": lambda: f"{self.room_before}",
            "room_after": lambda: f"{self.room_after}",
            "wanted": lambda: f"{self.wanted_vectors}",
            "free": lambda: f"{self.free_vectors}",
            "width": lambda: f"{self.width} {'byte' if self.width == 1 else 'bytes'}",
            "same_base": lambda: f"{len(self.loads_of_base)}",
            "fits": lambda: f"{self.inputs.attainable}",
            "resident": lambda: f"{self.inputs.limits.resident.mean:.1f}",
            "prefetch": lambda: self.inputs.language.prefetch,
            "registers": lambda: self.inputs.language.registers,
            "step": lambda: self.inputs.limits.next_step,
            "batch": lambda: changes_text([hoisted(batch) for batch in self.batches]),
            "held": lambda: self._held_by_batches,
        }
        return words[name]()


def situation_of(
    inputs: FindingInputs,
    rows: np.ndarray = NO_ROWS,
    flags: Iterable[str] = (),
    producers: Sequence[int] = (),
) -> FindingContext:
    """Return the situation of some rows of the attribution.

    `producers` are the code rows that were waited for, by default the producers of the rows.
    """
    blamed = tuple(producers) or tuple(line for line, _ in inputs.producers(rows, MAX_PRODUCERS))
    return FindingContext(inputs, inputs.claimed(rows), blamed, frozenset(flags))


def _is_in_order(case: FindingContext) -> bool:
    """Whether results return in the order of issue, so that waiting for a count above 0 is enough.

    Scalar loads and messages return out of order on every generation, and so does all that shares their
    counter (lgkmcnt), and FLAT instructions, which may go to LDS or memory.
    """
    texts = [case.text(row) for row in case.awaited]
    return not any(is_scalar(text) or text.startswith(("flat_", "s_sendmsg", "s_mem")) for text in texts)


def _is_through_registers(case: FindingContext) -> bool:
    if not case.inputs.trace.architecture.has_lds_dma or case.producer < 0:
        return False
    if not has_known_operands(case.text(case.producer)):
        return False
    loaded = registers(case.text(case.producer)).writes
    for row in range(case.producer + 1, min(len(case.inputs.trace.code), case.producer + FAR)):
        other = registers(case.text(row))
        if (other.reads | other.writes) & loaded:
            is_store = case.text(row).startswith(("ds_write", "ds_store"))
            return is_store and has_known_operands(case.text(row)) and bool(other.reads & loaded)
    return False


def _has_free_lds(case: FindingContext) -> bool:
    limits = case.inputs.limits
    named = {limit.name: limit for limit in limits.limits}
    lds, group = named.get("LDS"), named.get("workgroup")
    if lds is None or not lds.allocated:
        return False
    waves = group.used if group is not None else 1
    groups = max(1, limits.resident.peak * limits.device.simds // max(1, waves))
    return 2 * lds.allocated * groups <= lds.available


def _is_loop_too_large(case: FindingContext) -> bool:
    loops, code = case.inputs.loops, case.inputs.trace.code
    table = loops.loops.table
    if not len(loops.phases) or table.dominant < 0:
        return False
    first, last = int(table.head[table.dominant]), int(table.branch[table.dominant])
    return int(code.address[last]) - int(code.address[first]) > FETCH_BYTES


def _returns_data(case: FindingContext) -> bool | None:
    """Whether the producer writes a register, None without a producer or its operands."""
    if case.producer < 0 or not has_known_operands(case.text(case.producer)):
        return None
    return bool(registers(case.text(case.producer)).writes)


class Precondition(Value):
    """A condition that must hold before a remedy is suggested."""

    text: str  # for people: completes "only if"
    holds: Callable[[FindingContext], bool]


# Facts that only a detector knows: it sets the flag of this name.
FLAGS = {
    "uneven-arrival": "one wave is last at more than half of the barriers",
    "resource-bound": "a resource limits the waves of a SIMD",
    "grid-bound": "the grid, not a resource, is short of waves",
    "address-arithmetic": "integer address arithmetic issues for more cycles than any other kind of VALU and "
    "SALU work",
    "conversions": "conversions and moves issue for more cycles than other VALU work",
    "nops": "waits and nops issue for more cycles than VALU and SALU work of any kind",
}


# fmt: off
PRECONDITIONS: Mapping[str, Precondition] = {
    "repeated": Precondition("waves execute the instruction more than once", lambda case: case.is_repeated),
    "cold": Precondition("most of the stall is in the first execution in each wave",
        lambda case: case.is_cold),
    "hot": Precondition("most of the stall is not in the first execution",
        lambda case: not case.is_cold),
    "room-before": Precondition(
        Message("at least {0} instructions before all loads of the same wait, back to the last "
                "wait, branch or barrier, write neither their addresses nor touch their destinations", ROOM),
        lambda case: case.room_before >= ROOM),
    "batch": Precondition(
        "loads below the wait can be issued before it, by what is read, written and stored between, and "
        "vector registers for them are free without losing a resident wave",
        lambda case: bool(case.batches)),
    "room-after": Precondition(
        Message("at least {0} instructions after the wait, up to the next wait, branch or barrier, "
                "touch no result that it waits for", ROOM),
        lambda case: case.room_after >= ROOM),
    "in-order": Precondition(
        "the counter returns in order: no scalar load, message or FLAT instruction is counted with it",
        _is_in_order),
    "free-registers": Precondition(
        "vector registers for a second set of results are free without losing a resident wave",
        lambda case: 0 < case.wanted_vectors <= case.free_vectors),
    "returns-data": Precondition("the operation to blame returns data to registers",
        lambda case: _returns_data(case) is True),
    "no-barrier": Precondition(
        "no barrier runs between two executions of the operation: after it other waves may overwrite LDS",
        lambda case: case.producer >= 0 and not barrier_follows(
            case.inputs.trace.code, case.producer, lambda row: row == case.producer)),
    "writes-lds": Precondition("the operation to blame writes to LDS",
        lambda case: _returns_data(case) is False),
    "free-lds": Precondition("LDS of the workgroup fits twice beside the resident workgroups",
        _has_free_lds),
    "narrow": Precondition(
        Message("most of the accesses move less than {0} bytes per lane", MAX_BYTES_PER_LANE),
        lambda case: 0 < case.width < MAX_BYTES_PER_LANE),
    "wide": Precondition(Message("the accesses already move {0} bytes per lane", MAX_BYTES_PER_LANE),
        lambda case: case.width >= MAX_BYTES_PER_LANE),
    "through-registers": Precondition(
        "what is loaded is written to LDS, and the target can copy memory to LDS directly",
        _is_through_registers),
    "room-for-waves": Precondition(
        "registers and LDS leave room for a wave more on each SIMD than were ever resident, and every SIMD "
        "had one", lambda case: case.inputs.shape.used == case.inputs.shape.simds
        and 0 < case.inputs.limits.resident.peak < case.inputs.limits.waves),
    "through-lds": Precondition(
        "lanes are exchanged by ds_bpermute, ds_permute or ds_swizzle, not by DPP already",
        lambda case: any(
            case.text(row).startswith(PERMUTES) for row in (*case.producers, *case.claimed.line.tolist()))),
    "argument": Precondition(
        "the load reads through a base that the launch set, and the target can preload arguments",
        lambda case: is_scalar(case.text(case.producer)) and case.base_writer < 0
        and case.inputs.trace.architecture.has_preload),
    "pointer-chase": Precondition("the address of the load was itself loaded by a scalar load",
        lambda case: is_scalar(case.text(case.producer)) and is_scalar(case.text(case.base_writer))),
    "same-base": Precondition("several executed scalar loads read through the same base",
        lambda case: len(case.loads_of_base) > 1),
    "counted-together": Precondition("stores and loads share a counter (gfx9)",
        lambda case: not case.inputs.trace.architecture.has_store_counter),
    "before-end": Precondition("only s_endpgm follows the wait",
        lambda case: case.top >= 0 and case.text(case.top + 1).startswith("s_endpgm")),
    "unread": Precondition("no instruction reads what the operation returns",
        lambda case: _returns_data(case) is True and not any(
            registers(text).reads & registers(case.text(case.producer)).writes
            for text in case.inputs.trace.code.text)),
    "back-to-back": Precondition("the instruction before is a memory instruction too",
        lambda case: case.top > 0 and case.inputs.classes[case.top - 1] in _MEMORY),
    "loop-too-large": Precondition("the loop has more than 32 KB of code", _is_loop_too_large),
    "after-branch": Precondition("the gap follows a branch",
        lambda case: case.text(case.producer).startswith(_BRANCHES)),
    **{name: Precondition(text, partial(FindingContext.has_flag, flag=name)) for name, text in FLAGS.items()},
}
# fmt: on
