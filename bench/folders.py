"""Large captures in a temporary place: a loop of a matrix kernel, as gfx9 would have recorded it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson

FILE_BYTES = 1_500_000  # the largest wave file seen in practice
TOKENS = 46_000  # about as many make a file of that size
VARIANTS = 4
BODY = 256  # instructions of the loop
KINDS = np.array([6, 6, 5, 6, 2, 6, 5, 6, 3, 6, 9, 6, 6, 2, 6, 8])
TEXTS = {
    2: "s_add_u32 s0, s0, s1",
    3: "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen",
    5: "ds_read_b128 v[0:3], v4",
    6: "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
    8: "s_cbranch_scc1 65000",
    9: "s_waitcnt vmcnt(0)",
}


@contextmanager
def large_folder(megabytes: int) -> Iterator[Path]:
    """A capture with that many megabytes of wave files, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
        folder = Path(place) / "ui_output_agent_1_dispatch_1"
        folder.mkdir()
        write(folder, max(1, round(megabytes * 1e6 / FILE_BYTES)))
        yield folder


def write(folder: Path, waves: int) -> None:
    """Write a capture of `waves` large wave files."""
    variants = [wave(seed) for seed in range(VARIANTS)]
    index: dict[str, Any] = {}
    events: dict[str, list[list[int]]] = {str(se): [] for se in range(4)}
    for i in range(waves):
        se, simd, slot, wid = i % 4, i // 4 % 4, i // 16 % 2, i // 32
        content = variants[i % VARIANTS]
        content["wave"] |= {"simd": simd, "slot": slot, "id": wid}
        body = content["wave"]
        name = f"se{se}_sm{simd}_sl{slot}_wv{wid}.json"
        (folder / name).write_bytes(orjson.dumps(content))
        slots = index.setdefault(str(se), {}).setdefault(str(simd), {}).setdefault(str(slot), {})
        slots[str(wid)] = [name, body["begin"], body["end"]]
    header = {"version": "3.0.0", "gfxip": 9, "gfxv": "vega", "global_begin_time": 0, "counter_names": []}
    save(folder / "filenames.json", header | {"wave_filenames": index})
    save(folder / "code.json", {"version": "3.0.0", "header": HEADER, "code": code()})
    save(folder / "occupancy.json", {"version": "3.0.0", "dispatches": {}, **events})


HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"


def code() -> list[list[Any]]:
    """Rows of code.json; nothing is counted, for nobody looks."""
    label = ["; loop_kernel", 0, 0, "", 1, 4096, 0, 0, 0, 0]
    body = [
        [TEXTS[int(KINDS[i % len(KINDS)])], 0, i + 1, "", 1, 4096 + 8 * i, 1, 4, 0, 0] for i in range(BODY)
    ]
    return [label, *body]


def wave(seed: int) -> dict[str, Any]:
    """The content of one wave file."""
    random = np.random.default_rng(seed)
    line = np.arange(TOKENS) % BODY
    kind = KINDS[line % len(KINDS)]
    stall = 4 * random.integers(0, 60, TOKENS) * (random.random(TOKENS) < 0.45)
    busy = np.where(kind == 9, 0, 4 + 4 * (random.random(TOKENS) < 0.05))
    gap = 4 * random.integers(0, 4, TOKENS)
    begin = 200_000
    time = begin + 32 + np.cumsum(stall + busy + gap) - (stall + busy)
    end = int(time[-1] + stall[-1] + busy[-1]) + 4
    rows = np.column_stack([time, kind, stall, stall + busy, line + 1])
    waits = [
        [int(number) + 1, [[int(number), 0], [max(1, int(number) - 5), 0]]] for number in line[kind == 9]
    ]
    body = {"begin": begin, "cu": 1, "end": end, "instructions": rows.tolist()}
    body |= {"timeline": timeline(stall, busy + gap), "waitcnt": waits}
    return {"duration": end - begin, "name": "SE0", "num_insts": TOKENS, "num_stitched": TOKENS, "wave": body}


def timeline(stall: np.ndarray, other: np.ndarray) -> list[list[int]]:
    """Stalled and executing segments in turn, as many as there are stalls."""
    stalled = np.flatnonzero(stall)
    executing = np.add.reduceat(other, stalled)
    pairs = np.column_stack([np.full(len(stalled), 4), stall[stalled], np.full(len(stalled), 2), executing])
    return [[1, 32], *pairs.reshape(-1, 2).tolist()]


def save(path: Path, content: Any) -> None:
    path.write_bytes(orjson.dumps(content))
