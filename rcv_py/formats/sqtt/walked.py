"""What the walks over streams of all GPUs share: the rows of waves, which leave the walk when waves end.

A slot owns a part of each line of rows, in which those of its waves follow each other.  Where a part, or a
table, is nearly full the walk stops: `Walked.empty` then gives waves away that are over, and moves the rows
of the others to the front of their parts.  So memory depends on the waves that run, not on the stream.

A slot is a number below SLOTS.  Field F of slot S is `state[F + S]`; rows are places in the columns.
"""

from __future__ import annotations

from mmap import mmap
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.base.machine.compiled import part
from rcv_py.base.runs import ascending, borders
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.sqtt.records import OF_WAVES, Give, OccupancyRecords, WaveRecords

SLOTS = 64
SPARE = 16  # rows: no token adds so many to one slot
ROOM = 1 << 13  # rows of a slot, at first; a power of two
LIVES = 1 << 13  # rows of the tables of waves, of occupancy and of notes
OF_ONE_TOKEN = 64  # rows of such a table that one token may add

# `state`: what is there
(
    IS_FULL,  # the walk stops: some column has no room for what the next token may add
    OVER,  # waves in the table
    ENDED,  # waves that have a rank in the order of ends
    OCCUPIED,  # rows of occupancy
    NOTES,  # tokens that numpy reads
) = range(5)
# and of each slot
(
    WAVE,  # 0 or more: a wave is there
    TOKEN_FIRST,  # of the wave; then the end of its rows
    TOKEN_AT,
    SEGMENT_FIRST,
    SEGMENT_AT,
    BREAK_FIRST,
    BREAK_AT,
    STALL_FIRST,  # of gfx9: stalls that no token took
    STALL_AT,
    DOES,  # WaveState
    SINCE,  # up to when its states are recorded
    NAMED,  # breaks that have an address
    BEGINS,  # of the wave, from here on as in the table of waves
    ENDS,
    RANK,
    IS_COMPLETE,
    ENTRY,
    WORKGROUP,
    CLUSTER,
    ME,
    PIPE,
    CONTEXTS,  # how often it was saved and restored
    OWN,  # the first field of the walk of a family
) = range(8, 8 + 23 * SLOTS, SLOTS)
FACTS = (OWN - BEGINS) // SLOTS
# Columns of the table of waves: these facts, then
W_SLOT, W_TOKENS, W_SEGMENTS, W_BREAKS, WAVE_COLUMNS = range(FACTS, FACTS + 5)
NOTE_COLUMNS = 4
# Lines of `rows` and of `marks`
R_TIME, R_STALL, R_DURATION, R_LASTED, R_AFTER, R_ADDRESS, R_STALLED, R_LINES = range(8)
M_KIND, M_FLAGS, M_STATE, M_LINES = range(4)
LINES: tuple[dict[str, tuple[str, int]], ...] = (  # of tokens, segments, breaks, stalls, as in the state
    {
        "time": ("rows", R_TIME), "stall": ("rows", R_STALL), "duration": ("rows", R_DURATION),
        "kind": ("marks", M_KIND), "flags": ("marks", M_FLAGS),
    },
    {"state": ("marks", M_STATE), "state_duration": ("rows", R_LASTED)},
    {"break_token": ("rows", R_AFTER), "break_address": ("rows", R_ADDRESS)},
    {"": ("rows", R_STALLED)},
)  # fmt: skip
CYCLES = ("stall", "duration", "state_duration")
NARROW = np.iinfo(np.int32).max
FACTS_OF = {  # of waves
    "begin": BEGINS, "end": ENDS, "is_complete": IS_COMPLETE, "entry": ENTRY, "workgroup": WORKGROUP,
    "cluster": CLUSTER, "me": ME, "pipe": PIPE, "contexts": CONTEXTS,
}  # fmt: skip
OCCUPANCY = {
    "time": np.int64, "is_start": np.bool_, "cu": np.int16, "simd": np.int16, "slot": np.int16,
    "me": np.int16, "pipe": np.int16, "entry": np.uint64, "workgroup": np.int16, "cluster": np.int16,
}  # fmt: skip
Start = tuple[int, int, int, int, int]  # of a wave: ME, pipe, entry, workgroup and cluster


