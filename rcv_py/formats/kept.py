"""Open captures that a long-running process keeps: opened once while their files stay the same.

Off unless somebody calls `KEPT.start`: a command that runs once gains nothing from it.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch

CAPTURES = 8
WAVE_BYTES = 192 << 20  # of columns, over all captures that are kept
FILE_BYTES = 512 << 20  # of files other than waves, over all captures that are kept
Mark = tuple[Any, ...]
Key = tuple[Hashable, ...]


@dataclass
class WaveMemory:
    """Batches that were read before, at most `limit` bytes of them; those unused for longest go first."""

    limit: int = WAVE_BYTES
    bytes: int = 0
    batches: OrderedDict[tuple[int, Key], tuple[WaveBatch, ...]] = field(default_factory=OrderedDict)

    def get(self, reader: WaveReader, key: Key) -> tuple[WaveBatch, ...] | None:
        """Return what was put there, None if it is not there, or no longer."""
        found = self.batches.get((id(reader), key))
        if found is not None:
            self.batches.move_to_end((id(reader), key))
        return found

    def put(self, reader: WaveReader, key: Key, read: tuple[WaveBatch, ...]) -> None:
        """Keep batches, unless they are so large that little else could be kept."""
        size = _size(read)
        if size > self.limit // 2 or (id(reader), key) in self.batches:
            return
        self.batches[id(reader), key] = read
        self.bytes += size
        while self.bytes > self.limit:
            self.bytes -= _size(self.batches.popitem(last=False)[1])

    def forget(self, reader: WaveReader) -> None:
        """Drop what was read by a reader that nobody will ask again."""
        for key in [key for key in self.batches if key[0] == id(reader)]:
            self.bytes -= _size(self.batches.pop(key))


def _size(batches: tuple[WaveBatch, ...]) -> int:
    return sum(batch.nbytes for batch in batches)


class KeptReader:
    """A reader that remembers.  Pickled it is the plain one: other processes remember for themselves."""

    def __init__(self, plain: WaveReader, memory: WaveMemory) -> None:
        self.plain = plain
        self._memory = memory

    def read(self, rows: list[int]) -> WaveBatch:
        """Return the waves at these rows of the index."""
        (batch,) = self.remembered(("read", *rows), lambda: iter((self.plain.read(rows),)))
        return batch

    def remembered(self, key: Key, read: Callable[[], Iterator[WaveBatch]]) -> Iterator[WaveBatch]:
        """Yield the batches kept under a key, or read and keep them; they are kept once all were taken."""
        found = self._memory.get(self.plain, key)
        if found is not None:
            yield from found
            return
        fresh: list[WaveBatch] = []
        size = 0
        for batch in read():
            size += batch.nbytes
            if size <= self._memory.limit // 2:  # else they would not be kept, and whoever asks may drop them
                fresh.append(batch)
            else:
                fresh.clear()
            yield batch
        if size <= self._memory.limit // 2:
            self._memory.put(self.plain, key, tuple(fresh))

    @property
    def base_clock(self) -> int:
        """The smallest step of time in cycles."""
        return self.plain.base_clock

    def __reduce__(self) -> tuple[Any, ...]:
        return (_itself, (self.plain,))


def _itself(reader: WaveReader) -> WaveReader:
    return reader


@dataclass(frozen=True, slots=True)
class _Entry:
    mark: Mark
    bytes: int  # of files other than waves, as a measure of what the tables take
    trace: Trace


class KeptCaptures:
    """Traces by folder.  A capture whose files changed, came or went is opened again."""

    def __init__(self) -> None:
        self._limit = 0
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._memory = WaveMemory()

    def start(self, captures: int = CAPTURES, wave_bytes: int = WAVE_BYTES) -> None:
        """Keep so many captures, and so many bytes of their waves, from now on; 0 keeps none."""
        self._limit = captures
        self._memory = WaveMemory(wave_bytes)
        self._entries.clear()

    def trace(self, folder: Path, open_it: Callable[[], Trace]) -> Trace:
        """Return the kept trace of a folder, or open it."""
        if not self._limit:
            return open_it()
        key = os.path.realpath(folder)
        mark, size = fingerprint(key)
        found = self._entries.get(key)
        if found is None or found.mark != mark or found.trace.path != folder:
            self._drop(key)
            trace = open_it()
            trace = replace(trace, reader=KeptReader(trace.reader, self._memory))
            found = _Entry(mark, max(0, size - int(trace.waves.size.sum())), trace)
            self._entries[key] = found
        self._entries.move_to_end(key)
        while len(self._entries) > self._limit or (len(self._entries) > 1 and self._bytes() > FILE_BYTES):
            self._drop(next(iter(self._entries)))
        return found.trace

    def _bytes(self) -> int:
        return sum(entry.bytes for entry in self._entries.values())

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None and isinstance(entry.trace.reader, KeptReader):
            self._memory.forget(entry.trace.reader.plain)


def fingerprint(folder: str) -> tuple[Mark, int]:
    """Return what changes when a file of the folder, or beside it, does; and the bytes of its files."""
    marks: list[Mark] = []
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                about = entry.stat()
                marks.append((entry.name, about.st_mtime_ns, about.st_size))
                size += about.st_size
        beside = os.stat(os.path.dirname(folder)).st_mtime_ns  # noqa: PTH116, PTH120 - a text already
    except OSError:  # opening it says why
        return (object(),), size
    return (beside, *sorted(marks)), size


KEPT = KeptCaptures()
