"""What the program and the launch allow where a finding was made: the facts that remedies depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.attribution.lines import registers
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.latency.access_widths import WIDEST, is_scalar
from rcv_py.analysis.program.instruction_classes import InstructionClass
from rcv_py.analysis.program.language import Language

REACH = 64  # instructions that are looked at on each side of an instruction
FAR = 600  # instructions after a load in which its first use is looked for
ROOM = 4  # instructions that a load or a wait must be able to pass, or moving it is not worth a word
COLD = 0.6  # of the stall in the first execution of each wave: from here on it is a cold start
FETCH_BYTES = 32 << 10  # instruction cache of a compute unit
VECTOR_FILE = 512  # registers a lane that a wave can have at most, accumulators included
_ENDS = ("s_barrier", "s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm", "s_wait")
_PRELOAD = ("gfx90a", "gfx94", "gfx95", "gfx125")  # targets that can have arguments in registers at start
_PERMUTES = ("ds_bpermute", "ds_permute", "ds_swizzle")
_LDS_DMA = ("gfx908", "gfx90a", "gfx94", "gfx95")


@dataclass(frozen=True, eq=False)
class Situation:
    """A finding's instructions, and the conditions that remedies have."""

    inputs: FindingInputs
    claimed: Claimed
    producers: tuple[int, ...] = ()  # code rows that made others late, most cycles first
    flags: frozenset[str] = frozenset()  # what the detector itself found out

    @property
    def top(self) -> int:
        """The instruction with most at stake, -1 if there is none."""
        return int(self.claimed.line[0]) if len(self.claimed) else -1

    @property
    def producer(self) -> int:
        """The instruction to blame most, -1 if there is none."""
        return self.producers[0] if self.producers else -1

    def text(self, row: int) -> str:
        """The text of an instruction, "" for none."""
        return self.inputs.trace.code.text[row].strip() if row >= 0 else ""

    # -- how often ----------------------------------------------------------------------------------------

    @cached_property
    def is_repeated(self) -> bool:
        """Whether the waves run the instruction more than once."""
        hits = self.inputs.loops.hits
        return self.top >= 0 and int(hits.hits[self.top]) > int(hits.waves[self.top])

    @cached_property
    def is_cold(self) -> bool:
        """Whether most of the stall is that of the first execution in each wave."""
        return bool(len(self.claimed)) and self.inputs.first_share(self.claimed.line) >= COLD

    @property
    def returns_data(self) -> bool | None:
        """Whether the operation to blame writes a register, None if none is to blame."""
        return None if self.producer < 0 else bool(registers(self.text(self.producer)).writes)

    # -- order of instructions ------------------------------------------------------------------------------

    @cached_property
    def room_before(self) -> int:
        """How many instructions the one to blame could be issued earlier, for all the program says."""
        if self.producer < 0:
            return 0
        own = registers(self.text(self.producer))
        free = 0
        for row in self._walk(self.producer, -1):
            one, text = registers(self.text(row)), self.text(row)
            touches = (one.reads | one.writes) & own.writes or one.writes & own.reads
            if touches or "_store" in text or "_atomic" in text or text.startswith("ds_write"):
                break
            free += 1
        return free

    @cached_property
    def room_behind(self) -> int:
        """How many instructions after the wait touch nothing of what it waits for."""
        if self.top < 0 or not self.text(self.top).startswith("s_wait"):
            return 0
        awaited, copies = 0, False
        for row in self.awaited:
            awaited |= registers(self.text(row)).writes
            copies |= self.inputs.classes[row] == InstructionClass.LDS_DMA
        free = 0
        for row in self._walk(self.top, 1):
            one = registers(self.text(row))
            if (one.reads | one.writes) & awaited or (copies and self.text(row).startswith("ds_")):
                break
            free += 1
        return free

    def _walk(self, row: int, step: int) -> Iterator[int]:
        """Instructions before or after one, up to the next label, branch, barrier or wait."""
        code = self.inputs.trace.code
        for at in range(row + step, row + step * (REACH + 1), step):
            if not 0 <= at < len(code) or code.is_label[at] or self.text(at).startswith(_ENDS):
                return
            yield at

    @cached_property
    def awaited(self) -> tuple[int, ...]:
        """Code rows of the operations that the top wait requires."""
        uses = self.inputs.uses
        return tuple(sorted({*uses.line[uses.wait == self.top].tolist(), *self.producers}))

    @property
    def is_in_order(self) -> bool:
        """Whether results come back in the order of issue, so that a count above 0 proves something.

        Scalar loads and messages overtake each other on every generation; so does what they are counted
        together with (lgkmcnt), and FLAT instructions, which may go to LDS or memory.
        """
        texts = [self.text(row) for row in self.awaited]
        return not any(is_scalar(text) or text.startswith(("flat_", "s_sendmsg", "s_mem")) for text in texts)

    @property
    def is_back_to_back(self) -> bool:
        """Whether the instruction in front is a vector memory or LDS instruction too."""
        classes = self.inputs.classes
        memory = (
            InstructionClass.VMEM_LOAD,
            InstructionClass.VMEM_STORE,
            InstructionClass.LDS_DMA,
            InstructionClass.LDS,
        )
        return self.top > 0 and classes[self.top - 1] in memory

    # -- widths ---------------------------------------------------------------------------------------------

    @cached_property
    def accesses(self) -> np.ndarray:
        """Code rows of the finding's own memory instructions: those to blame, else those that stalled."""
        width = self.inputs.widths.width
        rows = [row for row in self.producers if width[row] > 0] or [
            row for row in self.claimed.line.tolist() if width[row] > 0
        ]
        return np.array(rows, dtype=np.int64)

    @cached_property
    def width(self) -> int:
        """Bytes a lane that most of these executions move, 0 if there are none."""
        found = self.inputs.widths.by_width(self.accesses)
        return found[0][0] if found else 0

    @property
    def is_narrow(self) -> bool:
        """Whether most accesses move less than the widest ones can."""
        return 0 < self.width < WIDEST

    @property
    def is_through_registers(self) -> bool:
        """Whether what was loaded is next written to LDS, on a target that can copy it there directly."""
        if not self.inputs.trace.target.startswith(_LDS_DMA) or self.producer < 0:
            return False
        loaded = registers(self.text(self.producer)).writes
        for row in range(self.producer + 1, min(len(self.inputs.trace.code), self.producer + FAR)):
            one = registers(self.text(row))
            if (one.reads | one.writes) & loaded:
                return self.text(row).startswith(("ds_write", "ds_store")) and bool(one.reads & loaded)
        return False

    # -- room for more --------------------------------------------------------------------------------------

    @cached_property
    def free_vectors(self) -> int:
        """Vector registers a lane that are free at the waves that were resident, 0 if that is not known."""
        limits = self.inputs.limits
        vector = next((one for one in limits.limits if one.name == "vector registers"), None)
        if vector is None:
            return 0
        resident = max(1, min(limits.resident.peak, limits.waves))
        room = min(vector.of // resident // 8 * 8, VECTOR_FILE)
        return max(0, room - vector.given)

    @cached_property
    def wanted_vectors(self) -> int:
        """Vector registers that a second set of results takes."""
        rows = {row for row in self.awaited if not self.text(row).endswith(" lds")}
        bits = 0
        for row in rows:
            bits |= registers(self.text(row)).writes
        return bits.bit_count()

    @property
    def has_free_vectors(self) -> bool:
        """Whether a second set of results fits without losing a wave."""
        return 0 < self.wanted_vectors <= self.free_vectors

    @cached_property
    def has_free_lds(self) -> bool:
        """Whether a workgroup's LDS fits twice beside the workgroups that were resident."""
        limits = self.inputs.limits
        named = {one.name: one for one in limits.limits}
        lds, group = named.get("LDS"), named.get("workgroup")
        if lds is None or not lds.given:
            return False
        waves = group.used if group is not None else 1
        groups = max(1, limits.resident.peak * limits.device.simds // max(1, waves))
        return 2 * lds.given * groups <= lds.of

    @property
    def has_room_for_waves(self) -> bool:
        """Whether more waves fit on a SIMD than were there, and the grid has workgroups for them."""
        limits, shape = self.inputs.limits, self.inputs.shape
        return shape.used == shape.simds and 0 < limits.resident.peak < limits.waves

    # -- scalar memory --------------------------------------------------------------------------------------

    @cached_property
    def _base(self) -> int:
        """The base register of the scalar load to blame, as a set."""
        own = registers(self.text(self.producer))
        return own.reads

    @cached_property
    def _base_writer(self) -> int:
        """The last instruction in front that writes that base, -1 if it is as the launch left it."""
        for row in range(self.producer - 1, -1, -1):
            if registers(self.text(row)).writes & self._base:
                return row
        return -1

    @property
    def is_argument(self) -> bool:
        """Whether it reads kernel arguments, on a target that can have them in registers at the start."""
        return (
            is_scalar(self.text(self.producer))
            and self._base_writer < 0
            and self.inputs.trace.target.startswith(_PRELOAD)
        )

    @property
    def is_pointer_chase(self) -> bool:
        """Whether the address it loads from was itself just loaded."""
        return is_scalar(self.text(self.producer)) and is_scalar(self.text(self._base_writer))

    @cached_property
    def same_base(self) -> int:
        """How many scalar loads of the program read through the same base."""
        code, own = self.inputs.trace.code, self._base
        if not is_scalar(self.text(self.producer)):
            return 0
        return sum(
            registers(text).reads == own and bool(code.hits[row])
            for row, text in enumerate(code.text)
            if is_scalar(text)
        )

    # -- the rest -------------------------------------------------------------------------------------------

    @property
    def is_through_lds(self) -> bool:
        """Whether lanes are exchanged by ds_permute, ds_bpermute or ds_swizzle rather than by DPP."""
        lines = (*self.producers, *self.claimed.line.tolist())
        return any(self.text(row).startswith(_PERMUTES) for row in lines)

    @property
    def is_loop_too_large(self) -> bool:
        """Whether the dominant loop has more bytes of code than an instruction cache."""
        loops, code = self.inputs.loops, self.inputs.trace.code
        table = loops.found.table
        if not len(loops.phases) or table.dominant < 0:
            return False
        first, last = int(table.head[table.dominant]), int(table.branch[table.dominant])
        return int(code.address[last]) - int(code.address[first]) > FETCH_BYTES

    @property
    def is_behind_branch(self) -> bool:
        """Whether the instruction to blame is a branch."""
        return self.text(self.producer).startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call"))

    @property
    def is_counted_together(self) -> bool:
        """Whether stores and loads of memory share a counter, as on gfx9."""
        return self.inputs.trace.gfxip <= 9

    @property
    def is_before_end(self) -> bool:
        """Whether nothing but the end of the program follows the wait."""
        code = self.inputs.trace.code
        return 0 <= self.top < len(code) - 1 and self.text(self.top + 1).startswith("s_endpgm")

    @property
    def is_unread(self) -> bool:
        """Whether no instruction reads what the operation to blame returns."""
        wanted = registers(self.text(self.producer)).writes
        return bool(wanted) and not any(
            registers(text).reads & wanted for text in self.inputs.trace.code.text
        )

    @property
    def language(self) -> Language:
        """What the kernel is written in."""
        return self.inputs.language

    # -- numbers in texts -----------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> str:
        """A word of a remedy's text, such as `{room}`."""
        words = {
            "producer": lambda: f"instruction {self.producer}",
            "wait": lambda: f"instruction {self.top}",
            "room_before": lambda: f"{self.room_before}",
            "room_behind": lambda: f"{self.room_behind}",
            "wanted": lambda: f"{self.wanted_vectors}",
            "free": lambda: f"{self.free_vectors}",
            "width": lambda: f"{self.width} {'byte' if self.width == 1 else 'bytes'}",
            "same_base": lambda: f"{self.same_base}",
            "fits": lambda: f"{self.inputs.limits.waves}",
            "resident": lambda: f"{self.inputs.limits.resident.mean:.1f}",
            "prefetch": lambda: self.language.prefetch,
            "registers": lambda: self.language.registers,
            "step": lambda: self.inputs.limits.next_step,
        }
        return words[name]()
