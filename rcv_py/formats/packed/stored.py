"""Read waves of a packed capture: unpack or map a few pieces, and cut rows out of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import groupby
from pathlib import Path
from threading import Lock

import numpy as np

from rcv_py.base.errors import BrokenFile, TraceError
from rcv_py.base.runs import borders
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import bounds, tight
from rcv_py.formats.packed.archive import Archive
from rcv_py.formats.packed.npy import Unreadable, unpacked
from rcv_py.formats.packed.pieces import COLUMNS, TYPES, PackedPiece, unpacked_piece
from rcv_py.model.columns import PickledByCopy
from rcv_py.model.waves import WaveBatch, WaveColumns, facts_of

KEPT_BYTES = 48 << 20  # of unpacked pieces, in each process
INDEX = "pieces.columns"  # int32 [waves]: the piece of each wave, and its place in it; -1 if it has none
Notes = tuple[tuple[int, str], ...]


def piece_name(number: int) -> str:
    """The member that holds a piece."""
    return f"waves/{number}.columns"


@dataclass(frozen=True, eq=False)
class StoredWaves(PickledByCopy):
    """Reads waves of a packed capture.  It pickles as its fields alone: any process opens the file anew."""

    path: Path
    base_clock: int  # smallest step of time; tokens may overlap by this and still share a lane
    lines: int  # rows of the code table
    is_narrow: bool  # whether pieces are compressed
    missing: Notes  # waves that could not be read when the capture was packed, and why
    notes: Notes  # doubts about waves

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def read(self, rows: list[int]) -> WaveBatch:
        """Read the waves at these rows of the index; unreadable waves are listed in the batch."""
        return self.columns(rows).batch()

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone."""
        parts: list[dict[str, np.ndarray]] = [_NOTHING]
        missing: list[tuple[int, str]] = []
        wanted = set(rows)
        said = {row: text for row, text in self.missing if row in wanted}
        for number, first, stop, some in self._runs(rows):
            try:
                if number < 0:
                    raise BrokenFile(self.path.name, "it lacks a wave that it lists")
                piece = self._kept.get(number) or self._kept.put(number, self._unpacked(number))
                parts.append(piece.waves(first, stop))
            except TraceError as error:
                missing += [(row, said.get(row, str(error))) for row in some]
        lost = {row for row, _ in missing}
        notes = tuple((row, text) for row, text in self.notes if row in wanted and row not in lost)
        return _joined(parts, tuple(missing), notes)

    def _runs(self, rows: list[int]) -> Iterator[tuple[int, int, int, list[int]]]:
        """Consecutive waves of a piece: its number, their positions, and their rows."""
        piece, place = self._places
        chosen = [(int(piece[row]), int(place[row]), row) for row in rows]
        for (number, _), group in groupby(enumerate(chosen), lambda one: (one[1][0], one[1][1] - one[0])):
            some = [one for _, one in group]
            yield number, some[0][1], some[-1][1] + 1, [row for _, _, row in some]

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.path)

    @cached_property
    def _kept(self) -> _Kept:
        return _Kept()

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        try:
            piece, place = unpacked(self._archive.read(INDEX), 2)
        except Unreadable as error:
            raise BrokenFile(self.path.name, str(error)) from error
        return piece, place

    def _unpacked(self, number: int) -> PackedPiece:
        name = piece_name(number)
        try:
            piece = unpacked_piece(self._archive.read(name), is_narrow=self.is_narrow, lines=self.lines)
        except (Unreadable, ValueError) as error:
            raise BrokenFile(Message("{0} of {1}", name, self.path.name), str(error)) from error
        rows, (listed, place) = piece.rows, self._places
        is_known = bool(len(rows)) and bool(((rows >= 0) & (rows < len(listed))).all())
        if not is_known or np.any(listed[rows] != number) or np.any(place[rows] != np.arange(len(rows))):
            raise BrokenFile(
                Message("{0} of {1}", name, self.path.name), "it has other waves than are listed"
            )
        return piece


class _Kept:
    """The most recently used pieces of this process; threads share them."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[int, PackedPiece] = OrderedDict()
        self._nbytes = 0
        self._lock = Lock()

    def get(self, number: int) -> PackedPiece | None:
        """Return a piece, if it is cached."""
        with self._lock:
            if number in self._pieces:
                self._pieces.move_to_end(number)
            return self._pieces.get(number)

    def put(self, number: int, piece: PackedPiece) -> PackedPiece:
        """Cache a piece and return it; evict the least recently used."""
        with self._lock:
            if number in self._pieces:  # another thread was faster
                return self._pieces[number]
            self._pieces[number] = piece
            self._nbytes += piece.nbytes
            while len(self._pieces) > 1 and self._nbytes > KEPT_BYTES:
                self._nbytes -= self._pieces.popitem(last=False)[1].nbytes
        return piece


_NOTHING = {name: np.zeros(0, dtype=types.split()[0]) for name, types in TYPES.items()}
_NOTHING |= {"facts": facts_of(0), "line": np.zeros(0, dtype=np.int16)}


def _joined(parts: list[dict[str, np.ndarray]], missing: Notes, notes: Notes) -> WaveColumns:
    """The columns of several runs of waves as one, with the types of a reader of files."""
    if len(parts) == 2:
        parts = parts[1:]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS if len(parts) > 1}
    joined = joined or dict(parts[0])
    for name in ("token_first", "state_first"):
        joined[name] = borders(joined[name])
    for name in ("offset", "stall", "state_offset"):
        joined[name] = tight(joined[name])
    is_long = joined["stall"].dtype == np.int64 or (
        joined["busy"].dtype == np.int64 and bounds(joined["busy"] + joined["stall"])[1] >= 1 << 31
    )
    joined["busy"] = joined["busy"].astype(np.int64 if is_long else np.int32, copy=False)
    return WaveColumns(**joined, lod=None, missing=missing, notes=notes)
