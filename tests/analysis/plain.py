"""Reads a capture with plain json, one value after the other, into the tables of the model.

Slow and simple on purpose: it shares nothing with the product's reader.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.model.code import CodeTable, Kernel, SourceFile
from rcv_py.model.device import Clock, OtherSimd, WaveEvents
from rcv_py.model.kinds import MATRIX_PREFIXES
from rcv_py.model.tokens import States, Tokens, Waits
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveIndex

_KIND_OF_PREFIX = (
    (MATRIX_PREFIXES, 13),
    (("v_",), 6),
    (("buffer_", "tbuffer_", "image_"), 3),
    (("global_", "flat_", "scratch_"), 4),
    (("ds_",), 5),
    (("s_load", "s_store", "s_buffer_load"), 1),
    (("s_wait", "s_barrier", "s_nop", "s_sleep", "s_setprio"), 9),
    (("s_sendmsg", "s_endpgm"), 11),
    (("s_cbranch", "s_branch"), 7),
    (("s_",), 2),
)


def _json(folder: Path, name: str) -> Any:
    path = folder / name
    return json.loads(path.read_text()) if path.exists() else {}


def offsets(folder: Path) -> dict[int, int]:
    """Cycles to add to each shader engine's times."""
    real = _json(folder, "realtime.json")
    ends = {int(k[2:]): (min(v), max(v)) for k, v in real.items() if k.startswith("SE") and v}
    if len(ends) < 2:
        return {}
    ticks = 1 + sum(last[1] - first[1] for first, last in ends.values())
    rate = ticks / (25 + sum(last[0] - first[0] for first, last in ends.values()))
    origin = {se: first[1] - rate * first[0] for se, (first, _) in ends.items()}
    return {se: int((value - min(origin.values())) / rate) for se, value in origin.items()}


def _code(rows: list[list[Any]], files: list[str]) -> CodeTable:
    chains: list[list[tuple[int, int]]] = []
    for row in rows:
        chain = []
        for part in (row[3] or "").split(" -> "):
            match = re.fullmatch(r"(.+):(\d+)", part)
            if match and not row[0].lstrip().startswith(";"):
                if match[1] not in files:
                    files.append(match[1])
                chain.append((files.index(match[1]), int(match[2])))
        chains.append(chain)
    flat = [place for chain in chains for place in chain]
    labels = [row[0].lstrip().startswith((";", "label")) for row in rows]
    starts = [i for i, is_label in enumerate(labels) if is_label]
    kinds = [next((k for p, k in _KIND_OF_PREFIX if row[0].startswith(p)), 0) for row in rows]
    column = [np.array([row[i] for row in rows], dtype=np.int64) for i in (2, 4, 5, 6, 7, 8, 9)]
    return CodeTable(
        tuple(row[0] for row in rows),
        column[0],
        column[1],
        column[2].astype(np.uint64),
        *column[3:],
        np.array(labels, dtype=bool),
        np.array(kinds, dtype=np.uint8),
        np.cumsum(labels).astype(np.int32) - 1,
        np.concatenate([[0], np.cumsum([len(chain) for chain in chains])]).astype(np.int32),
        np.array([place[0] for place in flat], dtype=np.int32),
        np.array([place[1] for place in flat], dtype=np.int32),
        tuple(
            Kernel(rows[a][0][2:], rows[a][3] or rows[a][0][2:], a, b)
            for a, b in zip(starts, [*starts[1:], len(rows)], strict=True)
        ),
    )


def _index(tree: Any, folder: Path, shift: dict[int, int]) -> WaveIndex:
    flat = sorted(
        (int(se), int(simd), int(slot), int(wid), *leaf)
        for se, simds in (tree or {}).items()
        for simd, slots in simds.items()
        for slot, waves in slots.items()
        for wid, leaf in waves.items()
    )
    n = len(flat)
    columns = [np.array([row[i] for row in flat], dtype=np.int64) for i in (0, 1, 2, 3, 5, 6)]
    move = np.array([shift.get(row[0], 0) for row in flat], dtype=np.int64)
    none = np.full(n, -1)
    return WaveIndex(
        *(column.astype(np.int16) for column in columns[:3]),
        columns[3].astype(np.int32),
        columns[4] + move,
        columns[5] + move,
        none.astype(np.int16),
        none.astype(np.int16),
        none.astype(np.int32),
        np.array([(folder / row[4]).stat().st_size for row in flat], dtype=np.int64),
        tuple(row[4] for row in flat),
    )