class Columns(NamedTuple):
    """The output of a walk."""

    last: int  # rows of a slot, less one
    waves: ndarray  # int64 [LIVES, WAVE_COLUMNS], of waves that are over
    occupancy: ndarray  # int64 [LIVES, fields of OccupancyRecords, and whether it began before the stream]
    notes: ndarray  # int64 [LIVES, NOTE_COLUMNS], type, time and two numbers of tokens that numpy reads
    rows: ndarray  # int64 [R_LINES, SLOTS * rows of a slot]: tokens, segments, breaks and stalls
    marks: ndarray  # uint8 [M_LINES, the same]

    @classmethod
    def of(cls, room: int) -> Columns:
        """Return columns with so many rows a slot; the system gives memory to rows that are written alone."""
        size = SLOTS * room
        rows = np.frombuffer(mmap(-1, R_LINES * size * 8), np.int64).reshape(R_LINES, size)
        marks = np.frombuffer(mmap(-1, M_LINES * size), np.uint8).reshape(M_LINES, size)
        return cls(
            last=room - 1,
            waves=np.empty((LIVES, WAVE_COLUMNS), np.int64),
            occupancy=np.empty((LIVES, len(OCCUPANCY) + 1), np.int64),
            notes=np.empty((LIVES, NOTE_COLUMNS), np.int64),
            rows=rows,
            marks=marks,
        )

    def line(self, place: tuple[str, int]) -> np.ndarray:
        """Return a line by its place in `LINES`."""
        return (self.rows if place[0] == "rows" else self.marks)[place[1]]


@part
def add_row(
    state: ndarray, slot: int, kind: int, time: int, stall: int, duration: int, flags: int, to: Columns
) -> None:
    """Add a token to the wave of a slot."""
    at = state[TOKEN_AT + slot]
    to.rows[R_TIME, at], to.rows[R_STALL, at], to.rows[R_DURATION, at] = time, stall, duration
    to.marks[M_KIND, at], to.marks[M_FLAGS, at] = kind, flags
    state[TOKEN_AT + slot] = at + 1
    if at & to.last >= to.last - SPARE:
        state[IS_FULL] = 1


@part
def add_segment(state: ndarray, slot: int, what: int, lasts: int, joins: bool, to: Columns) -> None:
    """Add a segment to the wave of a slot; `joins`: it extends the last one if that is of the same state."""
    at = state[SEGMENT_AT + slot]
    if joins and at > state[SEGMENT_FIRST + slot] and to.marks[M_STATE, at - 1] == what:
        to.rows[R_LASTED, at - 1] += lasts
        return
    to.marks[M_STATE, at], to.rows[R_LASTED, at] = what, lasts
    state[SEGMENT_AT + slot] = at + 1
    if at & to.last >= to.last - SPARE:
        state[IS_FULL] = 1


@part
def add_break(state: ndarray, slot: int, after: int, to: Columns) -> None:
    """Add a break: the program of the wave goes on elsewhere after a token, -1: at its begin."""
    at = state[BREAK_AT + slot]
    if at > state[BREAK_FIRST + slot]:
        after = max(after, to.rows[R_AFTER, at - 1])
    to.rows[R_AFTER, at], to.rows[R_ADDRESS, at] = after, 0
    state[BREAK_AT + slot] = at + 1
    if at & to.last >= to.last - SPARE:
        state[IS_FULL] = 1


@part
def name_break(state: ndarray, slot: int, address: int, after: int, to: Columns) -> None:
    """Set the address of the oldest break without one, else of a new break after a token."""
    at = state[BREAK_FIRST + slot] + state[NAMED + slot]
    if at >= state[BREAK_AT + slot]:
        add_break(state, slot, after, to)
    to.rows[R_ADDRESS, at] = address
    state[NAMED + slot] += 1


