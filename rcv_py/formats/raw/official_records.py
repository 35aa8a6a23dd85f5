"""The records of AMD's decoder, copied from its memory, and the records of ours that they become."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.runs import borders
from rcv_py.formats.raw.objects import UNKNOWN, Places
from rcv_py.formats.sqtt.records import DecodedStream, DispatchRecord, OccupancyRecords, WaveRecords
from rcv_py.model.kinds import TokenKind

GFXIP, OCCUPANCY, COUNTERS, WAVE, INFO, EVENT, SHADER_DATA, REALTIME, FREQUENCY, OTHER_SIMD = range(10)
DISPATCH, MARKER, HIDDEN = 10, 11, 12
LOST, UNSTITCHED, UNFINISHED = 1, 2, 3  # values of INFO records
MAX_WAVE_ROWS = 1 << 32
MAX_RECORD = 1 << 12  # bytes
MAX_HIDDEN = 1 << 48  # cycles of an instruction

PC = np.dtype([("address", "<u8"), ("id", "<u8")])


def _layout(text: str) -> np.dtype[Any]:
    named = (field.split(":") for field in text.split())
    return np.dtype([(name, PC if kind == "pc" else kind) for name, kind in named])


LAYOUT = {  # of the records, by kind; `size` as the library reports it
    OCCUPANCY: _layout("pc:pc time:<u8 _:u1 cu:u1 simd:u1 slot:u1 bits:<u4"),
    COUNTERS: _layout("time:<i8 value:4<u2 cu:u1 bank:u1 _:V6"),
    WAVE: _layout(
        "cu:u1 simd:u1 slot:u1 contexts:u1 dispatcher:u1 workgroup:u1 cluster:u1 _:u1 size:<u8 begin:<i8"
        " end:<i8 states:<u8 tokens:<u8 state_at:<u8 token_at:<u8"
    ),
    EVENT: _layout("size:<u8 time:<i8 kind:<i4 me:u1 pipe:u1 flags:<u2 payload:<u8 offset:<u8"),
    SHADER_DATA: _layout("time:<i8 value:<u8 cu:u1 simd:u1 slot:u1 flags:u1 _:V4"),
    REALTIME: _layout("shader:<i8 realtime:<u8 _:<u8"),
    OTHER_SIMD: _layout("size:<u8 time:<i8 cycles:<u2 wgp:u1 kind:u1 _:V4"),
    DISPATCH: _layout(
        "size:<u8 time:<i8 me:u1 pipe:u1 user_sgprs:<u2 flags:<i4 vgprs:<u4 sgprs:<u4 lds:<u4 dim:3<u4"
        " packet:<u8 offset:<u8 pc:pc"
    ),
}
VALUE = LAYOUT[SHADER_DATA]
LEADING = {  # of records that state their size, as later fields may follow
    MARKER: np.dtype([("size", "<u8"), ("value", VALUE)]),
    HIDDEN: np.dtype([("size", "<u8"), ("pc", PC), ("hidden", "<i8", 3)]),  # idle, stall, issue
}
STATE = np.dtype([("state", "<i4"), ("duration", "<i4")])
# A word has 8 bits of kind, 24 of stall.
TOKEN = np.dtype([("word", "<u4"), ("duration", "<i4"), ("time", "<i8"), ("pc", PC)])


class PcTable(Places):
    """Places in the code that a stream of this library names by a number, 0: none."""

    def find(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return code object and address of each number."""
        rows = numbers.astype(np.int64)
        return self.codeobj[rows], self.address[rows]


class Official(Value):
    """The library's output for one shader engine."""

    stream: DecodedStream
    row: np.ndarray  # int64, of `pcs` for each token, -1 if none is known there
    pcs: PcTable
    notes: tuple[int, ...]  # LOST, UNSTITCHED, UNFINISHED, each as often as reported
    hidden: np.ndarray | None  # int64 [pcs, 3], idle, stall and issue that other waves hide, cycles


