"""Two builds of a kernel: what each takes, and which instructions differ, without any GPU.

A side may be a capture: then its instructions also have recorded costs, and B says which of them changed.
"""

import numpy as np

from rcv_py.analysis.compare.align import Alignment, Fate, align
from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.analysis.program.instruction_classes import CLASS_COUNT, InstructionClass, instruction_classes
from rcv_py.analysis.program.live_registers import RegisterFile, live_registers
from rcv_py.analysis.program.scratch import scratch_accesses
from rcv_py.analysis.whatif.block_schedule import block_lengths
from rcv_py.base.errors import TraceError
from rcv_py.base.record import Value
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

UNKNOWN = -1


class ProgramFacts(Value):
    """What the main kernel of a trace takes; -1 where neither text nor descriptor says it."""

    instructions: int
    vgprs: int  # allocated to a lane
    sgprs: int  # allocated to a wave
    held: int  # vector registers that must be held at a time, at most
    lds: int  # bytes of a workgroup that the program declares
    scratch: int  # bytes of a lane
    spills: int  # instructions that load or store scratch memory
    spilled_vgprs: int  # by the note of the code object
    spilled_sgprs: int
    waves: int  # that a SIMD has room for
    classes: np.ndarray  # int64 [InstructionClass], instructions of each


class ProgramChange(Value):
    """Two builds of a kernel, A and B."""

    a: Trace
    b: Trace
    facts: tuple[ProgramFacts, ProgramFacts]
    align: Alignment

    @property
    def code(self) -> tuple[CodeTable, CodeTable]:
        """Their programs, whose rows are aligned."""
        return self.a.code, self.b.code

    @property
    def worse(self) -> tuple[str, ...]:
        """What B has more of: `registers` and `spills`; and `waves`, if fewer of them fit."""
        a, b = self.facts
        spills = ("scratch", "spills", "spilled_vgprs", "spilled_sgprs")
        found = {
            "registers": ((a.vgprs, b.vgprs), (a.sgprs, b.sgprs)),
            "spills": tuple((getattr(a, name), getattr(b, name)) for name in spills),
            "waves": ((b.waves, a.waves),),
        }
        return tuple(name for name, pairs in found.items() if any(0 <= few < many for few, many in pairs))

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which of these cannot be compared, as a side does not say it."""
        a, b = self.facts
        pairs = {"registers": (a.vgprs, b.vgprs), "spills": (a.spills, b.spills), "waves": (a.waves, b.waves)}
        return tuple(name for name, pair in pairs.items() if min(pair) < 0)

    def count(self, fate: Fate) -> int:
        """Return how many instructions have a fate; inserted ones are counted in B."""
        is_b = fate is Fate.INSERTED
        side = self.align.fate_b if is_b else self.align.fate_a
        return int(np.count_nonzero((side == fate) & ~self.code[is_b].is_label))


def program_facts(trace: Trace, facts: RunFacts | None) -> ProgramFacts:
    """Return the facts of a program; `facts` are from its descriptor or the tables of a run."""
    code = trace.code
    known = None if facts is None else facts.allocated
    names = ("vgprs", "sgprs", "lds", "scratch", "spilled_vgprs", "spilled_sgprs")
    allocated = {name: UNKNOWN if known is None else getattr(known, name) for name in names}
    is_read = not code.is_unreadable.any()
    classes = np.where(scratch_accesses(code), InstructionClass.SCRATCH, instruction_classes(code))
    classes = np.bincount(classes[~code.is_label], minlength=CLASS_COUNT)
    held = live_registers(code).pressure[:, RegisterFile.VGPR] if is_read else np.zeros(0, np.int64)
    return ProgramFacts(
        instructions=int(np.count_nonzero(~code.is_label)),
        held=int(held.max(initial=0)) if is_read else UNKNOWN,
        spills=int(classes[InstructionClass.SCRATCH]),
        waves=UNKNOWN if known is None else occupancy_limits(trace, facts).waves,
        classes=classes.astype(np.int64),
        **allocated,
    )


def program_change(a: Trace, b: Trace, facts: tuple[RunFacts | None, RunFacts | None]) -> ProgramChange:
    """Compare two builds of a kernel; raise TraceError if one has no instructions."""
    for trace in (a, b):
        if not len(trace.code):
            text = Message("{0} has no instructions, and builds are compared by them.", trace.name)
            raise TraceError(text, hint="Record the trace again with its code objects.")
    own = program_facts(a, facts[0]), program_facts(b, facts[1])
    return ProgramChange(a, b, own, align(a.code, b.code))


class BlockChange(Value):
    """One row per block of B, and per block of A that no block of B comes from; -1 and nan: none."""

    block_a: np.ndarray  # int64
    block_b: np.ndarray  # int64
    cycles_a: np.ndarray  # float64, modelled
    cycles_b: np.ndarray  # float64, modelled


def block_changes(found: ProgramChange, of_a: np.ndarray, of_b: np.ndarray) -> BlockChange:
    """Return which block of A each block of B comes from: the one with most of its instructions.

    `of_a` and `of_b` are the blocks of each row, int32.
    """
    count_a, count_b = int(of_a.max(initial=-1)) + 1, int(of_b.max(initial=-1)) + 1
    rows = np.flatnonzero((found.align.to_a >= 0) & ~found.code[1].is_label)
    votes = np.zeros((count_b, count_a), dtype=np.int64) if count_a * count_b < 1 << 24 else None
    partner = np.full(count_b, -1, dtype=np.int64)
    if votes is not None and count_a:
        np.add.at(votes, (of_b[rows], of_a[found.align.to_a[rows]]), 1)
        partner = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), -1)
    alone = np.setdiff1d(np.arange(count_a), partner)
    block_a, block_b = np.append(partner, alone), np.append(np.arange(count_b), np.full(len(alone), -1))
    cycles = [np.append(block_lengths(trace), np.nan) for trace in (found.a, found.b)]
    return BlockChange(block_a, block_b, cycles[0][block_a], cycles[1][block_b])