@part
def open_wave(state: ndarray, slot: int, time: int, does: int, start: Start) -> None:
    """A wave begins in a slot that no wave holds."""
    for fact in range(NAMED, OWN, SLOTS):
        state[fact + slot] = 0
    state[WAVE + slot], state[DOES + slot] = 0, does
    state[SINCE + slot], state[BEGINS + slot] = time, time
    state[ME + slot], state[PIPE + slot], state[ENTRY + slot] = start[0], start[1], start[2]
    state[WORKGROUP + slot], state[CLUSTER + slot] = start[3], start[4]


@part
def close_wave(state: ndarray, slot: int, to: Columns) -> None:
    """Put a wave that is over into the table."""
    row = state[OVER]
    for fact in range(FACTS):
        to.waves[row, fact] = state[BEGINS + fact * SLOTS + slot]
    to.waves[row, W_SLOT] = slot
    to.waves[row, W_TOKENS] = state[TOKEN_AT + slot] - state[TOKEN_FIRST + slot]
    to.waves[row, W_SEGMENTS] = state[SEGMENT_AT + slot] - state[SEGMENT_FIRST + slot]
    to.waves[row, W_BREAKS] = state[BREAK_AT + slot] - state[BREAK_FIRST + slot]
    for first in range(TOKEN_FIRST, DOES, 2 * SLOTS):
        state[first + slot] = state[first + SLOTS + slot]
    state[OVER] = row + 1
    if row >= len(to.waves) - OF_ONE_TOKEN:
        state[IS_FULL] = 1


@part
def add_occupancy(
    state: ndarray, time: int, is_start: int, place: tuple[int, int, int], start: Start, to: Columns
) -> None:
    """A wave began or ended at a unit, SIMD and slot; `is_start` is 3 if it began before the stream."""
    row = state[OCCUPIED]
    to.occupancy[row, 0], to.occupancy[row, 1] = time, is_start & 1
    to.occupancy[row, 2], to.occupancy[row, 3], to.occupancy[row, 4] = place
    to.occupancy[row, 5], to.occupancy[row, 6], to.occupancy[row, 7] = start[0], start[1], start[2]
    to.occupancy[row, 8], to.occupancy[row, 9], to.occupancy[row, 10] = start[3], start[4], is_start >> 1
    state[OCCUPIED] = row + 1
    if row >= len(to.occupancy) - OF_ONE_TOKEN:
        state[IS_FULL] = 1


@part
def add_note(state: ndarray, what: int, time: int, low: int, high: int, to: Columns) -> None:
    """Leave a token to numpy."""
    row = state[NOTES]
    to.notes[row, 0], to.notes[row, 1], to.notes[row, 2], to.notes[row, 3] = what, time, low, high
    state[NOTES] = row + 1
    if row >= len(to.notes) - OF_ONE_TOKEN:
        state[IS_FULL] = 1


