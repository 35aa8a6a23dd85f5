"""Raw captures of full buffers: when their beginning, all of it and all waves are there, and at what cost."""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bench.raw_gfx9 import BUFFER, LOOP, ROUNDS
from bench.table import Options, Row, measure
from bench.tree import watch

FIRST, WHOLE = 1.0, 8.0  # seconds for a buffer on two quiet processors
OF_WINDOW, A_TOKEN = 250e6, 35  # bytes
SEVERAL = 4  # buffers
BASE = 0x7F12_3400_0000
WORDS = (  # the program of LOOP
    *(0xBE800000, 0x7E000300, 0xDC508000, 0x007F0000, 0x7E000300, 0xD86C0000, 0, 0xBF8C0000),
    *(0x7E000300, 0x7E000300, 0xBF850000 | 0x10000 - 11, 0xBF810000),
)
END, NOT_TAKEN = 11, 8  # categories


def written(folder: Path, buffers: int, size: int = BUFFER) -> None:
    """Write a capture: so many streams of the same waves, and their code object."""
    from rcv_py.formats.sqtt import registers  # noqa: PLC0415 - `opened` measures imports
    from tests.formats.sqtt.encode_gfx9 import BEFORE, Tape, compute, played  # noqa: PLC0415
    from tests.support.object_files import TEXT, code_file  # noqa: PLC0415

    tape, entry = Tape(), BASE + TEXT
    tape.put(0, compute(registers.ENTRY_LOW, entry >> 8 & registers.HALF), BEFORE)
    tape.put(0, compute(registers.ENTRY_HIGH, entry >> 40), BEFORE)
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
    data = np.concatenate([made[:8], np.tile(made[8:], size // (len(made) - 8) + 1)]).tobytes()
    for se in range(buffers):
        (folder / f"1_0_shader_engine_{se}_1.att").write_bytes(data)
    code = code_file({"loop": struct.pack(f"<{len(WORDS)}I", *WORDS)}, kernels=("loop",))
    (folder / "gfx950_code_object_id_1.out").write_bytes(code)


@measure("raw-open")
def raw_open(options: Options) -> Iterable[Row]:
    """Seconds and memory from the start of a process to the waves of a raw capture."""
    with tempfile.TemporaryDirectory() as kernels, tempfile.TemporaryDirectory() as place:
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = kernels
        try:
            for buffers in (1, SEVERAL) if options.full else (1,):
                folder = Path(place) / str(buffers)
                folder.mkdir()
                written(folder, buffers)
                if buffers == 1:
                    watch(["-m", "bench.raw_open", str(folder)])  # makes machine code
                seen = watch(["-m", "bench.raw_open", str(folder)])
                name = f"raw, {buffers} x {BUFFER >> 20} MiB"
                limits = (FIRST, WHOLE) if buffers == 1 else (None, None)
                yield Row(f"{name}: its beginning", seen.at("beginning"), limits[0], "s")
                yield Row(f"{name}: all waves", seen.at("waves"), limits[1], "s")
                yield Row(f"{name}: CPU", seen.cpu_at("waves"), None, "s")
                most = (OF_WINDOW + A_TOKEN * seen.said["tokens"]) / 1e6
                yield Row(f"{name}: peak of its processes", seen.peak / 1e6, most, "MB", 0)
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before


def opened(folder: Path) -> None:
    """Open a capture as a window does, and tell when what is there."""
    from rcv_py.work.ahead import Ahead  # noqa: PLC0415 - its imports are measured

    ahead = Ahead.of(folder)
    assert ahead is not None
    trace = ahead.open(early=lambda _: print("beginning", time.monotonic(), flush=True))
    print("decoded", time.monotonic(), flush=True)
    print("tokens", int(trace.code.hits.sum()), flush=True)
    for _ in ahead.stream():
        pass
    print("waves", time.monotonic(), flush=True)
    ahead.close()


if __name__ == "__main__":
    opened(Path(sys.argv[1]))
