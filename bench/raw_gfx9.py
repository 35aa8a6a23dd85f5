"""Raw captures: bytes of a stream to columns, per token, and the first time in a process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable

import numpy as np

from bench.child import given_away, own_peak
from bench.raw_open import BUFFER
from bench.table import Options, Row, measure
from bench.tree import environment
from tests.formats.sqtt.encode_gfx9 import Tape, played

NANOSECONDS = 50.0  # a token of gfx9: 20 million a second
FIRST = 2.0  # seconds more than later, when machine code is not there yet
WHOLE = 3.0  # seconds for a full buffer
PEAK = 50.0  # MB
ROUNDS = 40  # of a loop, in each wave
LOOP = (  # category, stall, cycles that it takes, cycles until the next
    (2, 0, 4, 4),
    (6, 0, 4, 4),
    (3, 16, 4, 4),
    (6, 0, 4, 4),
    (5, 8, 8, 8),
    (9, 40, 0, 0),
    (6, 0, 4, 4),
    (6, 12, 4, 4),
    (7, 0, 4, 12),
)
END, NOT_TAKEN = 11, 8  # categories: what ends a wave, and the branch behind its last round


def repeated(tape: Tape, size: int) -> np.ndarray:
    """What stands on a tape, and two waves on each of eight slots again and again: so many bytes."""
    for slot in range(8):
        for wave in range(2):
            now = begin = 200_000 * wave + 40 * slot
            rows: list[list[int]] = []
            for category, stall, busy, step in LOOP * ROUNDS:
                now += 0 if rows else 100
                rows.append([now, category, stall, stall + busy])
                now += stall + step
            rows[-1][1] = NOT_TAKEN
            rows.append([now, END, 0, 4])
            played(tape, (slot % 4, slot // 4), (begin, now + 40), rows, ())
    made = np.frombuffer(tape.stream(), dtype=np.uint8)
    return np.concatenate([made[:8], np.tile(made[8:], size // (len(made) - 8) + 1)])


@measure("raw-gfx9")
def raw_decode(options: Options) -> Iterable[Row]:
    """Nanoseconds a token, a full buffer, and the first use with and without machine code."""
    from rcv_py.formats.sqtt.decode import decode_streamed  # noqa: PLC0415 - `first` measures that, too

    del options
    data = repeated(Tape(), 16 << 20)
    decode_streamed(data.data, given_away)
    spent, tokens = [], 0
    for _ in range(5):
        began = time.process_time()
        tokens = decode_streamed(data.data, given_away).tokens
        spent.append(time.process_time() - began)
    yield Row("gfx9: a token to columns", 1e9 * statistics.median(spent) / tokens, NANOSECONDS, "ns", 1)
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (in_child("first", folder)[0] for _ in range(2))
    yield Row("gfx9: first use, machine code to be made", cold, warm + FIRST, "s")
    yield Row("gfx9: first use, machine code there", warm, None, "s")
    for name in ("gfx9", "gfx11", "gfx12"):
        seconds, peak = in_child(name, "")
        yield Row(f"{name}: a buffer of {BUFFER >> 20} MiB to records, CPU", seconds, WHOLE, "s")
        yield Row(f"{name}: its peak above the file", peak / 1e6, PEAK, "MB", 1)


def first() -> tuple[float, ...]:
    """Seconds of CPU of the first decoding in a process, imports included."""
    began = time.process_time()
    from rcv_py.formats.sqtt.decode import decode  # noqa: PLC0415

    decode(repeated(Tape(), 1 << 16).data)
    return (time.process_time() - began,)


def buffer(name: str) -> tuple[float, ...]:
    """CPU seconds for a full buffer, and bytes that come on top of it."""
    from bench.raw_rdna import looped  # noqa: PLC0415 - `first` measures imports
    from rcv_py.formats.sqtt.decode import decode_streamed  # noqa: PLC0415 - `first` measures imports

    data = repeated(Tape(), BUFFER).data if name == "gfx9" else looped(int(name[3:]), 0x1000, BUFFER)
    decode_streamed(data[: 1 << 16], given_away)
    before, began = own_peak(), time.process_time()
    decode_streamed(data, given_away)
    return time.process_time() - began, own_peak() - before


def in_child(what: str, cache: str) -> list[float]:
    """Run one of these in a process of its own, which keeps machine code in a folder if one is named."""
    known = environment() | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-m", "bench.raw_gfx9", what]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=known)
    return [float(word) for word in done.stdout.split()]


if __name__ == "__main__":
    print(*(first() if sys.argv[1] == "first" else buffer(sys.argv[1])))
