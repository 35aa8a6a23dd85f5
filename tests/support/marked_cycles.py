"""The kinds of instruction that a SIMD issued, cycle by cycle, from the wave files alone; without MFMA."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.model.kinds import TokenKind


def marked(folder: Path, se: int, simd: int) -> dict[str, np.ndarray]:
    """Cycles of a SIMD, marked one by one from its wave files: resident, and each kind's issue."""
    kinds = {TokenKind.VALU: "VALU", TokenKind.VMEM: "VMEM", TokenKind.FLAT: "VMEM", TokenKind.LDS: "LDS"}
    kinds |= {TokenKind.SALU: "Scalar", TokenKind.SMEM: "Scalar"}
    waves = [json.loads(path.read_text())["wave"] for path in folder.glob(f"se{se}_sm{simd}_sl*_wv*.json")]
    begin, end = min(wave["begin"] for wave in waves), max(wave["end"] for wave in waves)
    cycles = {
        name: np.zeros(end - begin + 4096, dtype=bool) for name in ("resident", "Other", *kinds.values())
    }
    for wave in waves:
        cycles["resident"][wave["begin"] - begin : wave["end"] - begin] = True
        for time, kind, stall, duration, _ in wave["instructions"]:
            cycles[kinds.get(kind, "Other")][time + stall - begin : time + duration - begin] = True
    return cycles


def overlapping_cycles(folder: Path, row: dict[str, Any]) -> int:
    """Check a row of a summary of all waves; return by how many cycles its kinds exceed their union."""
    se, simd = (int(word.lstrip("SEIMD")) for word in row["place"].split()[::2])
    cycles = marked(folder, se, simd)
    names = [name for name in cycles if name != "resident" and cycles[name].any()]
    assert {name: row[name] for name in names} == {name: int(cycles[name].sum()) for name in names}
    assert row["simd_cycles"] == int(cycles["resident"].sum())
    assert row["busy"] == int(np.logical_or.reduce([cycles[name] for name in names]).sum())
    return sum(row[name] for name in names) - row["busy"]
