"""Cache open captures and their waves in a long-running process, as long as their files do not change.

The caller makes a `CaptureCache` and passes it to `open_trace`.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch, WaveColumns

CAPTURES = 8
WAVE_BYTES = 192 << 20  # of columns, over all captures that are kept
FILE_BYTES = 512 << 20  # of files other than waves, over all captures that are kept
Mark = tuple[Any, ...]
Key = tuple[Hashable, ...]


@dataclass()
class BatchCache:
    """Cached batches, at most `limit` bytes; the least recently used are evicted first."""

    limit: int = WAVE_BYTES
    bytes: int = 0
    batches: OrderedDict[tuple[int, Key], tuple[WaveBatch, ...]] = field(default_factory=OrderedDict)

    def get(self, reader: WaveReader, key: Key) -> tuple[WaveBatch, ...] | None:
        """Return the cached batches, None if there are none."""
        found = self.batches.get((id(reader), key))
        if found is not None:
            self.batches.move_to_end((id(reader), key))
        return found

    def put(self, reader: WaveReader, key: Key, read: tuple[WaveBatch, ...]) -> None:
        """Cache batches; evict the least recently used above the limit."""
        if (id(reader), key) not in self.batches:
            self.batches[id(reader), key] = read
            self.bytes += _size(read)
        while self.bytes > self.limit:
            self.bytes -= _size(self.batches.popitem(last=False)[1])

    def forget(self, reader: WaveReader) -> None:
        """Drop the batches of a reader that is no longer used."""
        for key in [key for key in self.batches if key[0] == id(reader)]:
            self.bytes -= _size(self.batches.pop(key))


def _size(batches: tuple[WaveBatch, ...]) -> int:
    return sum(batch.nbytes for batch in batches)


class CachingReader:
    """Reads waves once.  It pickles as the plain reader: other processes have their own caches."""

    def __init__(self, reader: WaveReader, cache: BatchCache) -> None:
        self._reader = reader
        self._cache = cache
        self.base_clock = reader.base_clock

    def read(self, rows: list[int]) -> WaveBatch:
        """Return the waves at these rows of the index."""
        (batch,) = self.stream(("read", *rows), lambda reader: iter((reader.read(rows),)))
        return batch

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone, which are not cached."""
        return self._reader.columns(rows)

    def stream(self, key: Key, read: Callable[[WaveReader], Iterator[WaveBatch]]) -> Iterator[WaveBatch]:
        """Yield the batches cached under a key; else the batches of `read`, cached once all were consumed.

        `read` gets the reader without a cache, so that no wave is cached twice.
        """
        cached = self._cache.get(self._reader, key)
        if cached is not None:
            yield from cached
            return
        fresh: list[WaveBatch] = []
        size = 0
        for batch in read(self._reader):
            size += batch.nbytes
            if size <= self._cache.limit // 2:  # else it would not be cached, and the caller may drop it
                fresh.append(batch)
            else:
                fresh.clear()
            yield batch
        if size <= self._cache.limit // 2:
            self._cache.put(self._reader, key, tuple(fresh))

    def __reduce__(self) -> tuple[Any, ...]:
        return (copy, (self._reader,))  # of the plain reader


class _Entry(NamedTuple):
    """A cached capture, valid as long as its files do not change."""

    mark: Mark
    bytes: int  # of files other than waves, as a measure of what the tables take
    trace: Trace
    reader: WaveReader  # without a cache


class CaptureCache:
    """Traces by folder.  A capture whose files changed, appeared or vanished is opened again."""

    def __init__(self, captures: int = CAPTURES) -> None:
        """`captures` is the maximum number of cached captures."""
        self._limit = captures
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._batches = BatchCache()

    def trace(self, folder: Path, open_it: Callable[[], Trace]) -> Trace:
        """Return the cached trace of a folder, or open it."""
        key = os.path.realpath(folder)
        mark, size = fingerprint(key)
        entry = self._entries.get(key)
        if entry is None or entry.mark != mark or entry.trace.path != folder:
            self._drop(key)
            plain = open_it()
            reader = CachingReader(plain.reader, self._batches)
            trace = replace(plain, reader=reader, batch_cache=reader)
            entry = _Entry(mark, max(0, size - int(trace.waves.size.sum())), trace, plain.reader)
            self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self._limit or self._is_too_large():
            self._drop(next(iter(self._entries)))
        return entry.trace

    def _is_too_large(self) -> bool:
        return len(self._entries) > 1 and sum(entry.bytes for entry in self._entries.values()) > FILE_BYTES

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._batches.forget(entry.reader)


def fingerprint(folder: str) -> tuple[Mark, int]:
    """Return a stamp that changes with the files in and next to the folder, and the bytes of its files.

    For a packed capture it is that file.
    """
    marks: list[Mark] = []
    size = 0
    try:
        if os.path.isfile(folder):  # noqa: PTH113 - a text already
            about = os.stat(folder)  # noqa: PTH116
            return (about.st_mtime_ns, about.st_size, about.st_ino), about.st_size
        with os.scandir(folder) as entries:
            for entry in entries:
                about = entry.stat()
                marks.append((entry.name, about.st_mtime_ns, about.st_size))
                size += about.st_size
        beside = os.stat(os.path.dirname(folder)).st_mtime_ns  # noqa: PTH116, PTH120 - a text already
    except OSError:  # opening it reports the reason
        return (object(),), size
    return (beside, *sorted(marks)), size
