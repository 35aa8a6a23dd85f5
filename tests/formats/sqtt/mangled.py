"""Damaged raw streams: `python -m tests.formats.sqtt.mangled --family rdna --count 200000 [--checked]`.

`--checked` compiles with indexes checked, so that a read or a write outside is an IndexError.
"""

import argparse
import hashlib
import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numpy as np

from rcv_py.base.errors import TraceError
from tests.formats.sqtt import encode_gfx9 as raw
from tests.fuzz.mutate import damaged_bytes

SLOWEST = 2.0  # CPU seconds of an input
BYTES = 400  # that what was decoded may hold for each byte of a stream
KINDS = (0, 1, 2, 5, 6, 7, 12, 13, 15, 17, 19, 21, 28, 29)
TOKENS: tuple[Callable[[random.Random], raw.Token], ...] = (
    lambda rng: raw.start(
        rng.choice((1, 1, 2)), rng.randrange(2), rng.randrange(3), count=rng.choice((1, 66))
    ),
    lambda rng: raw.end(rng.choice((1, 1, 2)), rng.randrange(2), rng.randrange(3)),
    lambda rng: raw.place(rng.randrange(2), rng.randrange(3), rng.randrange(1 << 40)),
    lambda rng: raw.misc(rng.randrange(8)),
    lambda rng: raw.stamp(rng.randrange(1 << rng.choice((12, 20, 48)))),
    lambda rng: raw.compute(rng.choice((0, 0xC, 0xD, 0x12, 0x7F)), rng.randrange(16)),
    lambda rng: raw.register(
        rng.choice((0xC342, 0xC343)), rng.choice((0x434F5200, 4, 5, 7, rng.randrange(1 << 14)))
    ),
    lambda rng: raw.counters(rng.randrange(16), rng.randrange(4), [rng.randrange(1 << 13) for _ in range(4)]),
    lambda rng: raw.shader_data(1, 2, 3, rng.randrange(1 << 32)),
)


@cache
def streams() -> tuple[bytes, ...]:
    """Streams with every type of token that says something."""
    made = []
    for seed in range(6):
        rng, tape = random.Random(seed), raw.Tape(cu=1)
        for number in range(250):
            simd, slot = rng.randrange(2), rng.randrange(3)
            tape.issue(16 * number, simd, slot, rng.choice((1, 2, 2, 2, 3)))
            tape.put(16 * number, raw.kind(simd, slot, rng.choice(KINDS)), raw.AFTER)
            if rng.random() < 0.3:
                tape.put(16 * number + 4 * rng.randrange(4), rng.choice(TOKENS)(rng))
        made.append(tape.stream())
    return tuple(made)


def damaged(rng: random.Random) -> bytes:
    """A stream, or pieces of several, with something wrong; most often its header stays."""
    data = rng.choice(streams())
    if rng.random() < 0.2:
        data = data[: rng.randrange(8, len(data))] + rng.choice(streams())[rng.randrange(8, 400) :]
    body = damaged_bytes(rng, data[8:])
    if rng.random() < 0.1:
        body = rng.randbytes(rng.randrange(4000))
    return data[:8] + body if rng.random() < 0.98 else damaged_bytes(rng, data)


def damaged_rdna(rng: random.Random) -> bytes:
    """A stream of gfx10 to gfx1250, or pieces of two, with something wrong."""
    from tests.formats.sqtt.rdna_streams import streams as rdna_streams

    sources = list(rdna_streams().values())
    data = rng.choice(sources)
    if rng.random() < 0.2:
        data = data[: rng.randrange(8, len(data))] + rng.choice(sources)[rng.randrange(8, 400) :]
    body = damaged_bytes(rng, data[8:])
    if rng.random() < 0.1:
        body = rng.randbytes(rng.randrange(4000))
    return data[:8] + body if rng.random() < 0.98 else damaged_bytes(rng, data)