class Walked:
    """The state and the columns of a walk over a stream; waves that are over leave it through `give`."""

    def __init__(self, fields: int, cu: int, simd: int, give: Give) -> None:
        """`fields`: length of the state; `simd`: of all slots, -1: a SIMD has sixteen slots."""
        self.state = np.zeros(fields, dtype=np.int64)
        self.columns = Columns.of(ROOM)
        self.state[WAVE : WAVE + SLOTS] = -1
        self.state[TOKEN_FIRST:DOES].reshape(-1, SLOTS)[:] = np.arange(SLOTS) * ROOM
        self._cu, self._simd, self._give = cu, simd, give
        self._notes = [self.columns.notes[:0]]
        self._occupancy: dict[str, list[np.ndarray]] = {name: [] for name in OCCUPANCY}
        self._earlier: list[np.ndarray] = []

    def empty(self) -> None:
        """Give away the waves that are over, and make room for rows of the others."""
        state, to = self.state, self.columns
        if state[OVER]:
            self._give(*self._waves())
        self._notes.append(to.notes[: state[NOTES]].copy())
        rows = to.occupancy[: state[OCCUPIED]]
        is_earlier = rows[:, -1] == 1
        if is_earlier.any():
            self._earlier.append(rows[is_earlier])
            rows = rows[~is_earlier]
        for (name, dtype), column in zip(OCCUPANCY.items(), rows.T, strict=False):
            self._occupancy[name].append(column.astype(dtype))
        state[[OVER, NOTES, OCCUPIED, IS_FULL]] = 0
        self._make_room()

    def _make_room(self) -> None:
        """Move rows of open waves to the front of their parts; double the parts if they fill half of one."""
        before, fields = self.columns, self.state[TOKEN_FIRST:DOES].reshape(-1, 2, SLOTS)
        room = before.last + 1
        while (fields[:, 1] - fields[:, 0]).max() > room // 2:
            room *= 2
        front = np.arange(SLOTS) * room
        if room > before.last + 1:
            self.columns = Columns.of(room)
        held_at = fields.copy()
        fields += (front - fields[:, 0])[:, None]
        for (first, end), now, lines in zip(held_at, fields, LINES, strict=True):
            moves = (end > first) & ((first != front) | (before is not self.columns))
            for slot in np.flatnonzero(moves).tolist():
                held, moved = slice(first[slot], end[slot]), slice(*now[:, slot])
                for line in lines.values():
                    self.columns.line(line)[moved] = before.line(line)[held]

    def _waves(self) -> tuple[WaveRecords, np.ndarray]:
        """The waves that are over, by slot and end, and their ranks."""
        state, to = self.state, self.columns
        table = to.waves[: state[OVER]]
        table = table[np.argsort(table[:, W_SLOT], kind="stable")]
        slots = ascending(table[:, W_SLOT])
        begins = (slots * (to.last + 1)).tolist()
        rows: dict[str, list[np.ndarray]] = {}
        for first, lines in zip((TOKEN_FIRST, SEGMENT_FIRST, BREAK_FIRST), LINES, strict=False):
            ends = state[first + slots].tolist()
            for name, line in lines.items():
                held = to.line(line)
                rows[name] = [held[begin:end] for begin, end in zip(begins, ends, strict=True)]
        most = max(part.max(initial=0) for name in CYCLES for part in rows[name])
        cycles = np.int32 if most <= NARROW else np.int64
        columns = {
            name: frozen(np.concatenate(parts, dtype=cycles if name in CYCLES else None))
            for name, parts in rows.items()
        }
        facts = {
            name: frozen(table[:, (first - BEGINS) // SLOTS].astype(OF_WAVES[name]))
            for name, first in FACTS_OF.items()
        }
        slot = table[:, W_SLOT].astype(np.int16)
        return WaveRecords(
            simd=frozen(slot // 16 if self._simd < 0 else np.full_like(slot, self._simd)),
            slot=frozen(slot % 16 if self._simd < 0 else slot),
            cu=frozen(np.full_like(slot, self._cu)),
            token_first=frozen(borders(table[:, W_TOKENS])),
            state_first=frozen(borders(table[:, W_SEGMENTS])),
            break_first=frozen(borders(table[:, W_BREAKS])),
            **facts,
            **(columns | {"break_address": columns["break_address"].view(np.uint64)}),
        ), table[:, (RANK - BEGINS) // SLOTS]

    def notes(self) -> np.ndarray:
        """Return int64 [notes, NOTE_COLUMNS], in the order of the stream."""
        return np.concatenate(self._notes)

    def occupancy(self, step: int) -> OccupancyRecords:
        """Return where waves began and ended; first those before the stream, backwards if `step` is -1."""
        earlier = np.concatenate([self.columns.occupancy[:0], *self._earlier])[::step]
        joined: dict[str, np.ndarray] = {}
        for number, (name, dtype) in enumerate(OCCUPANCY.items()):
            parts = self._occupancy.pop(name)
            joined[name] = frozen(np.concatenate([earlier[:, number].astype(dtype), *parts]))
        return OccupancyRecords(**joined)
