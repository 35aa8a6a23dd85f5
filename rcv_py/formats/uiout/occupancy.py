"""Read occupancy.json: begins and ends of all waves, hardware events, dispatches.

A wave event has one of three forms: six columns (3.0), eleven columns named by `occupancy_fields` (3.1), and
one packed integer (before 3).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.runs import ascending
from rcv_py.formats.input.columns import (
    clipped,
    frozen,
    list_of,
    number_rows,
    numbered,
    report_skipped,
    table_of,
    text_of,
    whole_number,
)
from rcv_py.formats.input.limits import NAME_LETTERS, report_cut
from rcv_py.formats.uiout.written import OCCUPANCY_FIELDS
from rcv_py.model.device import Dispatch, HardwareEvents, WaveEvents

FILE = "occupancy.json"
_BASE_FIELDS = 6
_EVENT_FIELDS = ("type", "me_id", "pipe_id", "flags")
_DISPATCH_FIELDS = {  # of the table: of the file
    "kernel": "kernel_id",
    "me": "me_id",
    "pipe": "pipe_id",
    **{name: name for name in ("vgprs", "sgprs", "user_sgprs", "lds_size", "flags")},
}


def wave_rows(data: object, problems: Problems) -> dict[int, np.ndarray]:
    """Return the wave events of each shader engine, int64 [n, 11] as OCCUPANCY_FIELDS.  Never raises."""
    said = table_of(data)
    read = {se: _rows(rows, said.get("occupancy_fields")) for se, rows in numbered(said)}
    report_skipped(problems, FILE, sum(bad for _, bad in read.values()), "wave event")
    return {se: table for se, (table, _) in read.items()}


def read_occupancy(
    data: object, rows: Mapping[int, np.ndarray], offsets: Mapping[int, int], problems: Problems
) -> tuple[WaveEvents, HardwareEvents | None, tuple[Dispatch, ...]]:
    """Turn the content of the file, and its `wave_rows`, into tables; `offsets` aligns each shader engine."""
    tables, said = [], table_of(data)
    for se, table in rows.items():
        table[:, 0] += offsets.get(se, 0)
        tables.append(np.column_stack([np.full(len(table), se, dtype=np.int64), table]))
    table = np.concatenate(tables) if tables else np.zeros((0, 1 + len(OCCUPANCY_FIELDS)), dtype=np.int64)
    table = table[np.lexsort((table[:, 5] != 0, table[:, 1]))]
    names = {id: f"kernel_{id}" for id in ascending(table[:, 6]).tolist() if 0 <= id < 1 << 31}
    named = numbered(said.get("dispatches"), 1 << 31)
    names |= {id: text_of(name) for id, name in named if text_of(name)}
    long_names = sum(len(name) >= NAME_LETTERS for name in names.values())
    report_cut(problems, FILE, long_names, "kernel name", "their ends are left out")
    return _wave_events(table, names), *_records(said.get("events"), offsets, problems)


def _rows(rows: object, fields: object) -> tuple[np.ndarray, int]:
    """Rows in the order of OCCUPANCY_FIELDS, int64 [n, 11], and the number of unusable rows."""
    if isinstance(rows, list) and rows and isinstance(rows[0], int):
        return _packed(rows)
    names = [name for name in list_of(fields) if isinstance(name, str)]
    width = max(len(OCCUPANCY_FIELDS), len(names))
    table, skipped = number_rows(rows, _BASE_FIELDS, width)
    if set(OCCUPANCY_FIELDS[:_BASE_FIELDS]) <= set(names):
        blank = np.full(len(table), -1, dtype=np.int64)
        columns = [table[:, names.index(name)] if name in names else blank for name in OCCUPANCY_FIELDS]
        table = np.column_stack(columns)
    return table[:, : len(OCCUPANCY_FIELDS)], skipped


def _packed(rows: list[Any]) -> tuple[np.ndarray, int]:
    """Legacy events: from the lowest bit kernel 12, simd 2, slot 4, start 1, cu 4, then time in 8 cycles."""
    numbers = [row for row in rows if isinstance(row, int) and 0 <= row < 1 << 63]
    value = np.array(numbers, dtype=np.int64)
    table = np.full((len(value), len(OCCUPANCY_FIELDS)), -1, dtype=np.int64)
    fields = ((19, 4), (12, 2), (14, 4), (18, 1), (0, 12))  # first bit and bits of CU to kernel
    parts = [value >> first & (1 << bits) - 1 for first, bits in fields]
    table[:, :_BASE_FIELDS] = np.column_stack([(value >> 23) * 8, *parts])
    return table, len(rows) - len(numbers)


def _wave_events(table: np.ndarray, names: Mapping[int, str]) -> WaveEvents:
    """Columns from rows of (se, OCCUPANCY_FIELDS…), sorted."""
    is_ext = table[:, 9] > 0
    cu = np.maximum(table[:, 2], 0)
    places = {"se": 0, "simd": 3, "slot": 4, "me": 7, "pipe": 8}
    columns: dict[str, Any] = {name: clipped(table[:, at], np.int16) for name, at in places.items()}
    return WaveEvents(
        time=frozen(table[:, 1].copy()),
        **columns,
        sa=clipped((cu >> 7) & 1, np.int16),
        cu=clipped(cu & 0x7F, np.int16),
        is_start=frozen(table[:, 5] != 0),
        kernel=clipped(table[:, 6], np.int32),
        workgroup=frozen(np.where(is_ext, table[:, 10], -1)),
        cluster=frozen(np.where(is_ext, table[:, 11], -1)),
        names=names,
    )


def _records(
    data: object, offsets: Mapping[int, int], problems: Problems
) -> tuple[HardwareEvents | None, tuple[Dispatch, ...]]:
    events: list[tuple[int, ...]] = []
    dispatches: list[Dispatch] = []
    skipped = 0
    for se, records in numbered(data):
        for record in list_of(records):
            if not isinstance(record, dict):
                skipped += 1
                continue
            time = whole_number(record.get("time"), 0) + offsets.get(se, 0)
            if record.get("kind") == "dispatch":
                dispatches.append(_dispatch(record, se, time))
            else:
                numbers = (whole_number(record.get(name), 0) for name in _EVENT_FIELDS)
                events.append((time, se, *numbers, _unsigned(record.get("payload"))))
    report_skipped(problems, FILE, skipped, "event record")
    dispatches.sort(key=lambda dispatch: dispatch.time)
    if not events:
        return None, tuple(dispatches)
    *columns, payload = zip(*sorted(events), strict=True)
    table, payloads = np.array(columns, dtype=np.int64).T, np.array(payload, dtype=np.uint64)
    return hardware_events(table, payloads), tuple(dispatches)


def _unsigned(value: object) -> int:
    """An unsigned 64-bit number, which may exceed the limit of `whole_number`."""
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0


def hardware_events(table: np.ndarray, payload: np.ndarray) -> HardwareEvents:
    """Return events as columns from int64 [n, 6]: time, shader engine, kind, ME, pipe, flags."""
    return HardwareEvents(
        time=frozen(table[:, 0].copy()),
        **{name: clipped(table[:, at], np.int16) for at, name in enumerate(("se", "kind", "me", "pipe"), 1)},
        flags=clipped(table[:, 5], np.int32, low=0),
        payload=frozen(payload),
    )


def _dispatch(record: dict[str, Any], se: int, time: int) -> Dispatch:
    entry = table_of(record.get("entry_point"))
    numbers = {name: whole_number(record.get(key), 0) for name, key in _DISPATCH_FIELDS.items()}
    x, y, z = (whole_number(record.get(f"thread_dim_{axis}"), 0) for axis in "xyz")
    return Dispatch(
        time=time,
        se=se,
        name=text_of(record.get("kernel_name")) or f"kernel_{numbers['kernel']}",
        workgroup_size=(x, y, z),
        address=_unsigned(entry.get("address")),
        code_object=whole_number(entry.get("code_object_id"), 0),
        **numbers,
    )
