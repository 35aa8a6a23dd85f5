"""Bytes of `.att` files to columns, one core, after the kernels are compiled."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.child import given_away
from bench.table import Options, Row, measure
from rcv_py.formats.sqtt.decode import decode_streamed
from tests.formats.sqtt.rdna_encoder import IMMED, JUMP, LDS, NEXT, SALU, VALU, VMEM, Encoder, Step, Wave
from tests.formats.sqtt.test_rdna_round_trip import simulated, waves_of

BYTES = 24_000_000
HEADER = 8  # of which a stream needs one
LIMIT = 0.8  # s for ten million tokens of RDNA
RUNS = 3
SLOTS, WAVES, ROUNDS = 16, 2, 40  # of a repeated stream; rounds of its loop, in each wave
LOOP = (  # category, cycles that it is busy, stall before it, cycles until the next
    (SALU, 1, 0, 1),
    (VALU, 1, 0, 1),
    (VMEM, 1, 6, 2),
    (VALU, 1, 0, 1),
    (LDS, 1, 3, 2),
    (IMMED, 1, 17, 1),
    (VALU, 1, 0, 1),
    (VALU, 1, 4, 1),
    (JUMP, 1, 0, 6),
)
DONE = {  # category → what a unit tells when it is done, and cycles later
    SALU: ("alu_done", 4),
    VALU: ("alu_done", 6),
    VMEM: ("memory_done", 90),
    LDS: ("memory_done", 30),
}
PROGRAMS = {  # generation: number of the GPU in ELF files, and LOOP
    11: (
        0x41,
        (
            *(0xBE800080, 0x7E000300, 0xDC520000, 0x007C0000, 0x7E000300, 0xD8D80000, 0x00000000, 0xBF890000),
            *(0x7E000300, 0x7E000300, 0xBFA20000 | 0x10000 - 11, 0xBFB00000),
        ),
    ),
    12: (
        0x48,
        (
            *(0xBE800080, 0x7E000300, 0xEE05007C, 0x00000000, 0x00000000, 0x7E000300, 0xD8D80000, 0x00000000),
            *(0xBFC00000, 0x7E000300, 0x7E000300, 0xBFA20000 | 0x10000 - 12, 0xBFB00000),
        ),
    ),
}


def repeated(name: str) -> bytes:
    """A stream of simulated waves, again and again, as long as BYTES."""
    capture = simulated(name, 0)[0]
    encoder = Encoder(capture.generation)
    encoder.waves(waves_of(capture))
    data = encoder.stream()
    return data + data[HEADER:] * (BYTES // len(data))


def looped(generation: int, entry: int, size: int) -> bytes:
    """A stream of waves that run LOOP at an address, again and again, of about so many bytes."""
    encoder = Encoder(generation)
    encoder.program(10, entry)
    waves = [looping(slot, number) for slot in range(SLOTS) for number in range(WAVES)]
    encoder.waves(waves)
    for step in (step for wave in waves for step in wave.steps):
        if step.kind in DONE:
            name, cycles = DONE[step.kind]
            encoder.add(step.time + cycles, name)
    data = encoder.stream()
    return data + data[HEADER:] * (size // len(data))


def looping(slot: int, number: int) -> Wave:
    """A wave that runs LOOP, and is the one of that number in its slot."""
    begin = 100 + 5 * slot + 4000 * number
    now, steps = begin + 10, []
    for kind, busy, stall, step in LOOP * ROUNDS:
        now += stall
        steps.append(Step(now, kind, busy, stall))
        now += step
    steps[-1].kind = NEXT
    return Wave(slot, begin, now + 5, steps)


def short_waves(generation: int) -> bytes:
    """A stream of waves of ten instructions, and of as many beside the traced unit, as long as BYTES."""
    encoder = Encoder(generation)
    encoder.program(10, 0x1000)
    for number in range(2000):
        begin, slot = 100 + 20 * number, number % 16
        for place in ((0, 0, 0), (0, 1, 1)):
            encoder.wave_start(begin, slot, place)
            encoder.wave_end(begin + 15, slot, place)
        for step in range(10):
            encoder.add(begin + 2 + step, "valu", slot << 7)
    data = encoder.stream()
    return data + data[HEADER:] * (BYTES // len(data))


@measure("raw-rdna")
def raw_decode(_: Options) -> Iterator[Row]:
    """Processor seconds of ten million tokens, with everything that becomes of them."""
    streams = {name: repeated(name) for name in ("gfx11", "gfx12")}
    for name, data in (streams | {"gfx11, short waves": short_waves(11)}).items():
        decode_streamed(data[: len(data) // 50], given_away)
        spent = []
        for _run in range(RUNS):
            began = time.process_time()
            tokens = decode_streamed(data, given_away).tokens
            spent.append((time.process_time() - began) / tokens * 1e7)
        yield Row(f"raw, {name}, 10 M tokens", min(spent), LIMIT, "s")
