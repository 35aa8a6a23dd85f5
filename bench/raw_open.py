"""Raw captures of full buffers: when their beginning, all of it and all waves are there, and at what cost."""

from __future__ import annotations

import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from bench.table import Options, Row, measure
from bench.tree import new_home, watch

BUFFER = 96 << 20  # bytes that rocprofv3 gives a shader engine
FIRST, WHOLE = 1.0, 8.0  # seconds for a buffer on two quiet processors
OF_WINDOW, A_TOKEN = 250e6, 35  # bytes
GENERATIONS = (11, 12)  # of RDNA
SEVERAL = 4  # buffers
BASE = 0x7F12_3400_0000
WORDS = (  # the program of LOOP
    *(0xBE800000, 0x7E000300, 0xDC508000, 0x007F0000, 0x7E000300, 0xD86C0000, 0, 0xBF8C0000),
    *(0x7E000300, 0x7E000300, 0xBF850000 | 0x10000 - 11, 0xBF810000),
)


def written(folder: Path, buffers: int, size: int = BUFFER) -> None:
    """Write a capture of gfx9: so many streams of the same waves, and their code object."""
    from bench.raw_gfx9 import repeated  # noqa: PLC0415 - `opened` measures imports
    from rcv_py.formats.sqtt import registers  # noqa: PLC0415 - `opened` measures imports
    from tests.formats.sqtt.encode_gfx9 import BEFORE, Tape, compute  # noqa: PLC0415 - `opened` measures imports
    from tests.support.object_files import TEXT, code_file  # noqa: PLC0415 - `opened` measures imports

    tape, entry = Tape(), BASE + TEXT
    tape.put(0, compute(registers.ENTRY_LOW, entry >> 8 & registers.HALF), BEFORE)
    tape.put(0, compute(registers.ENTRY_HIGH, entry >> 40), BEFORE)
    code = code_file({"loop": struct.pack(f"<{len(WORDS)}I", *WORDS)}, kernels=("loop",))
    _write(folder, buffers, repeated(tape, size).tobytes(), "gfx950", code)


def written_rdna(folder: Path, generation: int, size: int = BUFFER) -> None:
    """Write a capture of gfx11 or gfx12: one stream of the same waves, and their code object."""
    from bench import raw_rdna  # noqa: PLC0415 - `opened` measures imports
    from tests.support.object_files import TEXT, code_file  # noqa: PLC0415 - `opened` measures imports

    machine, words = raw_rdna.PROGRAMS[generation]
    data = raw_rdna.looped(generation, BASE + TEXT, size)
    code = code_file({"loop": struct.pack(f"<{len(words)}I", *words)}, machine=machine, kernels=("loop",))
    _write(folder, 1, data, f"gfx{generation}00", code)


def _write(folder: Path, buffers: int, data: bytes, target: str, code: bytes) -> None:
    folder.mkdir()
    for se in range(buffers):
        (folder / f"1_0_shader_engine_{se}_1.att").write_bytes(data)
    (folder / f"{target}_code_object_id_1.out").write_bytes(code)


def captures(is_full: bool) -> Iterable[tuple[str, Callable[[Path], None], bool]]:
    """What is opened: its name, what writes it into a new folder, and whether it has limits."""
    yield f"raw, 1 x {BUFFER >> 20} MiB", lambda folder: written(folder, 1), True
    if is_full:
        yield f"raw, {SEVERAL} x {BUFFER >> 20} MiB", lambda folder: written(folder, SEVERAL), False
    for generation in GENERATIONS:
        name = f"raw RDNA {BUFFER >> 20} MiB, gfx{generation}"
        yield name, partial(written_rdna, generation=generation), True


@measure("raw-open")
def raw_open(options: Options) -> Iterable[Row]:
    """Seconds and memory from the start of a process to the waves of a raw capture."""
    with new_home() as home, tempfile.TemporaryDirectory() as place:
        for number, (name, write, is_limited) in enumerate(captures(options.full)):
            folder = Path(place) / str(number)
            write(folder)
            words = ["-m", "bench.raw_open"]
            if is_limited:  # makes machine code; of another folder, since what was decoded is kept
                watch([*words, str(shutil.copytree(folder, folder.with_suffix(".first")))], home)
            seen = watch([*words, str(folder)], home)
            limits = (FIRST, WHOLE) if is_limited else (None, None)
            yield Row(f"{name}: its beginning", seen.at("beginning"), limits[0], "s")
            yield Row(f"{name}: all waves", seen.at("waves"), limits[1], "s")
            yield Row(f"{name}: CPU", seen.cpu_at("waves"), None, "s")
            most = (OF_WINDOW + A_TOKEN * seen.said["tokens"]) / 1e6
            yield Row(f"{name}: peak of its processes", seen.peak / 1e6, most, "MB", 0)
            shutil.rmtree(folder)


def opened(folder: Path) -> None:
    """Open a capture as a window does, and tell when what is there."""
    from rcv_py.tuning import memory  # noqa: PLC0415 - its imports are measured
    from rcv_py.work.ahead import Preload  # noqa: PLC0415 - `opened` measures imports

    memory.begin_start()  # as a window does
    ahead = Preload.of(folder)
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
