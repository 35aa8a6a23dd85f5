"""Waves to raw streams of gfx10, gfx11 and gfx12, and what a stream can tell of them.

Written from the description of the formats alone: it shares no table with the decoder.  A stream cannot
express everything that a simulated wave has, and `expressible` says what is left of it:

- an instruction is busy for as long as its number says, whatever it took: VALU 1, 2, 4 (gfx12 also 8, 16, 32
  and 64), vector memory 1 to 12, LDS 1 to 6, SALU, scalar memory, branches and messages 1;
- a wait (s_waitcnt, s_nop, …) has one token, in its last cycle; it began at the end of the instruction before
  or in that cycle, and its last cycle is not a stall;
- s_barrier of gfx11 is a message that lasts until the next token of its wave;
- s_endpgm has no token: it lasts from the end of the instruction before until the wave ends;
- states follow from tokens; idle is a wave only before its first one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

SMEM, SALU, VMEM, FLAT, LDS, VALU, JUMP, NEXT, IMMED, CONTEXT, MESSAGE, BVH = range(1, 13)
IDLE, EXEC, WAIT, STALL = 1, 2, 3, 4

# name: prefix (lowest bits), bits, first bit and width of the delta
FORMS = {
    "inst": (0b010, 20, 4, 3),
    "valu": (0b011, 12, 3, 3),
    "wait": (0b1101, 12, 4, 3),
    "waits": (0b00100, 24, 5, 3),
    "ready": (0b10100, 24, 5, 3),
    "new_pc": (0b0100001, 64, 8, 3),
    "start": (0b01100, 32, 5, 2),
    "start_ext": (0b11100, 48, 5, 2),
    "end": (0b10101, 20, 5, 3),
    "data": (0b00110, 52, 5, 3),
    "short_data": (0b10110, 28, 5, 3),
    "time": (0b1000, 8, 4, 4),
    "nop": (0b0000, 4, 0, 0),
    "misc": (0b1010001, 24, 7, 9),
    "event": (0b01100001, 24, 8, 3),
    "reg": (0b1001, 64, 4, 3),
    "reg_init": (0b1110001, 64, 7, 3),
    "stamp": (0b0000001, 48, 0, 0),
    "header": (0b0010001, 64, 0, 0),
    "alu_done": (0b1110, 8, 4, 2),
    "memory_done": (0b1111, 8, 4, 2),
    "util": (0b0110001, 48, 7, 2),
}
FORMS_12 = FORMS | {
    "inst": (0b010, 20, 3, 3),
    "new_pc": (0b0100001, 72, 8, 3),
    "start_ext": (0b11100, 40, 5, 2),
    "data": (0b0000110, 56, 7, 3),
    "short_data": (0b1000110, 32, 7, 3),
    "stamp": (0b0000001, 64, 0, 0),
    "popcount": (0b1100110, 24, 7, 3),
}
FORMS_10 = FORMS | {"stamp": (0b0000001, 64, 0, 0), "util": (0b0110001, 64, 7, 2)}
ALL_FORMS = {10: FORMS_10, 11: FORMS, 12: FORMS_12}
VERSIONS = {10: 2, 11: 3, 12: 4}
# (kind, cycles) → number of the instruction
NUMBERS = {
    (SALU, 1): 0,
    (SMEM, 1): 1,
    (JUMP, 1): 3,
    (NEXT, 1): 4,
    (MESSAGE, 1): 9,
    (VALU, 2): 13,
    (VALU, 4): 14,
    **{(FLAT, cycles): 26 + cycles for cycles in range(2, 7)},
    **{(LDS, cycles): 41 + cycles for cycles in range(1, 6)},
    **{(VMEM, cycles): 54 + cycles for cycles in range(1, 13)},
    (BVH, 8): 103,
}
NUMBERS_11 = NUMBERS | {(LDS, 6): 118}
NUMBERS_12 = NUMBERS | {(VALU, 8): 140, (VALU, 16): 141, (VALU, 32): 142, (VALU, 64): 143, (BVH, 10): 121}
CALL, BARRIER = 5, 19


@dataclass
class Step:
    """A token of a wave, in the cycle in which it is issued."""

    time: int
    kind: int  # IMMED: a wait
    cycles: int = 1
    stall: int = 0  # cycles before, in which it was ready
    is_barrier: bool = False
    goes_to: int = -1  # address after a call

    @property
    def ready(self) -> int:
        """When it could have been issued, -1 if it did not stall."""
        return self.time - self.stall if self.stall and self.kind != IMMED else -1


@dataclass
class Wave:
    """A wave on the traced SIMD."""

    slot: int
    begin: int
    end: int
    steps: list[Step]
    workgroup: int = -1

    def rows(self, generation: int) -> list[tuple[int, int, int, int]]:
        """What is to be told of its tokens: time, kind, stall, duration."""
        made: list[tuple[int, int, int, int]] = []
        for step, after in zip(self.steps, [*self.steps[1:], None], strict=False):
            time, kind, stall = step.time - step.stall, step.kind, step.stall
            duration = stall + step.cycles
            if kind == IMMED:
                ended = made[-1][0] + made[-1][3] if made else step.time
                time = min(step.time, ended)
                stall = step.time - time
                duration = stall + 1
                if step.is_barrier and generation == 11 and after:
                    kind = MESSAGE
                    duration = max(0, (after.ready - 1 if after.ready >= 0 else after.time) - time)
            made.append((time, kind, stall, duration))
        ended = made[-1][0] + made[-1][3] if made else self.end
        return [*made, (ended, MESSAGE, 0, self.end - ended)] if ended < self.end else made

    def timeline(self, generation: int) -> list[tuple[int, int]]:
        """What is to be told of its states: state and cycles."""
        spans: list[tuple[int, int]] = []
        state, since = IDLE, self.begin
        for time, new in [*self._turns(generation), (self.end, 0)]:
            if time > since:
                before = spans.pop()[1] if spans and spans[-1][0] == state else 0
                spans.append((state, before + time - since))
                since = time
            state = new
        return spans

    def _turns(self, generation: int) -> list[tuple[int, int]]:
        """From when it is in which state; what comes too late is too late."""
        turns: list[tuple[int, int]] = []
        is_open = False
        for step, (time, *_) in zip(self.steps, self.rows(generation), strict=False):
            if is_open:
                turns += [((step.ready - 1 if step.ready >= 0 else step.time) + 1, EXEC)]
            if step.ready >= 0:
                turns += [(step.ready, STALL)]
            turns += [(time, WAIT), (step.time + 1, EXEC)] if step.kind == IMMED else [(step.time, EXEC)]
            is_open = step.is_barrier and generation == 11
            if is_open and step is not self.steps[-1]:
                turns += [(step.time + 1, WAIT)]
        return turns


def expressible(tokens: np.ndarray, texts: Sequence[str], generation: int) -> list[Step]:
    """Return what a stream can tell of the tokens of a simulated wave (time, kind, stall, duration, …)."""
    numbers = NUMBERS_11 if generation == 11 else NUMBERS_12
    known = {kind: sorted(cycles for one, cycles in numbers if one == kind) for kind, _ in numbers}
    known[VALU] = [1, *known[VALU]]
    steps = []
    for (time, kind, stall, duration), text in zip(tokens[:, :4].tolist(), texts, strict=True):
        if text.startswith("s_endpgm"):
            break
        if kind == IMMED:
            is_barrier = text.startswith(("s_barrier_wait", "s_barrier\n")) or text == "s_barrier"
            steps.append(Step(time + max(stall, 1) - 1, IMMED, 1, is_barrier=is_barrier))
        else:
            cycles = max([one for one in known[kind] if one <= duration - stall], default=known[kind][0])
            steps.append(Step(time + stall, kind, cycles, stall))
    return steps


@dataclass
class Item:
    """A token to be written."""

    time: int
    name: str
    value: int = 0  # bits besides prefix and delta
    rank: int = 0  # order within its cycle


@dataclass
class Encoder:
    """Collects tokens and writes them in the order of their times."""

    generation: int  # 10, 11 or 12
    simd: int = 0
    wgp: int = 0
    shader_array: int = 0
    items: list[Item] = field(default_factory=list)

    @property
    def is_12(self) -> bool:
        return self.generation == 12

    def add(self, time: int, name: str, value: int = 0, rank: int = 0) -> None:
        """A token in a cycle."""
        self.items.append(Item(time, name, value, rank))

    def register(
        self, time: int, address: int, data: int, *, me: int = 1, pipe: int = 0, space: int = 1
    ) -> None:
        """A write to a register, of the compute space unless it is told otherwise."""
        self.add(time, "reg", pipe << 7 | me << 9 | space << 15 | address << 16 | data << 32, -2)

    def program(self, time: int, entry: int, me: int = 1, pipe: int = 0) -> None:
        """The address at which waves begin from now on."""
        self.register(time, 0xC, entry >> 8 & 0xFFFFFFFF, me=me, pipe=pipe)
        self.register(time, 0xD, entry >> 40, me=me, pipe=pipe)

    def dispatch(self, time: int, me: int = 1, pipe: int = 0) -> None:
        """A launch."""
        self.add(time, "reg_init", pipe << 14 | me << 16 | 2 << 18 | 1 << 20, -1)

    def wave_start(
        self,
        time: int,
        slot: int,
        place: tuple[int, int, int],
        *,
        count: int = 1,
        me: int = 1,
        workgroup: int = -1,
    ) -> None:
        """A wave begins at shader array, SIMD, WGP."""
        array, simd, wgp = place
        value = array << 7 | simd << 8 | wgp << 10 | count << 25
        value |= slot << 15 | me << 22 if self.is_12 else slot << 13 | me << 23
        if workgroup >= 0:
            self.add(time, "start_ext", value | workgroup << 33)
        else:
            self.add(time, "start", value)

    def wave_end(self, time: int, slot: int, place: tuple[int, int, int]) -> None:
        """A wave ends at shader array, SIMD, WGP."""
        array, simd, wgp = place
        self.add(time, "end", array << 8 | simd << 9 | wgp << 11 | slot << 15, 3)

    def instruction(self, time: int, slot: int, number: int) -> None:
        """An instruction by its number."""
        self.add(time, "inst", slot << 7 | number << 12 if self.is_12 else slot << 8 | number << 13)

    def new_pc(self, time: int, slot: int, address: int) -> None:
        """Where a wave goes on."""
        self.add(time, "new_pc", slot << 11 | (address >> 2) << 16, 1)

    def clock(self, time: int, ticks: int) -> None:
        """The constant clock."""
        value = {10: 2 << 14 | ticks << 16, 11: 1 << 9 | ticks << 12, 12: 1 << 7 | ticks << 12}
        self.add(time, "stamp", value[self.generation], -3)

    def loss(self, time: int) -> None:
        """The hardware could not write all."""
        if self.generation == 10:
            self.add(time, "misc", 1 << 16, -3)
        else:
            self.add(time, "stamp", 1 << 8, -3)

    def waves(self, waves: Iterable[Wave]) -> None:
        """Waves on the traced SIMD; those that wait or get ready in the same cycle share a token."""
        place = (self.shader_array, self.simd, self.wgp)
        waits: dict[int, list[int]] = {}
        ready: dict[int, int] = {}
        for wave in waves:
            self.wave_start(wave.begin, wave.slot, place, workgroup=wave.workgroup)
            self.wave_end(wave.end, wave.slot, place)
            for step in wave.steps:
                if step.ready >= 0:
                    ready[step.ready] = ready.get(step.ready, 0) | 1 << wave.slot
                if step.kind == IMMED and not step.is_barrier:
                    waits.setdefault(step.time, []).append(wave.slot)
                else:
                    self._instruction(step, wave.slot)
        for time, slots in waits.items():
            if len(slots) == 1:
                self.add(time, "wait", slots[0] << 7)
            else:
                self.add(time, "waits", sum(1 << slot for slot in slots) << 8)
        for time, mask in ready.items():
            # gfx11 tells it a cycle late, and behind what happened in that cycle
            self.add(time if self.is_12 else time + 1, "ready", mask << 8, -1 if self.is_12 else 2)

    def _instruction(self, step: Step, slot: int) -> None:
        if step.goes_to >= 0:
            self.instruction(step.time, slot, CALL)
            self.new_pc(step.time + 2, slot, step.goes_to)
        elif step.is_barrier:
            self.instruction(step.time, slot, BARRIER)
        elif (step.kind, step.cycles) == (VALU, 1):
            self.add(step.time, "valu", slot << 7)
        else:
            numbers = NUMBERS_12 if self.is_12 else NUMBERS_11
            self.instruction(step.time, slot, numbers[step.kind, step.cycles])

    def stream(self, header: int = 0) -> bytes:
        """Return the bytes; `header` are further bits of the first token."""
        forms = ALL_FORMS[self.generation]
        value = (
            0b0010001
            | VERSIONS[self.generation] << 7
            | self.simd << 13
            | self.wgp << 15
            | self.shader_array << 19
            | header
        )
        digits = [f"{value:016x}"[::-1]]
        now = 0

        def put(name: str, bits: int, delta: int = 0) -> None:
            prefix, length, first, _ = forms[name]
            digits.append(f"{prefix | delta << first | bits:0{length // 4}x}"[::-1])

        for number, item in enumerate(sorted(self.items, key=lambda one: (one.time, one.rank))):
            most = (1 << forms[item.name][3]) - 1
            gap = item.time - now
            if gap > 60 or (gap and not most):
                put("stamp", 1 << 14 | gap << 16 if self.generation == 10 else gap << 12)
                gap = 0
            while gap > most:
                step = max(4, min(19, gap))
                put("time", 0, step - 4)
                gap -= step
            put(item.name, item.value, gap)
            now = item.time
            if (
                number % 7 == 0 or item.name == "start_ext"
            ):  # behind that one, a lowest bit of 1 would extend it
                put("nop", 0)
        text = "".join(digits)
        text += "0" * (-len(text) % 64)  # the hardware writes 32 bytes at once
        return bytes.fromhex("".join(text[at + 1] + text[at] for at in range(0, len(text), 2)))
