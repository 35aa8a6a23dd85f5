"""State of a wave during simulation, and its record afterwards."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import force_setattr

from rcv_py.base.record import Value
from rcv_py.synth.capture import SimulatedCause
from rcv_py.synth.program import SyntheticInstruction, SyntheticKernel

# Columns of `Lane.rows`: the five of a file (with the instruction for the line), then the truth.
TIME, KIND, STALL, DURATION, INSTRUCTION, CAUSE, GAP_CAUSE, PRODUCER, RETURNED, BLAMED = range(10)
_NOT_HELD = (0, -1)
CACHE_LINE = 64  # bytes of instructions that are fetched at once


class SyntheticLaunch(Value):
    """A kernel's launch on one compute unit."""

    kernel: SyntheticKernel
    groups: int  # workgroups that the unit runs, as slots become free
    iterations: Mapping[str, Sequence[int]] = {}  # of loops by name, by workgroup
    waves_per_group: int = 4
    begin: int = 70_000  # raw cycle of the first wave
    index: int = 0  # number of the kernel in the capture
    first_group: int = 0
    group_step: int = 1
    resident: int = 0  # resident waves of this kernel a SIMD; 0: all slots of the hardware
    cache_lines: tuple[int, ...] = ()  # of each instruction; made by itself

    def __post_init__(self) -> None:
        lines = tuple(address // CACHE_LINE for address in self.kernel.addresses)
        force_setattr(self, "cache_lines", lines)


@dataclass(slots=True)
class SyntheticWorkgroup:
    """A workgroup: the waves that meet at barriers."""

    number: int
    waves: list[LiveWave] = field(default_factory=list)
    arrived: list[LiveWave] = field(default_factory=list)
    alive: int = 0
    left: LiveWave | None = None  # the wave that ended last
    opened: list[tuple[int, LiveWave]] = field(default_factory=list)  # split barriers: when, by which wave


@dataclass(slots=True)
class LiveWave:
    """A wave that runs a kernel."""

    launch: SyntheticLaunch
    group: SyntheticWorkgroup
    simd: int
    slot: int
    begin: int
    end: int = 0
    pc: int = 0
    attempt: int = 0  # time of the first attempt to issue the instruction at pc
    last_end: int = 0  # end of the previous token
    gap_cause: int = SimulatedCause.LAUNCH
    # The longest wait so far: cycles, cause, producer (token of this wave), instruction to blame, its wave
    blocked: tuple[int, int, int, int, LiveWave | None] = (0, int(SimulatedCause.NONE), -1, -1, None)
    held: dict[int, int] = field(default_factory=dict)  # cause: cycles in which it held the instruction
    untold: int = 0  # end of an unrecorded hold of the instruction, 0: none
    blamed_waves: list[LiveWave | None] = field(default_factory=list)  # of each token
    held_rows: list[dict[int, int]] = field(default_factory=list)  # of each token
    holder: dict[int, tuple[int, int]] = field(default_factory=dict)  # cause: (cycles, instruction to blame)
    holder_rows: list[dict[int, int]] = field(default_factory=list)  # of each token: cause, instruction
    rows: list[tuple[int, ...]] = field(default_factory=list)
    pending: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # counter: (returned, token)
    ready: dict[str, tuple[int, int]] = field(default_factory=dict)  # register: (cycle, token of the unit)
    all_ready: int = 0  # time at which everything in `ready` is available
    visits: dict[int, int] = field(default_factory=dict)  # branch: iterations so far
    iterations: dict[str, list[int]] = field(default_factory=dict)  # label: of each visit
    markers: list[tuple[int, int]] = field(default_factory=list)  # (cycle, value)
    words: list[int] = field(default_factory=list)  # values that follow the last header
    # Closed scopes and points: begin, end, depth, marker, 1 for a point
    scopes: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    open_scopes: list[tuple[int, int]] = field(default_factory=list)  # (begin, marker)
    number: int = 0  # in its workgroup
    signals: list[int] = field(default_factory=list)  # when it arrived at split barriers
    waits: int = 0  # split barriers it has passed
    priority: int = 0  # s_setprio

    @property
    def instruction(self) -> SyntheticInstruction:
        """The instruction it wants to issue next."""
        return self.launch.kernel.instructions[self.pc]

    def instruction_of(self, token: int) -> int:
        """The instruction of a token, -1 if none."""
        return self.rows[token][INSTRUCTION] if token >= 0 else -1

    def unit_of(self, token: int) -> str:
        """The unit that executed a token."""
        return self.launch.kernel.instructions[self.rows[token][INSTRUCTION]].meaning.unit

    def stall(
        self, cycles: int, cause: int, producer: int = -1, blamed: int = -1, by: LiveWave | None = None
    ) -> None:
        """Count cycles in which a cause alone would stall the current instruction.

        The longest reason is kept, and for each cause the instruction to blame for most cycles at once.
        """
        if cycles > self.blocked[0]:
            self.blocked = (cycles, cause, producer, blamed, by)
        self.held[cause] = self.held.get(cause, 0) + cycles
        if cycles > self.holder.get(cause, _NOT_HELD)[0]:
            self.holder[cause] = (cycles, blamed)

    def mark(self, cycle: int, value: int) -> None:
        """Write a marker into the trace, and open or close its scopes."""
        self.markers.append((cycle, value))
        if value & 1 and self.open_scopes:
            begin, marker = self.open_scopes.pop()
            self.scopes.append((begin, cycle, len(self.open_scopes), marker, 0))
        if value & 2:
            self.open_scopes.append((cycle, value >> 2))
        elif not value & 1:
            self.scopes.append((cycle, cycle, len(self.open_scopes), value >> 2, 1))

    def takes_branch(self, instruction: SyntheticInstruction, rng: random.Random) -> bool:
        """Decide a branch by its notes, and count loop iterations."""
        notes = instruction.notes
        if "chance" in notes:
            return rng.random() < float(notes["chance"])
        if "waves" in notes:
            first, last = map(int, notes["waves"].split("-"))
            return first <= self.number <= last
        name = notes.get("iterations") or notes.get("last")
        if name is None:
            return True
        choices = [int(name)] if name.isdigit() else self.launch.iterations[name]
        total = choices[self.group.number % len(choices)]
        done = self.visits.get(self.pc, 0) + 1
        self.visits[self.pc] = done if done < total else 0
        if "last" in notes:
            return done == total
        if done == total:
            labels = self.launch.kernel.labels
            label = next(name for name, first in labels.items() if first == instruction.target)
            self.iterations.setdefault(label, []).append(total)
        return done < total
