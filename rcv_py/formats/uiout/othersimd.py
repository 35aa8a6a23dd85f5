"""other_simd_se<SE>_<i>.json: memory instructions of the sibling SIMD (gfx11 and later)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rcv_py.base.problems import Problem
from rcv_py.formats.input.columns import frozen, whole_number
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout.index import ChunkFile
from rcv_py.formats.uiout.shaderdata import ordered
from rcv_py.formats.uiout.shapes import number_rows, tell_skipped
from rcv_py.model.device import OtherSimd

COLUMNS = ("time", "duration", "category")


def read_other_simd(
    folder: Path,
    chunks: tuple[ChunkFile, ...],
    simd_of: Mapping[int, int],
    offsets: Mapping[int, int],
    problems: list[Problem],
) -> tuple[OtherSimd, ...]:
    """Return one table a file, sorted by time, times aligned.

    `simd_of` tells the SIMD that a shader engine traced; the records belong to its sibling (number with the
    last bit flipped), -1 if the engine traced none.
    """
    found = []
    for chunk in chunks:
        data = try_json(folder, chunk.file, problems)
        if not isinstance(data, dict):
            continue
        table, skipped = number_rows(data.get("instructions"), 2, 16, 0)
        tell_skipped(problems, chunk.file, skipped, "instruction")
        table = ordered(table, data.get("instructions_schema"), COLUMNS)
        table = table[np.argsort(table[:, 0], kind="stable")]
        traced = simd_of.get(chunk.se, -1)
        found.append(
            OtherSimd(
                chunk.se,
                whole_number(data.get("wgp"), -1),
                traced ^ 1 if traced >= 0 else -1,
                frozen(table[:, 0] + offsets.get(chunk.se, 0)),
                frozen(np.maximum(table[:, 1], 0)),
                frozen(np.clip(table[:, 2], 0, 255).astype(np.uint8)),
            )
        )
    return tuple(found)
