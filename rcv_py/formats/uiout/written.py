"""Build the JSON of each file of a ui_output folder from plain numbers.

Used by the simulator, and to write a trace as a folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from rcv_py.model.architecture import architecture_of

VERSION = "3.0.0"
CODE_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
SAMPLE_COLUMNS = ("PC_Issued", "PC_Stalled", "Stall_Reasons", "PC_Unsure")
SHADER_COLUMNS = ("time", "value", "cu", "simd", "wave_id", "flags")
OTHER_SIMD_COLUMNS = ("time", "duration", "category")
OCCUPANCY_FIELDS = (
    "time", "cu", "simd", "wave_id", "start", "kernel_id", "me_id", "pipe_id", "is_ext", "workgroup_id",
    "cluster_id",
)  # fmt: skip
Key = tuple[int, int, int, int]  # shader engine, SIMD, slot, ordinal


def dump(path: Path, table: object, *, is_indented: bool = False) -> None:
    """Write one JSON file in the format of one of the two tools."""
    style = orjson.OPT_INDENT_2 if is_indented else orjson.OPT_SORT_KEYS
    path.write_bytes(orjson.dumps(table, option=style | orjson.OPT_SERIALIZE_NUMPY))


def index_table(
    gfxip: int, waves: Iterable[tuple[Key, str, int, int]], counters: Sequence[str] = ()
) -> dict[str, Any]:
    """The content of `filenames.json` without a version: waves as key, file, begin and end."""
    names: dict[str, Any] = {}
    for key, file, begin, end in waves:
        se, simd, slot, wid = map(str, key)
        names.setdefault(se, {}).setdefault(simd, {}).setdefault(slot, {})[wid] = [file, begin, end]
    about = {"gfxip": gfxip, "gfxv": architecture_of(gfxip).layout, "global_begin_time": 0}
    return {**about, "counter_names": list(counters), "wave_filenames": names}


def wave_table(
    key: Key, life: tuple[int, int], *, cu: int, tokens: np.ndarray, timeline: np.ndarray, waits: object
) -> dict[str, Any]:
    """One wave file: rows of time, category, stall, duration, line; of state, cycles; and its waits."""
    se, simd, slot, wid = key
    begin, end = life
    detail: dict[str, object] = {"cu": cu, "id": wid, "simd": simd, "slot": slot, "begin": begin, "end": end}
    detail |= {"instructions": tokens, "timeline": timeline, "waitcnt": waits}
    counts = {"duration": end - begin, "num_insts": len(tokens), "num_stitched": len(tokens)}
    return {"name": f"SE{se}", **counts, "wave": detail}


def realtime_table(samples: Mapping[int, object], frequency: int = 100_000_000) -> dict[str, Any]:
    """The content of `realtime.json`: pairs of both clocks by shader engine."""
    metadata = {"descriptor": "[gfx_clock, realtime_clock]", "frequency": frequency}
    return {**{f"SE{se}": pairs for se, pairs in samples.items()}, "metadata": metadata}


def part_name(kind: str, se: int, number: int = 0) -> str:
    """The name of a file with some records of a shader engine."""
    return f"other_simd_se{se}_{number}.json" if kind == "other_simd" else f"shaderdata_{se}_{number}.json"


def shader_table(rows: np.ndarray) -> dict[str, Any]:
    """A file of values written by a kernel, columns as in SHADER_COLUMNS."""
    return _stretch("shaderdata", rows, "records", SHADER_COLUMNS)


def other_simd_table(rows: np.ndarray, wgp: int) -> dict[str, Any]:
    """A file of the sibling SIMD's instructions, columns as in OTHER_SIMD_COLUMNS."""
    table = _stretch("OTHER_SIMD_INSTRUCTIONS", rows, "instructions", OTHER_SIMD_COLUMNS)
    return {**table, "wgp": wgp}


def stretch_of(rows: np.ndarray) -> tuple[int, int]:
    """First and last time of records."""
    return int(rows[0, 0]), int(rows[-1, 0]) + 1


def _stretch(kind: str, rows: np.ndarray, key: str, schema: Sequence[str]) -> dict[str, Any]:
    begin, end = stretch_of(rows)
    about = {"type": kind, "begin_time": begin, "end_time": end}
    return {**about, f"{key}_schema": list(schema), f"{key}_count": len(rows), key: rows}


def source_tree(copies: Mapping[str, str]) -> dict[str, Any]:
    """The content of `snapshots.json`: names of copies by path; paths below a file are left out."""
    tree: dict[str, Any] = {}
    for path, name in copies.items():
        *folders, last = path.removeprefix("/").split("/")
        branch = tree.setdefault("/", {}) if path.startswith("/") else tree
        for part in folders:
            branch = branch.setdefault(part, {}) if isinstance(branch, dict) else branch
        if isinstance(branch, dict):
            branch.setdefault(last, name)
    return tree