def lasting() -> bytes:
    """A stream of gfx12 with a wave that lives for more cycles than 32 bits hold."""
    from tests.formats.sqtt.rdna_encoder import Encoder

    encoder, place = Encoder(12), (0, 0, 0)
    encoder.wave_start(1, 0, place)
    encoder.add(1 << 33, "valu")
    encoder.wave_end(1 << 34, 0, place)
    return encoder.stream()


FAMILIES = {"gfx9": damaged, "rdna": damaged_rdna}


def look(data: bytes) -> None:
    """Decode a stream of any family, and see that its columns fit together."""
    from rcv_py.formats.sqtt.decode import decode
    from tests.formats.sqtt.whole_stream import check

    with suppress(TraceError):
        check(decode(data), len(data))


def read(data: bytes) -> str:
    """Decode a stream, see that its columns fit together, and return a digest of all."""
    from rcv_py.formats.sqtt.decode import decode

    try:
        stream = decode(data)
    except TraceError as error:
        return type(error).__name__
    waves = stream.waves
    columns = [getattr(waves, name) for name in waves.__slots__]
    columns += [getattr(stream.occupancy, name) for name in stream.occupancy.__slots__]
    columns += [stream.realtime, stream.events, stream.counters, stream.shader_data]
    assert sum(column.nbytes for column in columns) <= BYTES * len(data) + 4096
    for first, rows in (
        (waves.token_first, waves.time),
        (waves.state_first, waves.state),
        (waves.break_first, waves.break_token),
    ):
        assert first[0] == 0
        assert first[-1] == len(rows)
        assert (np.diff(first) >= 0).all()
        assert len(first) == len(waves) + 1
    assert (waves.kind <= 12).all()
    assert (waves.duration >= waves.stall).all()
    assert (waves.stall >= 0).all()
    assert (waves.state_duration >= 0).all()
    digest = hashlib.sha256(repr((stream.tokens, stream.is_truncated, list(stream.dispatches))).encode())
    for column in columns:
        digest.update(
            np.ascontiguousarray(
                column, dtype=np.float64 if column.dtype == bool else column.dtype.str.replace("i4", "i8")
            ).tobytes()
        )
    return digest.hexdigest()[:12]


def digests(seed: int, count: int) -> str:
    """What is read of damaged streams."""
    return " ".join(read(damaged(random.Random(f"{seed}:{number}"))) for number in range(count))


def main() -> int:
    """Read damaged streams; return 1 if one took too long; whatever else is wrong raises."""
    parser = argparse.ArgumentParser("python -m tests.formats.sqtt.mangled", description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=FAMILIES, default="gfx9")
    parser.add_argument("--checked", action="store_true", help="with indexes checked")
    given = parser.parse_args()
    if given.checked and "NUMBA_BOUNDSCHECK" not in os.environ:
        checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": os.path.join("build", "checked")}  # noqa: PTH118
        os.execve(
            sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]], {**os.environ, **checked}
        )
    far = raw.Tape()
    for at, clock in enumerate((1, 1 << 40)):
        far.put(8 * at, raw.misc(1))
        far.put(8 * at, raw.stamp(1000 + clock))
    make = FAMILIES[given.family]
    take: Callable[[bytes], object] = read if given.family == "gfx9" else look
    for data in (streams()[0], far.stream()) if take is read else (make(random.Random(0)), lasting()):
        take(data)  # compiles, for cycles of 32 bits and of 64
    slow, begin = 0, time.process_time()
    for number in range(given.count):
        before = time.process_time()
        data = make(random.Random(f"{given.seed}:{number}"))
        try:
            take(data)
        except Exception:
            print(f"--seed {given.seed}, number {number}")
            raise
        if time.process_time() - before > SLOWEST:
            slow += 1
            print(f"--seed {given.seed}, number {number}: {time.process_time() - before:.1f} s")
    print(f"{given.count:,} streams, {time.process_time() - begin:,.0f} s, {slow} too slow")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