def _events(data: Any, shift: dict[int, int], ends: tuple[int, int]) -> WaveEvents:
    rows = [
        (row[0] + shift.get(int(se), 0), row[4], int(se), row[1] >> 7, row[1] & 127, row[2], row[3], row[5])
        for se, events in data.items()
        if se.isdigit()
        for row in events
    ]
    rows.sort(key=lambda row: row[:2])
    c = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(8)]
    none = np.full(len(rows), -1)
    return WaveEvents(
        c[0],
        *(column.astype(np.int16) for column in c[2:7]),
        c[1].astype(bool),
        c[7].astype(np.int32),
        none.astype(np.int16),
        none.astype(np.int16),
        none,
        none,
        {int(k): v for k, v in data.get("dispatches", {}).items()},
        *ends,
    )


def _wave(folder: Path, index: WaveIndex, shifts: dict[int, int], code: CodeTable, row: int) -> TracedWave:
    body, shift = _json(folder, index.file[row])["wave"], shifts.get(int(index.se[row]), 0)
    rows = np.array(body["instructions"] or [], dtype=np.int64).reshape(-1, 5)
    time, kind, stall, duration, line = rows[np.argsort(rows[:, 0], kind="stable")].T
    line = np.where((line >= 0) & (line < len(code)), code.row_of_number[line], -1)
    line = np.where(code.is_label[line], -1, line)
    is_matrix = np.array([text.startswith(MATRIX_PREFIXES) for text in code.text])
    kind = np.where((kind == 6) & is_matrix[line] & (line >= 0), 13, kind)
    begin = body["begin"] + shift
    tokens = Tokens(
        begin,
        (time + shift - begin).astype(np.int32),
        stall.astype(np.int32),
        (np.maximum(duration, stall) - stall).astype(np.int32),
        kind.astype(np.uint8),
        line.astype(np.int32),
    )
    spans = np.array(body["timeline"] or [], dtype=np.int64).reshape(-1, 2)
    offset = np.concatenate([[0], np.cumsum(spans[:, 1])])
    states = States(begin, offset[:-1].astype(np.int32), spans[:, 0].astype(np.uint8), int(offset[-1]))
    entries = body["waitcnt"] or []
    number = code.row_of_number
    waits = Waits(
        np.array([number[wait] for wait, _ in entries], dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(deps) for _, deps in entries])]).astype(np.int32),
        np.array([number[dep[0]] for _, deps in entries for dep in deps], dtype=np.int32),
    )
    return TracedWave(row, index.id(row), body["cu"], begin, body["end"] + shift, tokens, states, waits)


def batch_of(waves: list[TracedWave]) -> WaveBatch:
    """A batch of these waves."""
    tokens = [wave.tokens for wave in waves]
    first = np.concatenate([[0], np.cumsum([len(table) for table in tokens])]).astype(np.int64)
    names = ("stall", "busy", "kind", "line")
    columns = [np.concatenate([getattr(table, name) for table in tokens]) for name in names]
    return WaveBatch(tuple(waves), first, *columns)


class _Reader:
    """Reads the waves of one folder."""

    def __init__(self, folder: Path, index: WaveIndex, shift: dict[int, int], code: CodeTable) -> None:
        self._parts = (folder, index, shift, code)

    def read(self, rows: list[int]) -> WaveBatch:
        return batch_of([_wave(*self._parts, row) for row in rows])


@cache
def read(folder: Path) -> tuple[Trace, tuple[WaveBatch, ...]]:
    """The trace at a folder and its waves in batches of three."""
    names, shift = _json(folder, "filenames.json"), offsets(folder)
    files: list[str] = []
    code = _code(_json(folder, "code.json")["code"] or [], files)
    index = _index(names.get("wave_filenames"), folder, shift)
    occupancy = _events(
        _json(folder, "occupancy.json"), shift, (int(index.end.max()), int(index.begin.min()))
    )
    reader = _Reader(folder, index, shift, code)
    trace = Trace(
        folder,
        folder.name,
        names["gfxip"],
        f"gfx{names['gfxip']}",
        index,
        code,
        tuple(SourceFile(path, None) for path in files),
        occupancy,
        version=names.get("version", ""),
        has_thread_trace=True,
        clock=Clock(offsets=shift),
        reader=reader,
        other_simd=_others(names, folder),
    )
    rows = list(range(len(index)))
    return trace, tuple(reader.read(rows[i : i + 3]) for i in range(0, len(rows), 3))


def _others(names: Any, folder: Path) -> tuple[OtherSimd, ...]:
    found = []
    for se, entries in (names.get("other_simd_filenames") or {}).items():
        for name, *_ in entries:
            rows = np.array(_json(folder, name)["instructions"], dtype=np.int64)
            found.append(OtherSimd(int(se), 3, 1, rows[:, 0], rows[:, 1], rows[:, 2].astype(np.uint8)))
    return tuple(found)
