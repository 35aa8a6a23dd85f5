"""Keep records and columns of waves in files, not in memory, until the other shader engines are decoded."""

import mmap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.record import Value
from rcv_py.formats.packed.archive import packed_arrays, unpacked_arrays
from rcv_py.formats.packed.pieces import COLUMNS, stored_columns
from rcv_py.formats.sqtt.records import OF_BORDERS, ROWS, RecordedWaves, WaveRecords, joined
from rcv_py.model.waves import WaveColumns, restored_facts


@dataclass(slots=True, eq=False)
class Spill:
    """Columns as they were added, without lanes and levels of detail; it pickles as the path of its file.

    Adding and reading raise OSError; reading raises `Unreadable` if another program wrote to the file.
    """

    path: Path
    count: int = field(default=0, init=False)

    def append(self, columns: WaveColumns) -> None:
        """Add columns at the end."""
        with self.path.open("ab" if self.count else "wb") as stream:
            stream.write(packed_arrays([*stored_columns(columns).values()]))
        self.count += 1

    def __iter__(self) -> Iterator[WaveColumns]:
        if not self.count:
            return
        with self.path.open("rb") as stream:
            data = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        arrays = unpacked_arrays(data, self.count * len(COLUMNS))
        for at in range(0, len(arrays), len(COLUMNS)):
            columns: dict[str, Any] = dict(zip(COLUMNS, arrays[at : at + len(COLUMNS)], strict=True))
            yield WaveColumns(**{**columns, "facts": restored_facts(columns["facts"])})

    def remove(self) -> None:
        """Remove the file, if there is one."""
        with suppress(OSError):
            self.path.unlink()


class _FileColumn(Value):
    """A column in an open file; mapped, its pages would count as memory of this process."""

    file: IO[bytes]
    lock: Lock  # of the file: several threads read
    at: int
    dtype: np.dtype[Any]

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read some rows, like those of an array.  Raises OSError."""
        found = np.empty(rows.stop - rows.start, dtype=self.dtype)
        with self.lock:
            self.file.seek(self.at + rows.start * found.itemsize)
            self.file.readinto(found.data)  # type: ignore[attr-defined]
        return found


class SpilledWaves(RecordedWaves):
    """The waves of a stream by their end; parts, each with waves by slot, have their tokens and segments."""

    parts: list[dict[str, _FileColumn | np.ndarray]]
    part: np.ndarray  # int64 [waves], number of the part
    row_at: dict[str, np.ndarray]  # border → int64 [waves], first row in the part

    def at(self, waves: np.ndarray) -> WaveRecords:
        columns, part = self.facts_at(waves), self.part[waves]
        for border in ROWS:
            begin, count = self.row_at[border][waves], np.diff(columns[border])
            follows = (part[1:] == part[:-1]) & (begin[1:] == begin[:-1] + count[:-1])
            first = np.flatnonzero(np.append(True, ~follows)[: len(waves)])
            last = np.append(first[1:], len(waves))[: len(first)] - 1
            spans = (part[first].tolist(), begin[first].tolist(), (begin + count)[last].tolist())
            for name, dtype in OF_BORDERS[border].items():
                held = [self.parts[one][name][slice(*span)] for one, *span in zip(*spans, strict=True)]
                columns[name] = np.concatenate([np.zeros(0, dtype), *held])
        return WaveRecords(**columns)


class RecordStore:
    """Takes waves as they end; a file in a folder, or else memory, has their tokens and segments."""

    def __init__(self, folder: Path | None) -> None:
        self._file = TemporaryFile(dir=folder, buffering=0) if folder else None  # noqa: SIM115 - see `close`
        self._lock = Lock()
        self._facts: list[WaveRecords] = []
        self._ranks = [np.zeros(0, dtype=np.int64)]
        self._parts: list[dict[str, _FileColumn | np.ndarray]] = []

    def add(self, waves: WaveRecords, rank: np.ndarray) -> None:
        """Add waves; their ranks (int64) are unlike any others.  Raises OSError."""
        rows = {name: getattr(waves, name) for border in ROWS for name in OF_BORDERS[border]}
        none: dict[str, Any] = {name: column[:0].copy() for name, column in rows.items()}
        self._facts.append(replace(waves, **none))
        self._ranks.append(rank)
        self._parts.append({name: self._kept(column) for name, column in rows.items()})

    def _kept(self, column: np.ndarray) -> _FileColumn | np.ndarray:
        if self._file is None:
            return column
        at = self._file.tell()
        self._file.write(column.data)
        return _FileColumn(self._file, self._lock, at, column.dtype)

    def close(self) -> None:
        """Remove the file, if there is one: waves are read no more."""
        if self._file is not None:
            self._file.close()

    def waves(self) -> SpilledWaves:
        """Return all waves."""
        facts, order = joined(self._facts), np.argsort(np.concatenate(self._ranks))
        none, sizes = np.zeros(0, np.int64), [len(one) for one in self._facts]
        first = {name: [none, *(getattr(one, name)[:-1] for one in self._facts)] for name in ROWS}
        return SpilledWaves(
            **facts.facts_at(order),
            parts=self._parts,
            part=np.repeat(np.arange(len(sizes)), sizes)[order],
            row_at={border: np.concatenate(parts)[order] for border, parts in first.items()},
        )