class LibraryRecords:
    """Copies the library's records, since its memory is valid only during each call."""

    def __init__(self) -> None:
        self.gfxip = 9
        self.frequency = 0
        self.notes: list[int] = []
        self.tables: dict[int, list[np.ndarray]] = {kind: [] for kind in LAYOUT}
        self.tokens: list[np.ndarray] = []
        self.states: list[np.ndarray] = []
        self.grown: dict[int, list[np.ndarray]] = {kind: [] for kind in LEADING}

    def take(self, kind: int, at: int, count: int) -> None:
        """Take `count` records of a kind at an address; skip unknown kinds."""
        if kind == GFXIP:
            self.gfxip = at
        elif kind == FREQUENCY and at:
            self.frequency = int(ctypes.c_uint64.from_address(at).value)
        elif kind == INFO and at:
            self.notes += np.frombuffer(ctypes.string_at(at, 4 * count), dtype="<i4").tolist()
        elif kind in LEADING and at and 0 < count < MAX_WAVE_ROWS:
            self._take_grown(kind, at, count)
        elif kind in LAYOUT and at and count:
            table = _copied(at, count, LAYOUT[kind])
            if "size" in (table.dtype.names or ()):
                size = table["size"]
                table = table[(size == table.dtype.itemsize) | ((kind == WAVE) & (size == 0))]
            self.tables[kind].append(table)
            for wave in table if kind == WAVE else ():
                self.states.append(_copied(int(wave["state_at"]), int(wave["states"]), STATE))
                self.tokens.append(_copied(int(wave["token_at"]), int(wave["tokens"]), TOKEN))

    def _take_grown(self, kind: int, at: int, count: int) -> None:
        """Take the leading fields of records that state their size."""
        size, known = int(ctypes.c_uint64.from_address(at).value), LEADING[kind]
        if known.itemsize <= size <= MAX_RECORD:
            row = np.dtype([("known", known), ("_", f"V{size - known.itemsize}")])
            self.grown[kind].append(_copied(at, count, row)["known"].copy())

    def _values(self) -> np.ndarray:
        """Shader data; of markers if the library sends these instead."""
        values = self._table(SHADER_DATA)
        marked = () if len(values) else (one["value"] for one in self.grown[MARKER])
        return np.concatenate([values, *marked])

    def _hidden(self) -> np.ndarray:
        """What other waves hide of instructions; without records that cannot be."""
        table = np.concatenate([np.zeros(0, dtype=LEADING[HIDDEN]), *self.grown[HIDDEN]])
        return table[((table["hidden"] >= 0) & (table["hidden"] < MAX_HIDDEN)).all(axis=1)]

    def _table(self, kind: int) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype=LAYOUT[kind]), *self.tables[kind]])

    def official(self, place: Callable[[int, int], tuple[int, int]]) -> Official:
        """The copied data as our records; `place` maps a PC of the library to code object and address."""
        waves, occupancy, dispatches, counters = map(self._table, (WAVE, OCCUPANCY, DISPATCH, COUNTERS))
        tokens = np.concatenate([np.zeros(0, dtype=TOKEN), *self.tokens])
        counts = np.array([len(one) for one in self.tokens], dtype=np.int64)
        kind = tokens["word"] & 0xFF
        kept = kind < TokenKind.MATRIX  # bytes after the end leak from inside the library
        first = np.append(0, np.cumsum(kept))[borders(counts)]
        tokens, kind = tokens[kept], kind[kept]
        states = np.concatenate([np.zeros(0, dtype=STATE), *self.states])
        entry = _entries(waves, occupancy, tokens["pc"], first)
        hidden = self._hidden()
        named = (np.zeros(1, dtype=PC), tokens["pc"], occupancy["pc"], dispatches["pc"], entry, hidden["pc"])
        pcs = np.concatenate(named)
        known, number = np.unique(pcs, return_inverse=True)
        found = [place(pc, id) if pc else (UNKNOWN, 0) for pc, id in known.tolist()]
        table = PcTable(
            np.array([one for one, _ in found], dtype=np.int64),
            np.array([at for _, at in found], dtype=np.uint64),
        )
        parts = np.split(number.astype(np.uint64), np.cumsum([len(one) for one in named[:-1]]))
        _, of_tokens, of_occupancy, of_dispatches, of_waves, of_hidden = parts
        records = _waves(waves, of_waves, first, borders([len(one) for one in self.states]))
        stream = DecodedStream(
            gfxip=self.gfxip,
            version=0,
            se=-1,
            cu=int(waves["cu"][0]) if len(waves) else -1,
            simds=15,
            waves=WaveRecords(
                **records,
                time=tokens["time"].astype(np.int64),
                kind=kind.astype(np.uint8),
                stall=(tokens["word"] >> 8).astype(np.int64),
                duration=tokens["duration"].astype(np.int64),
                flags=np.zeros(len(tokens), dtype=np.uint8),
                state=states["state"].astype(np.uint8),
                state_duration=states["duration"].astype(np.int64),
                break_token=np.zeros(0, dtype=np.int64),
                break_address=np.zeros(0, dtype=np.uint64),
            ),
            occupancy=_occupancy(occupancy, of_occupancy),
            realtime=_columns(self._table(REALTIME), "shader", "realtime"),
            frequency=self.frequency,
            dispatches=tuple(
                _dispatch(row, int(entry), self.gfxip)
                for row, entry in zip(dispatches, of_dispatches, strict=True)
            ),
            events=_columns(self._table(EVENT), "time", "kind", "me", "pipe", "flags"),
            counters=np.column_stack(
                [
                    _columns(counters, "time"),
                    counters["value"].astype(np.int64).reshape(-1, 4),
                    _columns(counters, "cu", "bank"),
                ]
            ),
            shader_data=_columns(self._values(), "time", "value", "cu", "simd", "slot", "flags"),
            other_simd=_columns(self._table(OTHER_SIMD), "time", "cycles", "kind"),
            has_lost_data=LOST in self.notes,
        )
        row = np.where(table.codeobj[of_tokens] == UNKNOWN, -1, of_tokens.astype(np.int64))
        sums = np.zeros((len(table), 3), dtype=np.int64)
        np.add.at(sums, of_hidden.astype(np.int64), hidden["hidden"])
        return Official(stream, row, table, tuple(self.notes), sums if len(hidden) else None)


