"""shaderdata_<SE>_<i>.json: values the kernel wrote with s_ttracedata."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rcv_py.base.problems import Problem
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout.index import ChunkFile
from rcv_py.formats.uiout.shapes import number_rows, tell_skipped
from rcv_py.model.device import ShaderData

COLUMNS = ("time", "value", "cu", "simd", "wave_id", "flags")


def read_shader_data(
    folder: Path, chunks: tuple[ChunkFile, ...], offsets: Mapping[int, int], problems: list[Problem]
) -> tuple[ShaderData, ...]:
    """Return one table a shader engine, its files one after the other, records in file order, times aligned.

    Records are never sorted: payload words follow their header in the file, also at equal times.
    """
    tables: dict[int, list[np.ndarray]] = {}
    for chunk in sorted(chunks, key=lambda chunk: (chunk.se, chunk.begin)):
        data = try_json(folder, chunk.file, problems)
        if not isinstance(data, dict):
            continue
        table, skipped = number_rows(data.get("records"), len(COLUMNS), 16, 0)
        tell_skipped(problems, chunk.file, skipped, "record")
        tables.setdefault(chunk.se, []).append(ordered(table, data.get("records_schema"), COLUMNS))
    return tuple(
        _shader_data(se, np.concatenate(parts), offsets.get(se, 0)) for se, parts in sorted(tables.items())
    )


def ordered(table: np.ndarray, schema: object, wanted: tuple[str, ...]) -> np.ndarray:
    """Return the wanted columns of a table by the names in its schema, else by position."""
    names = [name for name in schema if isinstance(name, str)] if isinstance(schema, list) else []
    if not set(wanted) <= set(names[: table.shape[1]]):
        return table[:, : len(wanted)]
    return table[:, [names.index(name) for name in wanted]]


def _shader_data(se: int, table: np.ndarray, offset: int) -> ShaderData:
    small = np.clip(table[:, 2:6], -1, 32767).astype(np.int16)
    return ShaderData(
        se,
        frozen(table[:, 0] + offset),
        frozen((table[:, 1] & 0xFFFFFFFF).astype(np.uint32)),
        *(frozen(small[:, column].copy()) for column in range(4)),
    )
