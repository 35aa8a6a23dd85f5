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


@measure("raw-rdna")
def raw_decode(_: Options) -> Iterator[Row]:
    """Processor seconds of ten million tokens, with everything that becomes of them."""
    for name in ("gfx11", "gfx12"):
        data = repeated(name)
        decode(data[: len(data) // 50])
        spent = []
        for _run in range(RUNS):
            began = time.process_time()
            tokens = decode(data).tokens
            spent.append((time.process_time() - began) / tokens * 1e7)
        yield Row(f"raw, {name}, 10 M tokens", min(spent), LIMIT, "s")
