"""Small capture folders on disk: a good one, and changes to it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from tests.support.wave_folder import wave

HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
WAVE = "se0_sm0_sl0_wv0.json"
Files = Mapping[str, Any]


def row(text: str, number: int, source: str | None = "", at: int = 0, *costs: int) -> list[Any]:
    """A row of code.json with ten columns; the address is `at`, in code object 1."""
    return [text, 0, number, source, 1, at, *(list(costs) or [0, 0, 0, 0])]


def code(*rows: list[Any], **more: Any) -> dict[str, Any]:
    """The content of code.json."""
    return {"code": list(rows), "header": HEADER, "version": "3.0.0", **more}


def waves(tree: Any, **more: Any) -> dict[str, Any]:
    """The content of filenames.json."""
    return {
        "version": "3.0.0",
        "gfxip": 9,
        "gfxv": "vega",
        "counter_names": [],
        "wave_filenames": tree,
        **more,
    }


def one_wave(begin: int = 80, end: int = 140, se: int = 0) -> dict[str, Any]:
    """The tree of filenames.json for the wave of GOOD."""
    return {str(se): {"0": {"0": {"0": [WAVE, begin, end]}}}}


# The rows have the numbers of tests.support.wave_folder.CODE, whose tokens the wave runs.
CODE = code(
    row("; kernel", 0, "", 256),
    row("s_nop 0", 1, "/src/k.py:3", 256, 1, 4, 0, 20),
    row("v_mfma_f32_32x32x8_f16 a[0:15]", 2, "/src/k.py:4", 260, 1, 12, 8, 0),
    row("v_add_f32 v0, v1, v2", 3, "/src/k.py:4", 268, 1, 4, 0, 4),
    row("s_endpgm", 4, "/src/k.py:5", 272, 1, 16, 0, 0),
)
OCCUPANCY = {
    "0": [[80, 1, 0, 0, 1, 1], [140, 1, 0, 0, 0, 1]],
    "dispatches": {"0": "0 / 0x0", "1": "kernel"},
    "version": "3.0.0",
}
REALTIME = {
    "SE0": [[1000, 900_000], [9000, 900_400]],
    "metadata": {"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100_000_000},
}
GOOD: Files = {
    "filenames.json": waves(one_wave()),
    "code.json": CODE,
    "occupancy.json": OCCUPANCY,
    "realtime.json": REALTIME,
    "snapshots.json": {"/": {"src": {"k.py": "source_0_k.py"}}},
    "source_0_k.py": b"import x\n\ndef k():\n    return 1\n\tdone\n",
    WAVE: wave(),
}


def write(folder: Path, changes: Files | None = None, base: Files = GOOD) -> Path:
    """Write a capture: `base` with changes by file name; bytes as they are, None leaves the file out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**base, **(changes or {})}.items():
        if content is not None:
            data = content if isinstance(content, bytes) else orjson.dumps(content)
            (folder / name).unlink(missing_ok=True)  # to cut off what was there waits for the disk
            (folder / name).write_bytes(data)
    return folder


def opened(folder: Path, changes: Files | None = None) -> Trace:
    """Write GOOD with changes into a folder of `folder` and open it."""
    return open_trace(write(folder / "capture", changes))


def texts(trace: Trace) -> str:
    """All problems of a trace as one text."""
    return " ".join(map(str, trace.problems))


def only_wave(trace: Trace) -> TracedWave:
    """The first wave of a trace, which must be readable."""
    batch = trace.reader.read([0])
    assert batch.missing == ()
    return batch.waves[0]


def mutated(content: bytes, cut: int | None = None, flips: Mapping[int, int] | None = None) -> bytes:
    """Damage bytes: cut them short, and replace the bytes at some places (modulo the length)."""
    data = bytearray(content[:cut])
    for place, value in (flips or {}).items():
        if data:
            data[place % len(data)] = value
    return bytes(data)