def _copied(at: int, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    if not at or not 0 < count < MAX_WAVE_ROWS:
        return np.zeros(0, dtype=dtype)
    return np.frombuffer(ctypes.string_at(at, count * dtype.itemsize), dtype=dtype).copy()


def _columns(table: np.ndarray, *names: str) -> np.ndarray:
    return np.stack([table[name].astype(np.int64) for name in names], axis=1)


def _entries(waves: np.ndarray, occupancy: np.ndarray, pcs: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Where each wave began: as the residents state, else its first instruction."""
    starts = occupancy[(occupancy["bits"] & 1) != 0]
    keys = zip(*(starts[name].tolist() for name in ("cu", "simd", "slot", "time")), strict=True)
    known = dict(zip(keys, starts["pc"].tolist(), strict=True))
    found = np.zeros(len(waves), dtype=PC)
    places = zip(*(waves[name].tolist() for name in ("cu", "simd", "slot", "begin")), strict=True)
    for row, key in enumerate(places):
        if key in known:
            found[row] = known[key]
        elif first[row] < first[row + 1]:
            found[row] = pcs[first[row]]
    return found


def _waves(
    waves: np.ndarray, entry: np.ndarray, token_first: np.ndarray, state_first: np.ndarray
) -> dict[str, Any]:
    names = ("simd", "slot", "cu", "contexts", "workgroup", "cluster", "dispatcher")
    columns = {name: waves[name].astype(np.int16) for name in names}
    dispatcher = columns.pop("dispatcher")
    columns |= {"me": dispatcher >> 4 & 7, "pipe": dispatcher & 15}
    for name in ("workgroup", "cluster", "me", "pipe"):  # the first interface has no such bytes
        columns[name] = np.where(waves["size"] > 0, columns[name], -1).astype(np.int16)
    return {
        **columns,
        "begin": waves["begin"].astype(np.int64),
        "end": waves["end"].astype(np.int64),
        "is_complete": np.ones(len(waves), dtype=bool),
        "entry": entry,
        "token_first": token_first,
        "state_first": state_first,
        "break_first": np.zeros(len(waves) + 1, dtype=np.int64),
    }


def _occupancy(table: np.ndarray, entry: np.ndarray) -> OccupancyRecords:
    bits = table["bits"].astype(np.int64)
    is_ext = bits >> 8 & 1 > 0
    facts = {"me": bits >> 1 & 7, "pipe": bits >> 4 & 15}
    facts |= {"workgroup": bits >> 9 & 127, "cluster": bits >> 16 & 31}
    return OccupancyRecords(
        time=table["time"].astype(np.int64),
        is_start=bits & 1 > 0,
        **{name: table[name].astype(np.int16) for name in ("cu", "simd", "slot")},
        **{name: np.where(is_ext, value, -1).astype(np.int16) for name, value in facts.items()},
        entry=entry,
    )


def _dispatch(row: np.void, entry: int, gfxip: int) -> DispatchRecord:
    x, y, z = map(int, row["dim"])
    # It takes every gfx9 for gfx950, which allocates 1,280 bytes where the others allocate 512.
    lds = int(row["lds"]) * 4 // 10 if gfxip == 9 else int(row["lds"])
    names = ("time", "me", "pipe", "vgprs", "sgprs", "user_sgprs", "packet", "flags")
    facts = {name: int(row[name]) for name in names}
    return DispatchRecord(**facts, entry=entry, lds_size=lds, workgroup_size=(x, y, z))
