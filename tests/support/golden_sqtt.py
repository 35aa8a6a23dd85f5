"""The expected decode of raw captures, and the same as the records that a decoder gives."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.formats.isa.categories import categories
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw.addresses import Places
from rcv_py.formats.sqtt.records import DispatchRecord, OccupancyRecords, Stream, WaveRecords
from tests.support import captures

NAMES = (
    *(f"gfx950/{name}_run_{run}" for name in ("empty", "gemm", "plus") for run in (0, 1)),
    *(f"gfx1100/{name}_run_{run}" for name in ("empty", "gemm", "plus", "sync") for run in (0, 1)),
    *(
        f"gfx1200/{name}_run_{run}"
        for name in ("empty", "gemm", "handwritten", "plus", "sync")
        for run in (0, 1)
    ),
)


def raw_folder(name: str) -> Path:
    """The folder of a raw capture, such as `gfx950/gemm_run_0`."""
    captures.need_shared()
    return captures.SHARED / "raw" / name


@cache
def golden(name: str) -> dict[str, Any]:
    """What decoding a raw capture must give."""
    captures.need_shared()
    return json.loads((captures.SHARED / "golden" / "sqtt" / f"{name}.json").read_bytes())


def _ints(values: list[Any], dtype: Any = np.int64) -> np.ndarray:
    return np.array(values, dtype=dtype)


def stream_of(arch: str, engine: dict[str, Any], base: int) -> Stream:
    """One engine's records; its code lies at `base`."""
    waves, occupancy = engine["waves"], engine["occupancy"]
    spans = [wave["timeline"] for wave in waves]
    tokens = [wave["insts"] for wave in waves]
    rows = _ints([row for wave in tokens for row in wave]).reshape(-1, 5)
    span = _ints([row for wave in spans for row in wave]).reshape(-1, 2)
    nobody = np.full(len(waves), -1, dtype=np.int16)
    table = _ints(occupancy).reshape(-1, 9)
    return Stream(
        gfxip=9 if arch == "gfx950" else int(arch[3:5]),
        version=engine["tt_version"],
        se=engine["se"],
        cu=engine["target"]["cu"] if engine["target"]["cu"] is not None else -1,
        simds=15,
        waves=WaveRecords(
            simd=_ints([wave["simd"] for wave in waves], np.int16),
            slot=_ints([wave["slot"] for wave in waves], np.int16),
            cu=_ints([wave["cu"] for wave in waves], np.int16),
            begin=_ints([wave["begin"] for wave in waves]),
            end=_ints([wave["end"] for wave in waves]),
            is_complete=_ints([wave["complete"] for wave in waves], bool),
            entry=_ints([wave["entry"][0] for wave in waves], np.uint64),
            workgroup=nobody,
            cluster=nobody,
            me=nobody,
            pipe=nobody,
            contexts=nobody * 0,
            token_first=borders([len(wave) for wave in tokens]),
            state_first=borders([len(wave) for wave in spans]),
            break_first=np.zeros(len(waves) + 1, dtype=np.int64),
            time=rows[:, 0],
            kind=rows[:, 1].astype(np.uint8),
            stall=rows[:, 3],
            duration=rows[:, 4],
            flags=np.zeros(len(rows), dtype=np.uint8),
            state=span[:, 0].astype(np.uint8),
            state_duration=span[:, 1],
            break_token=_ints([]),
            break_address=_ints([], np.uint64),
        ),
        occupancy=OccupancyRecords(
            time=table[:, 0],
            is_start=table[:, 1] != 0,
            cu=table[:, 2].astype(np.int16),
            simd=table[:, 3].astype(np.int16),
            slot=table[:, 4].astype(np.int16),
            me=table[:, 5].astype(np.int16),
            pipe=table[:, 6].astype(np.int16),
            entry=np.where(table[:, 7], table[:, 7] + base, 0).astype(np.uint64),
            workgroup=table[:, 8].astype(np.int16),
            cluster=np.full(len(table), -1, dtype=np.int16),
        ),
        realtime=_ints(engine["realtime"]).reshape(-1, 2),
        dispatches=tuple(
            DispatchRecord(time=time, me=me, pipe=pipe, entry=entry + base if entry else 0)
            for time, me, pipe, entry in engine["dispatches"]
        ),
        other_simd=_ints(engine["other_simd"]).reshape(-1, 3),
        other_simd_number=1,
    )


def places_of_tokens(engine: dict[str, Any]) -> tuple[Places, np.ndarray]:
    """A table of places, and where in it the tokens of one engine stand."""
    found = [row[2] for wave in engine["waves"] for row in wave["insts"]]
    address = sorted(set(found) - {0})
    at = {one: row for row, one in enumerate(address)} | {0: -1}
    places = Places(np.full(len(address), engine["code_object"]), _ints(address, np.uint64))
    return places, _ints([at[one] for one in found])


def program_of(code: dict[str, Any]) -> Program:
    """The instructions of a kernel."""
    address, size, text = zip(*code["isa"], strict=True)
    return Program(
        name=code["kernel"],
        address=_ints(address, np.uint64),
        size=_ints(size, np.uint8),
        text=text,
        category=categories(text),
        target=np.full(len(text), -1),
    )
