"""Bytes of `.att` files to columns, one core, after the kernels are compiled."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.table import Options, Row, measure
from rcv_py.formats.sqtt.decode import decode
from tests.formats.sqtt.rdna_encoder import Encoder
from tests.formats.sqtt.test_rdna_round_trip import simulated, waves_of

BYTES = 24_000_000
HEADER = 8  # of which a stream needs one
LIMIT = 1.0  # s for ten million tokens of RDNA
RUNS = 3


def repeated(name: str) -> bytes:
    """A stream of simulated waves, again and again, as long as BYTES."""
    capture = simulated(name, 0)[0]
    encoder = Encoder(capture.generation)
    encoder.waves(waves_of(capture))
    data = encoder.stream()
    return data + data[HEADER:] * (BYTES // len(data))


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
        decode(data[: len(data) // 50])
        spent = []
        for _run in range(RUNS):
            began = time.process_time()
            tokens = decode(data).tokens
            spent.append((time.process_time() - began) / tokens * 1e7)
        yield Row(f"raw, {name}, 10 M tokens", min(spent), LIMIT, "s")
